-- Applications that registered themselves.

-- name: add_client
insert into oauth_clients (brain, id, name, redirect_uris, method, secret_digest, created_at)
values ($1, $2, $3, $4, $5, $6, $7)

-- name: drop_old_clients
delete from oauth_clients where brain = $1 and coalesce(used_at, created_at) < $2

-- name: client_by_id
select id, name, redirect_uris, method, secret_digest from oauth_clients where brain = $1 and id = $2

-- name: note_use
-- $4: a use before that is worth a write.
update oauth_clients set used_at = $3 where brain = $1 and id = $2 and (used_at is null or used_at < $4)
