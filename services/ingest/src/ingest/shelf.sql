-- What a command of ingest reads before it decides, and the pages that an import still has to propose.

-- name: lock_imports
-- One import at a time of a brain, whichever replica serves it.
select pg_advisory_lock(hashtextextended($1, 0))

-- name: unlock_imports
select pg_advisory_unlock(hashtextextended($1, 0))

-- name: latest_captures
-- The latest versions of these files of a source, one of each who filed them, the newest first. An ACL that was changed
-- goes before the recorded one.
select c.external_id, c.filed_by, c.capture, c.supersedes, coalesce(s.withdrawn, false) as withdrawn,
       coalesce(s.everyone, c.everyone) as everyone, coalesce(s.principals, c.principals) as principals,
       coalesce(s.known, c.known) as known, p.import_id, p.runner,
       p.capture is not null and p.proposal is null as awaits,
       case when not p.settled then p.proposal end as unsettled
  from captures c
  left join sights s on s.brain = c.brain and s.capture = c.capture
  left join import_pages p on p.brain = c.brain and p.capture = c.capture and p.action = 'edit'
 where c.brain = $1 and c.source = $2 and c.external_id = any($3::text[])
 order by c.source_seq desc

-- name: refused_captures
select capture, category, source_seq from refusals where brain = $1 and capture = any($2::uuid[])

-- name: gone_captures
-- What a source held and holds no more, of each who filed it.
select c.external_id, c.filed_by, c.capture, c.supersedes, false as withdrawn, null::uuid as import_id,
       null::uuid as runner, false as awaits, null::uuid as unsettled,
       coalesce(s.everyone, c.everyone) as everyone, coalesce(s.principals, c.principals) as principals,
       coalesce(s.known, c.known) as known
  from captures c
  left join sights s on s.brain = c.brain and s.capture = c.capture
 where c.brain = $1 and c.source = $2 and not coalesce(s.withdrawn, false) and c.external_id <> all($3::text[])
 order by c.external_id, c.source_seq

-- name: owner_names
-- Who can own a page.
select name from members where active
union
select name from groups

-- name: await_page
-- A page of an import waits until the import is finished. One that an unfinished import left is taken over: what waits
-- to be proposed, and what was proposed to be deprecated before its capture was withdrawn.
insert into import_pages as waiting
       (brain, capture, action, source, external_id, import_id, runner, path, facts, body, commitment)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (brain, capture, action) do update
   set import_id = excluded.import_id, runner = excluded.runner, path = excluded.path, facts = excluded.facts,
       body = excluded.body, commitment = excluded.commitment,
       proposal = case when waiting.runner = excluded.runner then waiting.proposal end
 where waiting.proposal is null or waiting.action = 'deprecate'

-- name: pages_of_import
-- Of an import as its runner names it: the same id in the mouth of another is another import.
select capture, action, external_id, path, facts, body, commitment, proposal, former
  from import_pages
 where brain = $1 and import_id = $2 and runner = $3
 order by path, action

-- name: claimed_paths
-- Which of these paths files of other names of the same import have.
select path, external_id
  from import_pages
 where brain = $1 and import_id = $2 and runner = $3 and action = 'edit' and path = any($4::text[])

-- name: mark_proposed
update import_pages set proposal = $3 where brain = $1 and capture = any($2::uuid[]) and action = $4

-- name: settle_pages
-- Their proposals were approved: what becomes of the pages now is not the importer's business.
update import_pages set settled = true
 where brain = $1 and capture = any($2::uuid[]) and action = 'edit' and proposal = any($3::uuid[])

-- name: release_pages
-- Their proposals ended without them: they wait again.
update import_pages set former = proposal, proposal = null
 where brain = $1 and capture = any($2::uuid[]) and action = 'edit' and proposal = any($3::uuid[])

-- name: forget_pages
delete from import_pages where brain = $1 and capture = any($2::uuid[]) and action = $3 and proposal is null
