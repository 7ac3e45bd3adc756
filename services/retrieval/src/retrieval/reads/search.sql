-- name: search
-- $1 query, $2 the query as a title, $3 its vector or null, $4 that vector's model, $5 hits wanted, $6 candidates an
-- arm, $7 postings read at most, $8 passages up to which the exact scan is used, $9-$11 subjects, tier, domains.
-- Each candidate of either arm gets both true scores, scaled by their spread over all candidates, so that a passage
-- which one arm did not offer is no zero there; a passage without a vector counts as average.
with seen as materialized (
    select visible_passages($9::uuid[], $10::text, $11::text[]) as passages
),
words as materialized (
    select a.chunk, a.number, a.score from words_arm(words_of($1), $7, $9, $10, $11) a
),
near as materialized (
    select e.chunk, e.number
    from vectors_exact($3::halfvec, $4::text, $6::integer, $9, $10, $11) e
    where $3 is not null and (select passages from seen) <= $8::bigint
    union all
    select n.chunk, n.number
    from vectors_near($3, $4, $6, $9, $10, $11) n
    where $3 is not null and (select passages from seen) > $8
),
titled as materialized (
    select t.chunk, t.number from titled_arm($2, $9, $10, $11) t order by t.number limit $6
),
candidates as materialized (
    (select chunk, number from words order by score desc, chunk limit $6)
    union
    select chunk, number from near
    union
    select chunk, number from titled
),
scored as materialized (
    select c.chunk, c.number, coalesce(w.score, 0) as lexical, v.similarity,
           c.number in (select t.number from titled t) as titled
    from candidates c
    left join words w on w.chunk = c.chunk
    left join vector_scores($3, $4, (select array_agg(chunk) from candidates), $9, $10, $11) v on v.chunk = c.chunk
),
spread as (
    select avg(lexical) as lexical_mean, stddev_pop(lexical) as lexical_spread,
           avg(similarity) as vector_mean, stddev_pop(similarity) as vector_spread
    from scored
),
fused as (
    select s.chunk, s.number, s.titled,
           0.5 * coalesce((s.lexical - d.lexical_mean) / nullif(d.lexical_spread, 0), 0)
           + 0.5 * coalesce((s.similarity - d.vector_mean) / nullif(d.vector_spread, 0), 0) as score
    from scored s, spread d
),
numbered as materialized (
    select f.*, row_number() over (partition by f.number order by f.score desc, f.chunk) as nth from fused f
),
-- The best passage of each page that bears the query as its title, then by score, two of one page at most.
early as materialized (
    select n.chunk, n.score,
           row_number() over (order by (n.titled and n.nth = 1) desc, n.score desc, n.chunk) as place
    from numbered n
    where n.nth <= 2
),
-- From the eleventh on, further passages of the same pages compete.
late as (
    select n.chunk, n.score, 10 + row_number() over (order by n.score desc, n.chunk) as place
    from numbered n
    where (select count(*) from early) >= 10
      and n.chunk not in (select l.chunk from early l where l.place <= 10)
),
chosen as materialized (
    select chunk, score, place from early where place <= least($5::integer, 10)
    union all
    select chunk, score, place from late where place <= $5
)
select c.score, p.*, (select count(*) from scored where similarity is not null) as compared
from chosen c
join passages((select array_agg(chunk) from chosen), $9, $10, $11) p on p.chunk = c.chunk
order by c.place
