-- Which body is proposed, live, replaced or dead. What is dead or replaced keeps no vectors.

-- name: add_draft
insert into bodies (brain, body, page, proposal, build, state, source_seq) values ($1, $2, $3, $4, $5, 'draft', $6)
on conflict (brain, body) do nothing

-- name: add_build
insert into builds (brain, build, proposal, source_seq) values ($1, $2, $3, $4) on conflict (brain, build) do nothing

-- name: make_live
insert into bodies as b (brain, body, page, proposal, state, source_seq) values ($1, $2, $3, $4, 'live', $5)
on conflict (brain, body) do update set state = 'live', source_seq = excluded.source_seq
 where b.source_seq < excluded.source_seq

-- name: replace_live
-- Of the pages $2, only the bodies $3 (none: the page was deprecated) are live, as of the positions $4.
update bodies b set state = 'past'
  from unnest($2::uuid[], $3::uuid[], $4::bigint[]) as i (page, body, position)
 where b.brain = $1 and b.page = i.page and b.state = 'live' and b.body is distinct from i.body
   and b.source_seq < i.position

-- name: end_proposals
-- The drafts of these closed proposals that did not go live are dead; so are those of their builds.
update bodies b set state = 'dead'
 where b.brain = $1 and b.state = 'draft'
   and (b.proposal = any($2::uuid[])
        or b.build in (select s.build from builds s where s.brain = $1 and s.proposal = any($2::uuid[])))
returning b.body

-- name: end_builds
update bodies set state = 'dead' where brain = $1 and state = 'draft' and build = any($2::uuid[]) returning body
