-- Rows follow facts, a batch at a time. The parts of a page's flip (row, passages, postings, vectors) stand in one
-- transaction, so a reader sees the old revision whole or the new one whole.

-- name: lock_index
-- Promotions and arriving vectors take turns: each must see what the other committed. An index that is being built
-- beside this one has a lock of its own.
select pg_advisory_xact_lock(hashtextextended(current_schema() || ' index of ' || $1::text, 0))

-- name: positions_of
select page, source_seq from pages where brain = $1 and page = any($2::uuid[])

-- name: add_revision
insert into revisions (
    brain, page, revision, body, commitment, access, reach, knowledge, proposal, approver, approved_at, source_seq
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (brain, page, revision) do nothing

-- name: put_page
insert into pages as p (
    brain, page, live, path, title, title_key, words, type, owner, access, reach, category, domain, knowledge, as_of,
    revision, body, commitment, digest, approver, approved_at, review_days, passages, position, source_seq
)
values (
    $1, $2, $3, $4, $5, $6, words_of($7), $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
    $24, $24
)
on conflict (brain, page) do update
   set live = excluded.live, path = excluded.path, title = excluded.title, title_key = excluded.title_key,
       words = excluded.words, type = excluded.type, owner = excluded.owner, access = excluded.access,
       reach = excluded.reach, category = excluded.category, domain = excluded.domain, knowledge = excluded.knowledge,
       as_of = excluded.as_of, revision = excluded.revision, body = excluded.body, commitment = excluded.commitment,
       digest = excluded.digest, approver = excluded.approver, approved_at = excluded.approved_at,
       review_days = excluded.review_days, passages = excluded.passages, position = excluded.position,
       source_seq = excluded.source_seq
 where p.source_seq < excluded.source_seq

-- name: end_page
-- A page that is deprecated leaves no content behind.
update pages
   set live = false, path = '', title = '', title_key = '', words = array[]::text[], category = null, domain = null,
       digest = '', passages = 0, source_seq = $3
 where brain = $1 and page = $2 and source_seq < $3

-- name: verify_page
-- Guarded by a position of its own: a later promotion in the same batch is projected first.
update pages set verified_at = $3, verified_seq = $4 where brain = $1 and page = $2 and verified_seq < $4

-- name: drop_relations
delete from relations where brain = $1 and page = any($2::uuid[])

-- name: add_relation
insert into relations (brain, page, ordinal, verb, target, target_path, knowledge) values ($1, $2, $3, $4, $5, $6, $7)

-- name: drop_figures
delete from figures where brain = $1 and page = any($2::uuid[])

-- name: add_figure
insert into figures (brain, page, ordinal, name, value, unit, as_of, source) values ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: drop_chunks
-- Of the pages $2, every passage that is not among those to keep ($3 page, $4 fingerprint, $5 copy), its postings, and
-- its part in how many passages hold each word.
with gone as (
    delete from chunks c
    where c.brain = $1
      and c.page = any($2::uuid[])
      and not exists (
          select 1
          from unnest($3::uuid[], $4::text[], $5::integer[]) as kept (page, fingerprint, copy)
          where kept.page = c.page and kept.fingerprint = c.fingerprint and kept.copy = c.copy
      )
    returning c.chunk
),
unposted as (
    delete from postings p using gone where p.brain = $1 and p.chunk = gone.chunk returning p.term
),
counted as (
    select term, count(*) as chunks from unposted group by term
)
update terms t set chunks = t.chunks - counted.chunks from counted where t.brain = $1 and t.term = counted.term

-- name: move_chunks
-- A passage that is kept may stand elsewhere in its page now.
update chunks c
   set ordinal = i.ordinal, starts = i.starts, ends = i.ends
  from unnest($2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::integer[], $7::integer[])
       as i (page, fingerprint, copy, ordinal, starts, ends)
 where c.brain = $1 and c.page = i.page and c.fingerprint = i.fingerprint and c.copy = i.copy
   and (c.ordinal, c.starts, c.ends) is distinct from (i.ordinal, i.starts, i.ends)

-- name: add_chunks
-- The passages that are new, with their vectors where those have arrived; returns their numbers. A heading path is
-- one text with unit separators. $13: how many passages of the brain are still scanned exactly.
insert into chunks (
    brain, page, number, ordinal, key, fingerprint, copy, heading, body, starts, ends, language, words, length,
    vector_key, model, embedding, near
)
select $1, i.page, p.number, i.ordinal, i.key, i.fingerprint, i.copy, string_to_array(i.heading, E'\x1f'), i.body,
       i.starts, i.ends, i.language, w.words,
       (select coalesce(sum(cardinality(u.positions)), 0) from unnest(w.words) u),
       v.vector_key, v.model, v.embedding,
       exists (select 1 from sizes s where s.brain = $1 and s.chunks > $13::bigint)
from unnest(
    $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[]
) as i (page, fingerprint, copy, ordinal, starts, ends, key, heading, body, language, said)
join pages p on p.brain = $1 and p.page = i.page
cross join lateral (select to_tsvector(i.language::regconfig, i.said) as words) w
left join vectors v on v.brain = $1 and v.body = p.body and v.key = i.key
where not exists (
    select 1 from chunks c
    where c.brain = $1 and c.page = i.page and c.fingerprint = i.fingerprint and c.copy = i.copy
)
order by i.page, i.ordinal
returning chunk

-- name: add_words
insert into terms (brain, word, chunks)
select $1, s.word, 0
from (
    select distinct c.language || ':' || u.lexeme as word
    from chunks c, unnest(c.words) u
    where c.brain = $1 and c.chunk = any($2::bigint[])
) s
on conflict (brain, word) do nothing

-- name: add_postings
with posted as (
    insert into postings (brain, chunk, term, number, frequency, length)
    select $1, c.chunk, t.term, c.number, cardinality(u.positions), c.length
    from chunks c
    cross join unnest(c.words) u
    join terms t on t.brain = $1 and t.word = c.language || ':' || u.lexeme
    where c.brain = $1 and c.chunk = any($2::bigint[])
    returning term
),
counted as (
    select term, count(*) as chunks from posted group by term
)
update terms t set chunks = t.chunks + counted.chunks from counted where t.brain = $1 and t.term = counted.term

-- name: forget_words
delete from terms where brain = $1 and chunks = 0

-- name: set_size
insert into sizes (brain, chunks, words)
select $1, count(*), coalesce(sum(length), 0) from chunks where brain = $1
on conflict (brain) do update set chunks = excluded.chunks, words = excluded.words

-- name: draw_near
-- A brain that has grown past what is scanned exactly gets all its passages into the approximate index.
update chunks c set near = true
 where c.brain = $1 and not c.near and exists (select 1 from sizes s where s.brain = $1 and s.chunks > $2::bigint)

-- name: attach_vectors
-- The vectors of the bodies $2 go to the passages of the live pages that those bodies are.
update chunks c
   set vector_key = v.vector_key, model = v.model, embedding = v.embedding
  from vectors v
  join pages p on p.brain = v.brain and p.body = v.body and p.live
 where v.brain = $1 and v.body = any($2::uuid[])
   and c.brain = $1 and c.page = p.page and c.key = v.key and c.vector_key is distinct from v.vector_key

-- name: drop_vectors
-- Vectors wait here only while their body is a draft.
delete from vectors v using bodies b
 where v.brain = $1 and b.brain = $1 and b.body = v.body and b.state <> 'draft' and v.body = any($2::uuid[])

-- name: refresh_statistics
analyze pages, chunks, terms, postings
