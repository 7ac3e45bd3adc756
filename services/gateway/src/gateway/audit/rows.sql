-- Rows of the audit and of what was served: added in batches, and read again.

-- name: lazily
-- A crash of the database may cost the last moment of what was only read.
set local synchronous_commit = off

-- name: add_row
insert into audit_rows (
    brain, minute, at, request_id, door, operation, outcome, writes, principal, token, kind, arguments, concerned,
    results, trust, position, requests
) values ($1, now(), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: add_served
insert into served (brain, at, request_id, principal, token, page, revision, position, passage)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: rows_after
select id, minute, at, request_id, door, operation, outcome, writes, principal, token, kind, arguments, concerned,
       results, trust, position, requests
from audit_rows
where brain = $1 and id > $2
  and ($3::timestamptz is null or at >= $3) and ($4::timestamptz is null or at < $4)
  and ($5::text is null or operation = $5) and ($6::uuid is null or principal = $6)
order by id limit $7

-- name: rows_of_request
-- The rows of anybody, or those of one principal.
select id, minute, at, request_id, door, operation, outcome, writes, principal, token, kind, arguments, concerned,
       results, trust, position, requests
from audit_rows
where brain = $1 and request_id = $2 and ($3::uuid is null or principal = $3)
order by id limit $4

-- name: served_in_request
select at, principal, token, page, revision, position, passage
from served
where brain = $1 and request_id = $2 and ($3::uuid is null or principal = $3)
order by id limit $4
