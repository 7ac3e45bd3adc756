-- Authorizations that wait, and the secrets of those that were given.

-- name: add_request
insert into oauth_requests
    (brain, digest, client, client_name, client_host, redirect_uri, state, challenge, resource, scopes, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: drop_old_requests
delete from oauth_requests where brain = $1 and expires_at < $2

-- name: open_request
select client, client_name, client_host, redirect_uri, state, challenge, resource, scopes from oauth_requests
where brain = $1 and digest = $2 and used_at is null and expires_at > $3

-- name: use_request
update oauth_requests set used_at = $3 where brain = $1 and digest = $2 and used_at is null and expires_at > $3
returning client, client_name, client_host, redirect_uri, state, challenge, resource, scopes

-- name: add_code
insert into oauth_codes (brain, digest, client, redirect_uri, challenge, resource, scopes, family, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: code_by_digest
select client, redirect_uri, challenge, resource, scopes, family, expires_at, used_at from oauth_codes
where brain = $1 and digest = $2 for update

-- name: use_code
update oauth_codes set used_at = $3 where brain = $1 and digest = $2 and used_at is null returning family

-- name: drop_old_codes
delete from oauth_codes where brain = $1 and expires_at < $2

-- name: add_access
insert into oauth_access (brain, digest, client, audience, scopes, family, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)

-- name: drop_old_access
delete from oauth_access where brain = $1 and expires_at < $2

-- name: add_refresh
insert into oauth_refresh (brain, digest, client, resource, scopes, family, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)

-- name: refresh_by_digest
select client, resource, scopes, family, expires_at, used_at from oauth_refresh
where brain = $1 and digest = $2 for update

-- name: use_refresh
update oauth_refresh set used_at = $3 where brain = $1 and digest = $2 and used_at is null

-- name: drop_old_refresh
delete from oauth_refresh where brain = $1 and expires_at < $2

-- name: family_of
-- The family of an access or refresh token that this client was given.
select family from oauth_access where brain = $1 and digest = $2 and client = $3
union all
select family from oauth_refresh where brain = $1 and digest = $2 and client = $3
limit 1

-- name: end_access
delete from oauth_access where brain = $1 and family = $2

-- name: end_refresh
delete from oauth_refresh where brain = $1 and family = $2
