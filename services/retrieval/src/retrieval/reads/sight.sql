-- name: standing
-- The position that answers stand on: the earlier of the two projections that a read depends on.
select coalesce(min(position), 0) from checkpoints where brain = $1 and projection = any($2::text[])

-- name: has_grant
select exists (select 1 from grants where brain = $1 and subject = any($2::uuid[]))

-- name: open_references
select reference from open_references($1::text[], $2::uuid[])
