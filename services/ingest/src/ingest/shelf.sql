-- What a command of ingest reads before it decides, and the pages that an import still has to propose.

-- name: lock_imports
-- One import at a time of a brain, whichever replica serves it.
select pg_advisory_lock(hashtextextended($1, 0))

-- name: unlock_imports
select pg_advisory_unlock(hashtextextended($1, 0))

-- name: latest_captures
-- The latest versions of these files of a source. An ACL that was changed goes before the recorded one.
select c.external_id, c.capture, c.supersedes, coalesce(s.withdrawn, false) as withdrawn,
       coalesce(s.everyone, c.everyone) as everyone, coalesce(s.principals, c.principals) as principals,
       coalesce(s.known, c.known) as known, p.import_id, p.capture is not null and p.proposal is null as awaits
  from captures c
  left join sights s on s.brain = c.brain and s.capture = c.capture
  left join import_pages p on p.brain = c.brain and p.capture = c.capture and p.action = 'edit'
 where c.brain = $1 and c.source = $2 and c.external_id = any($3::text[])

-- name: refused_captures
select capture, category, source_seq from refusals where brain = $1 and capture = any($2::uuid[])

-- name: gone_captures
-- What a source held and holds no more.
select c.external_id, c.capture, c.supersedes, false as withdrawn, null::uuid as import_id, false as awaits,
       coalesce(s.everyone, c.everyone) as everyone, coalesce(s.principals, c.principals) as principals,
       coalesce(s.known, c.known) as known
  from captures c
  left join sights s on s.brain = c.brain and s.capture = c.capture
 where c.brain = $1 and c.source = $2 and not coalesce(s.withdrawn, false) and c.external_id <> all($3::text[])
 order by c.external_id

-- name: owner_names
-- Who can own a page.
select name from members where active
union
select name from groups

-- name: await_page
-- A page of an import waits until the import is finished. One that an unfinished import left is taken over.
insert into import_pages as waiting
       (brain, capture, action, source, external_id, import_id, path, facts, body, commitment)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (brain, capture, action) do update
   set import_id = excluded.import_id, path = excluded.path, facts = excluded.facts,
       body = excluded.body, commitment = excluded.commitment
 where waiting.proposal is null

-- name: pages_of_import
select capture, action, external_id, path, facts, body, commitment, proposal
  from import_pages
 where brain = $1 and import_id = $2
 order by path, action

-- name: mark_proposed
update import_pages set proposal = $3 where brain = $1 and capture = any($2::uuid[]) and action = $4

-- name: forget_pages
delete from import_pages where brain = $1 and capture = any($2::uuid[]) and action = $3 and proposal is null
