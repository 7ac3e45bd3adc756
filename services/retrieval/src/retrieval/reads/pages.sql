-- name: find_pages
-- $1 the query as a path, $2 as a title, $3 as it stands, $4 pages wanted, $5-$7 subjects, tier, domains.
select page, path, title, type, knowledge, verified_at, review_days
from find_pages($1, $2, words_of($3), $4, $5::uuid[], $6, $7::text[])

-- name: page_at
select * from page_at($1, $2, $3::uuid[], $4, $5::text[])

-- name: relations_of
select verb, page, path, title, knowledge from relations_of($1, $2::uuid[], $3, $4::text[])

-- name: figures_of
select name, value, unit, as_of, source from figures_of($1, $2::uuid[], $3, $4::text[])
