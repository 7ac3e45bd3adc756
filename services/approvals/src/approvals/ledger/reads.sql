-- What decisions and lists load.

-- name: proposals
select * from proposals where proposal = any($1::uuid[])

-- name: votes
select * from votes where proposal = any($1::uuid[]) order by source_seq

-- name: cast_by
select command, proposal from votes where command = any($1::uuid[])

-- name: builds
select * from builds where build = any($1::uuid[])

-- name: drafts
select * from drafts where holder = any($1::uuid[]) order by path

-- name: pages
-- Pages that are concerned by id, and live ones that stand at a path.
select * from pages where page = any($1::uuid[]) or (live and path = any($2::text[]))

-- name: gates
select gate, source_seq from gates

-- name: owners
-- Who may own a page by these names: active members before groups.
select name, id, 1 as rank from members where active and name = any($1::text[])
union all
select name, id, 2 from groups where name = any($1::text[])
order by rank desc

-- name: called
-- What members are called before readers. No member's name has a space, so none reads like a service's.
select id, case when kind = 'service' then name || ' (service)' else name end as name
from members where id = any($1::uuid[])

-- name: open_after
select * from proposals where state = 'open' and submitted_seq > $1 order by submitted_seq limit $2

-- name: review_of
-- The last review of a page for a due date, whatever became of it, and how many there were before it.
select *, count(*) over () as times from proposals where page = $1 and due = $2 and kind = 'review'
order by submitted_seq desc limit 1

-- name: accepted_texts
select * from proposals where proposal = any($1::uuid[]) and state = 'approved' and text_id is not null

-- name: one_decision_at_a_time
select pg_advisory_xact_lock(hashtextextended($1, 0))

-- name: folded_to
select position from checkpoints where projection = $1
