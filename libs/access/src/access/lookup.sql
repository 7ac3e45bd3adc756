-- Reads of the access tables; row level security keeps them inside the transaction's brain.

-- name: caller
-- $1 brain, $2 principal, $3 token or null, $4 the instant at which the token must be alive (null: now).
select m.id, m.tier, t.tier as token_tier, t.scopes, t.domains,
       array(select s.subject from subjects s where s.principal = m.id) as subjects
from members m
left join tokens t on t.brain = m.brain and t.principal = m.id and t.id = $3
     and (t.expires_at is null or t.expires_at > coalesce($4, now()))
where m.brain = $1 and m.id = $2 and m.active and ($3::uuid is null or t.id is not null)

-- name: grants_of
select id, subject, scope_kind, scope_value, permission from grants where subject = any($1::uuid[]) order by source_seq

-- name: gate_positions
select split_part(subject, '.', 4) as gate, source_seq from histories
where subject in (
    'evt.' || current_setting('brain.id') || '.gate.fence',
    'evt.' || current_setting('brain.id') || '.gate.access',
    'evt.' || current_setting('brain.id') || '.gate.policy',
    'evt.' || current_setting('brain.id') || '.gate.path'
)

-- name: history_positions
select subject, source_seq from histories where subject = any($1::text[])

-- name: member_by_id
select id, kind, name, role, tier, active from members where id = $1

-- name: member_by_name
select id, kind, name, role, tier, active from members where name = $1 order by active desc limit 1

-- name: group_by_name
select id from groups where name = $1

-- name: members_of_group
select member from memberships where group_id = $1

-- name: groups
select g.name, g.holds_all_people,
       array(
           select m.name from memberships s join members m on m.brain = s.brain and m.id = s.member and m.active
           where s.brain = g.brain and s.group_id = g.id order by m.name
       ) as members
from groups g order by g.name

-- name: names
select id, name from members where id = any($1::uuid[])
union all
select id, name from groups where id = any($1::uuid[])

-- name: members
select id, kind, name, role, tier, active from members where active order by name

-- name: count_active_people
select count(*) from members where active and kind = 'person'

-- name: token_by_id
select id, principal, kind, tier, scopes, digest, expires_at, domains from tokens where id = $1

-- name: tokens_of
select id, principal, kind, tier, scopes, digest, expires_at, domains from tokens where principal = $1
order by source_seq

-- name: credential
-- $1 brain, $2 digest of the token's secret, $3 the access gate: everything about a request's token in one go.
select t.id as token, t.principal, t.kind as token_kind, t.tier as token_tier, t.scopes, t.digest, t.expires_at,
       t.domains,
       m.kind, m.name, m.role, m.tier,
       array(select s.subject from subjects s where s.brain = m.brain and s.principal = m.id) as subjects,
       coalesce((select h.source_seq from histories h where h.brain = $1 and h.subject = $3), 0) as position
from tokens t join members m on m.brain = t.brain and m.id = t.principal and m.active
where t.brain = $1 and t.digest = $2
