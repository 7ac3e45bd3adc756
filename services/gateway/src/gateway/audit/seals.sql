-- The chain over the rows of the audit: one seal for each minute that has rows.

-- name: try_alone
-- One replica seals at a time; the others leave it to that one.
select pg_try_advisory_xact_lock(hashtextextended('audit seals ' || $1::uuid, 0))

-- name: still
-- Wait until nobody is on the way with a row.
select pg_advisory_xact_lock(hashtextextended('audit rows ' || $1::uuid, 0))

-- name: last_seal
select minute, hash from audit_seals where brain = $1 order by minute desc limit 1

-- name: seal_before
select hash from audit_seals where brain = $1 and minute <= $2 order by minute desc limit 1

-- name: next_minute
-- The first minute that has rows, no seal, and is over.
select min(minute) from audit_rows
where brain = $1 and ($2::timestamptz is null or minute > $2)
  and minute < coalesce($3::timestamptz, date_trunc('minute', clock_timestamp(), 'UTC'))

-- name: rows_of_minute
select id, minute, at, request_id, door, operation, outcome, writes, principal, token, kind, arguments, concerned,
       results, trust, position, requests
from audit_rows where brain = $1 and minute = $2 order by id

-- name: add_seal
insert into audit_seals (brain, minute, first_id, last_id, counted, previous, hash, signature, sealed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())

-- name: seals_after
select minute, first_id, last_id, counted, previous, hash, signature from audit_seals
where brain = $1 and ($2::timestamptz is null or minute > $2) order by minute limit $3

-- name: unsealed_between
-- Minutes that have rows and no seal although a later one has a seal.
select distinct r.minute from audit_rows r
where r.brain = $1 and ($2::timestamptz is null or r.minute > $2) and r.minute <= $3
  and not exists (select from audit_seals s where s.brain = r.brain and s.minute = r.minute)
order by r.minute

-- name: count_unsealed
select count(*) from audit_rows where brain = $1 and ($2::timestamptz is null or minute > $2)
