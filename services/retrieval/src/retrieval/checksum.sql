-- What a schema of the index says, apart from the numbers it gave its rows: equal sums, equal indexes.
-- A row counts as the hash of its text; sums do not depend on order.

-- name: checksum
with said (part, line) as (
    select 'pages', (to_jsonb(p) - 'number')::text from pages p
    union all
    select 'revisions', to_jsonb(r)::text from revisions r
    union all
    select 'relations', to_jsonb(r)::text from relations r
    union all
    select 'figures', to_jsonb(f)::text from figures f
    union all
    select 'captures', to_jsonb(c)::text from captures c
    union all
    select 'capture_sights', to_jsonb(s)::text from capture_sights s
    union all
    select 'chunks', (to_jsonb(c) - '{chunk,number,near,vector_key,model,embedding}'::text[])::text from chunks c
    union all
    select 'vectors',
           concat_ws(' ', c.page, c.fingerprint, c.copy, c.vector_key, c.model,
                     encode(halfvec_send(c.embedding), 'base64'))
    from chunks c where c.embedding is not null
    union all
    select 'postings', concat_ws(' ', c.page, c.fingerprint, c.copy, t.word, p.frequency, p.length)
    from postings p
    join chunks c on c.brain = p.brain and c.chunk = p.chunk and c.number = p.number
    join terms t on t.brain = p.brain and t.term = p.term
    union all
    select 'words', concat_ws(' ', t.word, t.chunks) from terms t
    union all
    select 'sizes', to_jsonb(s)::text from sizes s
    union all
    select 'drafts', to_jsonb(b)::text from bodies b
    union all
    select 'builds', to_jsonb(b)::text from builds b
    union all
    select 'waiting_vectors',
           concat_ws(' ', v.body, v.key, v.vector_key, v.model, encode(halfvec_send(v.embedding), 'base64'))
    from vectors v
    union all
    select 'embedded', to_jsonb(e)::text from embedded e
    union all
    select 'grants', to_jsonb(g)::text from grants g
    union all
    select 'members', to_jsonb(m)::text from members m
    union all
    select 'groups', to_jsonb(g)::text from groups g
    union all
    select 'memberships', to_jsonb(m)::text from memberships m
    union all
    select 'tokens', to_jsonb(t)::text from tokens t
    union all
    select 'histories', to_jsonb(h)::text from histories h
)
select part, count(*) as lines, sum(hashtextextended(line, 0))::text as sum from said group by part order by part
