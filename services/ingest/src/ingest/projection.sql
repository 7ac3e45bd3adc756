-- What the two projections of ingest write. A row never takes older news over newer.

-- name: keep_capture
insert into captures as kept
       (brain, source, external_id, filed_by, capture, supersedes, everyone, principals, known, source_seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (brain, source, external_id, filed_by) do update
   set capture = excluded.capture, supersedes = excluded.supersedes, everyone = excluded.everyone,
       principals = excluded.principals, known = excluded.known, source_seq = excluded.source_seq
 where kept.source_seq < excluded.source_seq

-- name: keep_refusal
insert into refusals as kept (brain, capture, category, source_seq)
values ($1, $2, $3, $4)
on conflict (brain, capture) do update
   set category = excluded.category, source_seq = excluded.source_seq
 where kept.source_seq < excluded.source_seq

-- name: keep_withdrawal
insert into sights as kept (brain, capture, withdrawn, source_seq)
values ($1, $2, true, $3)
on conflict (brain, capture) do update
   set withdrawn = true, source_seq = excluded.source_seq
 where kept.source_seq < excluded.source_seq

-- name: keep_acl
insert into sights as kept (brain, capture, everyone, principals, known, source_seq)
values ($1, $2, $3, $4, $5, $6)
on conflict (brain, capture) do update
   set everyone = excluded.everyone, principals = excluded.principals, known = excluded.known,
       source_seq = excluded.source_seq
 where kept.source_seq < excluded.source_seq
