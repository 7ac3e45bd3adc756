-- Who may open which capture: as recorded (CAP), and as changed since (EVT).

-- name: add_capture
-- $9 is the version that this one supersedes.
insert into captures (brain, capture, reference, source, everyone, principals, known, source_seq, chain)
values ($1, $2, $3, $4, $5, $6, $7, $8,
        coalesce((select c.chain from captures c where c.brain = $1 and c.capture = $9), $9, $2))
on conflict (brain, capture) do nothing

-- name: withdraw_capture
insert into capture_sights as s (brain, capture, withdrawn, everyone, principals, known, source_seq)
values ($1, $2, true, false, array[]::uuid[], false, $3)
on conflict (brain, capture) do update
   set withdrawn = true, source_seq = excluded.source_seq
 where s.source_seq < excluded.source_seq

-- name: change_acl
insert into capture_sights as s (brain, capture, withdrawn, everyone, principals, known, source_seq)
values ($1, $2, false, $3, $4, $5, $6)
on conflict (brain, capture) do update
   set everyone = excluded.everyone, principals = excluded.principals, known = excluded.known,
       source_seq = excluded.source_seq
 where s.source_seq < excluded.source_seq
