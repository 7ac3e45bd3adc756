-- Who belongs, what is granted, which tokens act for whom: projected from the access facts, thrown away at will.
-- Applied into each schema that decides or reads by the one rule; {writer} projects, {reader} reads.

create table members (
    brain uuid not null,
    id uuid not null,
    kind text not null check (kind in ('person', 'service')),
    name text not null,
    role text not null check (role in ('member', 'manager', 'admin', 'owner')),
    tier text not null check (tier in ('employee', 'manager', 'admin')),
    active boolean not null,
    source_seq bigint not null,
    primary key (brain, id)
);
create index members_by_name on members (brain, name);

create table groups (
    brain uuid not null,
    id uuid not null,
    name text not null,
    holds_all_people boolean not null default false,
    source_seq bigint not null,
    primary key (brain, id)
);

create table memberships (
    brain uuid not null,
    group_id uuid not null,
    member uuid not null,
    source_seq bigint not null,
    primary key (brain, group_id, member)
);
create index memberships_by_member on memberships (brain, member);

create table grants (
    brain uuid not null,
    id uuid not null,
    subject uuid not null,
    scope_kind text not null check (scope_kind in ('exact', 'prefix', 'category')),
    scope_value text not null,
    permission text not null check (permission in ('read', 'suggest', 'approve')),
    source_seq bigint not null,
    primary key (brain, id),
    constraint grants_follow_the_grammar check (
        length(scope_value) <= 255
        and case scope_kind
            when 'exact' then scope_value ~ '^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)*\.md$'
            when 'prefix' then scope_value ~ '^([a-z0-9]+(-[a-z0-9]+)*/)*$'
            when 'category' then scope_value ~ '^[^/*:[:cntrl:]]+$' and length(scope_value) <= 64
        end
    )
);
create index grants_by_subject on grants (brain, subject);

create table tokens (
    brain uuid not null,
    id uuid not null,
    principal uuid not null,
    kind text not null,
    tier text not null check (tier in ('employee', 'manager', 'admin')),
    scopes text[] not null,
    digest text not null,
    expires_at timestamptz,
    source_seq bigint not null,
    primary key (brain, id)
);
create unique index tokens_by_digest on tokens (brain, digest);
create index tokens_by_principal on tokens (brain, principal);

-- The last sequence folded of every access history, of the brain's own and of the gates: what decisions expect.
create table histories (
    brain uuid not null,
    subject text not null,
    source_seq bigint not null,
    primary key (brain, subject)
);

alter table members enable row level security;
alter table members force row level security;
create policy one_brain on members
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table groups enable row level security;
alter table groups force row level security;
create policy one_brain on groups
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table memberships enable row level security;
alter table memberships force row level security;
create policy one_brain on memberships
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table grants enable row level security;
alter table grants force row level security;
create policy one_brain on grants
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table tokens enable row level security;
alter table tokens force row level security;
create policy one_brain on tokens
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table histories enable row level security;
alter table histories force row level security;
create policy one_brain on histories
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

-- Every subject that grants count for, by active principal: itself, its groups, and everyone for people.
create view subjects with (security_invoker = true) as
select m.brain, m.id as principal, m.id as subject from members m where m.active
union all
select m.brain, m.id, g.group_id
from members m join memberships g on g.brain = m.brain and g.member = m.id
where m.active
union all
select m.brain, m.id, g.id
from members m join groups g on g.brain = m.brain and g.holds_all_people
where m.active and m.kind = 'person';

-- The access levels inside a viewer tier; an unknown tier sees none.
create function tier_levels(tier text) returns text[] language sql immutable parallel safe as $$
    select case tier
        when 'employee' then array['public', 'department']
        when 'manager' then array['public', 'department', 'project', 'manager']
        when 'admin' then array['public', 'department', 'project', 'manager', 'hr', 'executive', 'restricted']
        else array[]::text[]
    end
$$;

-- Whether a grant's scope reaches a page of this path, sensitivity and category.
create function grant_covers(scope_kind text, scope_value text, path text, reach text, category text)
returns boolean language sql immutable parallel safe as $$
    select case
        when reach = 'ordinary' and scope_kind = 'prefix' then starts_with(path, scope_value)
        when reach in ('ordinary', 'restricted') and scope_kind = 'exact' then path = scope_value
        when reach in ('ordinary', 'restricted') and scope_kind = 'category'
            then category is not null and category = scope_value
        else false
    end
$$;

-- 1 read, 2 suggest, 3 approve; 0 is none of them.
create function permission_rank(permission text) returns integer language sql immutable parallel safe as $$
    select case permission when 'read' then 1 when 'suggest' then 2 when 'approve' then 3 else 0 end
$$;

grant select, insert, update, delete on members, groups, memberships, grants, tokens, histories to {writer};
grant select on members, groups, memberships, grants, tokens, histories, subjects to {reader};
grant select on subjects to {writer};
revoke execute on function tier_levels(text), grant_covers(text, text, text, text, text), permission_rank(text)
    from public;
grant execute on function tier_levels(text), grant_covers(text, text, text, text, text), permission_rank(text)
    to {writer}, {reader};
