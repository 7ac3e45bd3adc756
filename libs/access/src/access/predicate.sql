-- The one rule in SQL, over a relation `pages` (brain, page, path, access, reach, category, domain) that the
-- including schema has. An arm of a search joins it as a materialised set; a caller without grants selects nothing.

-- name: visible_pages
-- $1 the caller's subjects, $2 the effective tier, $3 the token's domains or null for any.
select p.page, max(permission_rank(g.permission)) as rank
from grants g
join pages p on p.brain = g.brain and grant_covers(g.scope_kind, g.scope_value, p.path, p.reach, p.category)
where g.subject = any($1::uuid[])
  and p.access = any(tier_levels($2::text))
  and ($3::text[] is null or p.domain = any($3::text[]))
group by p.page
