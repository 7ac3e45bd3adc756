-- Rows follow facts. Older news never overwrites newer: each row keeps the position it came from.

-- name: note_history
insert into histories as h (brain, subject, source_seq) values ($1, $2, $3)
on conflict (brain, subject) do update set source_seq = excluded.source_seq where h.source_seq < excluded.source_seq

-- name: add_everyone
insert into groups (brain, id, name, holds_all_people, source_seq) values ($1, $2, $3, true, $4)
on conflict (brain, id) do nothing

-- name: add_member
insert into members as m (brain, id, kind, name, role, tier, active, source_seq)
values ($1, $2, $3, $4, $5, $6, true, $7)
on conflict (brain, id) do update
   set kind = excluded.kind, name = excluded.name, role = excluded.role, tier = excluded.tier,
       active = true, source_seq = excluded.source_seq
 where m.source_seq < excluded.source_seq

-- name: end_member
update members set active = false, source_seq = $3 where brain = $1 and id = $2 and source_seq < $3

-- name: end_grants_of
delete from grants where brain = $1 and subject = $2 and source_seq < $3

-- name: end_tokens_of
delete from tokens where brain = $1 and principal = $2 and source_seq < $3

-- name: end_memberships_of
delete from memberships where brain = $1 and member = $2 and source_seq < $3

-- name: change_role
update members set role = $3, tier = $4, source_seq = $5 where brain = $1 and id = $2 and source_seq < $5

-- name: change_group
insert into groups as g (brain, id, name, source_seq) values ($1, $2, $3, $4)
on conflict (brain, id) do update set name = excluded.name, source_seq = excluded.source_seq
 where g.source_seq < excluded.source_seq

-- name: end_members_of_group
delete from memberships where brain = $1 and group_id = $2 and source_seq < $3

-- name: add_members_to_group
insert into memberships as m (brain, group_id, member, source_seq) select $1, $2, unnest($3::uuid[]), $4
on conflict (brain, group_id, member) do update set source_seq = excluded.source_seq
 where m.source_seq < excluded.source_seq

-- name: add_grant
insert into grants (brain, id, subject, scope_kind, scope_value, permission, source_seq)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (brain, id) do nothing

-- name: end_grant
delete from grants where brain = $1 and id = $2 and source_seq < $3

-- name: add_token
insert into tokens (brain, id, principal, kind, tier, scopes, digest, expires_at, domains, source_seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (brain, id) do nothing

-- name: end_token
delete from tokens where brain = $1 and id = $2 and source_seq < $3
