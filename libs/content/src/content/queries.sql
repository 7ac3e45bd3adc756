-- The content store's statements. Each names the brain, and row level security checks it again.

-- name: insert_bodies
-- A body is written once. Ids that are there already are left alone, and missing from the answer.
insert into content.bodies (brain, id, ciphertext, nonce, key_version, wrapped_key, size)
select $1, id, ciphertext, nonce, $2, wrapped_key, size
  from unnest($3::uuid[], $4::bytea[], $5::bytea[], $6::bytea[], $7::integer[])
       as given (id, ciphertext, nonce, wrapped_key, size)
on conflict (brain, id) do nothing
returning id

-- name: read_bodies
select id, ciphertext, nonce, key_version, wrapped_key
  from content.bodies
 where brain = $1 and id = any($2::uuid[])

-- name: delete_bodies
delete from content.bodies
 where brain = $1 and id = any($2::uuid[])
returning id

-- name: read_older_keys
-- Bodies whose keys are wrapped under another version than the current one.
select id, key_version, wrapped_key
  from content.bodies
 where brain = $1 and key_version < $2
 order by id
 limit $3

-- name: rewrap_bodies
update content.bodies as body
   set key_version = $2, wrapped_key = given.wrapped_key
  from unnest($3::uuid[], $4::bytea[]) as given (id, wrapped_key)
 where body.brain = $1 and body.id = given.id
