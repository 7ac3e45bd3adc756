-- Rows of the fold. Older news never overwrites newer.

-- name: known_positions
select proposal as id, source_seq from proposals where proposal = any($1::uuid[])
union all
select build, source_seq from builds where build = any($1::uuid[])
union all
select page, source_seq from pages where page = any($1::uuid[])

-- name: add_proposal
insert into proposals (brain, proposal, kind, origin, author, runner, state, build, pages, page, due,
    text_id, text_commitment, title, digest, submitted_at, submitted_seq, command, source_seq)
values ($1, $2, $3, $4, $5, $6, 'open', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $16)
on conflict (brain, proposal) do nothing

-- name: pages_of_build
select action, base, path, digest from drafts where brain = $1 and holder = $2

-- name: note_vote
-- $11 is the position of the whole decision's last fact.
with vote as (
    insert into votes (brain, proposal, command, reviewer, verdict, reason, note_id, note_commitment, decided_at,
        source_seq, ends_seq)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    on conflict (brain, proposal, command) do nothing
)
update proposals set source_seq = $10 where brain = $1 and proposal = $2 and source_seq < $10

-- name: end_proposal
update proposals set state = $3, ended_at = $4, source_seq = $5
where brain = $1 and proposal = $2 and source_seq < $5

-- name: put_draft
insert into drafts as d (brain, holder, page, action, base, body_id, body_commitment, path_id, path_commitment,
    previous_id, previous_commitment, path, title, digest, owner, access, reach, category, domain, weight,
    owner_decides, knowledge, review_days, source_seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)
on conflict (brain, holder, page) do update set
    action = excluded.action, base = excluded.base, body_id = excluded.body_id,
    body_commitment = excluded.body_commitment, path_id = excluded.path_id,
    path_commitment = excluded.path_commitment, previous_id = excluded.previous_id,
    previous_commitment = excluded.previous_commitment, path = excluded.path, title = excluded.title,
    digest = excluded.digest, owner = excluded.owner, access = excluded.access, reach = excluded.reach,
    category = excluded.category, domain = excluded.domain, weight = excluded.weight,
    owner_decides = excluded.owner_decides, knowledge = excluded.knowledge, review_days = excluded.review_days,
    source_seq = excluded.source_seq
where d.source_seq < excluded.source_seq

-- name: add_build
insert into builds (brain, build, principal, runner, origin, state, source_seq)
values ($1, $2, $3, $4, $5, 'open', $6)
on conflict (brain, build) do nothing

-- name: move_build
update builds set state = $3, proposal = coalesce($4, proposal), source_seq = $5
where brain = $1 and build = $2 and source_seq < $5

-- name: touch_build
update builds set source_seq = $3 where brain = $1 and build = $2 and source_seq < $3

-- name: promote_page
insert into pages as p (brain, page, live, revision, body_id, body_commitment, path_id, path_commitment, path, title,
    owner, access, reach, category, domain, weight, owner_decides, knowledge, review_days, proposal, approver,
    source_seq)
values ($1, $2, true, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
on conflict (brain, page) do update set
    live = true, revision = excluded.revision, body_id = excluded.body_id,
    body_commitment = excluded.body_commitment, path_id = excluded.path_id,
    path_commitment = excluded.path_commitment, path = excluded.path, title = excluded.title,
    owner = excluded.owner, access = excluded.access, reach = excluded.reach, category = excluded.category,
    domain = excluded.domain, weight = excluded.weight, owner_decides = excluded.owner_decides,
    knowledge = excluded.knowledge, review_days = excluded.review_days, proposal = excluded.proposal,
    approver = excluded.approver, source_seq = excluded.source_seq
where p.source_seq < excluded.source_seq

-- name: verify_page
update pages set verified_at = $3, stale_since = null, source_seq = $4
where brain = $1 and page = $2 and source_seq < $4

-- name: stale_page
update pages set stale_since = $3, source_seq = $4 where brain = $1 and page = $2 and source_seq < $4

-- name: deprecate_page
update pages set live = false, proposal = $3, approver = $4, source_seq = $5
where brain = $1 and page = $2 and source_seq < $5

-- name: move_gate
insert into gates as g (brain, gate, source_seq) values ($1, $2, $3)
on conflict (brain, gate) do update set source_seq = excluded.source_seq where g.source_seq < excluded.source_seq
