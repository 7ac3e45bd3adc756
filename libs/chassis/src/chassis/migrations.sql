-- The record of applied migrations of one schema. It holds file names and digests, nothing of a brain's.

-- name: lock
select pg_advisory_xact_lock($1)

-- name: create_record
create table if not exists migrations (
    source text not null,
    name text not null,
    digest text not null,
    applied_at timestamptz not null default now(),
    primary key (source, name)
)

-- name: list_applied
select name, digest from migrations where source = $1 order by name

-- name: record_applied
insert into migrations (source, name, digest) values ($1, $2, $3)
