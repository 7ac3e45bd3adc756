-- Building beside and switching, as the migrator. `{...}` are names that rebuild.py puts in.

-- name: alone
-- One rebuild of a brain at a time; the lock goes with the connection.
select pg_try_advisory_lock(hashtextextended('retrieval rebuild ' || $1::text, 0))

-- name: forget
drop schema if exists {schema} cascade

-- name: create
create schema {schema} authorization migrator

-- name: let_look
grant usage on schema {schema} to {role}

-- name: let_create
grant create on schema {schema} to {role}

-- name: look_into
select set_config('search_path', $1, true)

-- name: hold
-- Whoever projects here waits until this transaction is over, so that both indexes stand still.
select projection, position from checkpoints where brain = $1 order by projection for update

-- name: rename
alter schema {schema} rename to {name}

-- name: take_over
-- The checkpoints go on under the names that the service's projections have.
update checkpoints set projection = replace(projection, $2, '') where brain = $1
