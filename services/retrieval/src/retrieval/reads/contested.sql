-- name: contested
-- $1 pages or null, $2 how many at most, $3-$5 subjects, tier, domains.
select page, path, title, reason, other, other_path, other_title
from contested($1::uuid[], $2, $3::uuid[], $4, $5::text[])
