-- Passages and vectors as they arrive from CHK.

-- name: put_part
insert into embedded as e (brain, body, part, parts, source_seq) values ($1, $2, $3, $4, $5)
on conflict (brain, body, part) do update set parts = excluded.parts, source_seq = excluded.source_seq
 where e.source_seq < excluded.source_seq

-- name: put_vectors
-- A body that says the same twice has one vector for it.
insert into vectors as v (brain, body, key, vector_key, model, embedding, source_seq)
select distinct on (i.body, i.key) $1, i.body, i.key, i.vector_key, i.model, i.embedding, i.source_seq
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::halfvec[], $7::bigint[])
     as i (body, key, vector_key, model, embedding, source_seq)
order by i.body, i.key, i.source_seq desc
on conflict (brain, body, key) do update
   set vector_key = excluded.vector_key, model = excluded.model, embedding = excluded.embedding,
       source_seq = excluded.source_seq
 where v.source_seq < excluded.source_seq
