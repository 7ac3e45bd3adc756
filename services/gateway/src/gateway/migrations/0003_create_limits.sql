-- Who has asked how often in this minute, what was used on which day, and how often anybody may. None of it is a fact.

create table limits (
    brain uuid not null,
    name text not null check (name ~ '^[a-z_]{1,40}$'),
    per_minute integer check (per_minute between 1 and 1000000),
    changed_by uuid not null,
    changed_at timestamptz not null,
    primary key (brain, name)
);
comment on column limits.per_minute is 'null: the default of the program';

-- One row for each limit and whom it counts, rewritten in place: room is left on the page for the next version.
create table rate_windows (
    brain uuid not null,
    name text not null,
    holder uuid not null,
    begins timestamptz not null,
    taken integer not null check (taken >= 0),
    primary key (brain, name, holder)
) with (fillfactor = 50);

create table tool_calls (
    brain uuid not null,
    day date not null,
    principal uuid not null,
    tool text not null,
    calls bigint not null check (calls >= 0),
    refused bigint not null check (refused >= 0),
    primary key (brain, day, principal, tool)
) with (fillfactor = 50);

create table agent_runs (
    brain uuid not null,
    id uuid not null,
    day date not null,
    principal uuid not null,
    tokens bigint not null check (tokens >= 0),
    billable boolean not null,
    primary key (brain, id)
);
create index agent_runs_by_day on agent_runs (brain, day);

create view costs_daily with (security_invoker = true) as
select brain, day, 'tool_call' as category, true as billable, sum(calls)::bigint as calls,
       sum(refused)::bigint as refused, 0::bigint as tokens
from tool_calls group by brain, day
union all
select brain, day, 'agent_run', billable, count(*), 0, sum(tokens)::bigint
from agent_runs group by brain, day, billable;

-- One permit of every limit named, or none of any: `limit_reached` is the first that is exhausted. Rows are taken in
-- the order given, which every caller keeps: principal, token, brain. So two calls never wait for each other in a ring.
-- `at` null is this server's clock, the only one that all replicas share. A window never turns back: a caller whose
-- clock is late counts into the window that stands. A `tool` is metered: allowed or refused, never both.
create function take_permit(
    of_brain uuid, at timestamptz, names text[], holders uuid[], defaults integer[], asking uuid, tool_called text
) returns table (limit_reached text, retry_after integer) language plpgsql as $$
declare
    instant constant timestamptz := coalesce(at, clock_timestamp());
    this_minute constant timestamptz := date_trunc('minute', instant, 'UTC');
    began timestamptz;
    counted integer;
    ceiling integer;
begin
    perform set_config('brain.id', of_brain::text, true), set_config('synchronous_commit', 'off', true);
    for place in 1 .. cardinality(names) loop
        insert into rate_windows as w (brain, name, holder, begins, taken)
        values (of_brain, names[place], holders[place], this_minute, 1)
        on conflict (brain, name, holder) do update
           set taken = case when w.begins < excluded.begins then 1 else w.taken + 1 end,
               begins = greatest(w.begins, excluded.begins)
        returning w.begins, w.taken into began, counted;
        select coalesce(
            (select l.per_minute from limits l where l.brain = of_brain and l.name = names[place]), defaults[place]
        ) into ceiling;
        if counted > ceiling then
            update rate_windows w set taken = w.taken - 1
            from unnest(names[1:place], holders[1:place]) as given (name, holder)
            where w.brain = of_brain and w.name = given.name and w.holder = given.holder;
            limit_reached := names[place];
            retry_after := greatest(1, ceil(extract(epoch from began + interval '1 minute' - instant)));
            exit;
        end if;
    end loop;
    if tool_called is not null then
        insert into tool_calls as t (brain, day, principal, tool, calls, refused)
        values (
            of_brain, (instant at time zone 'UTC')::date, asking, tool_called,
            (limit_reached is null)::integer, (limit_reached is not null)::integer
        )
        on conflict (brain, day, principal, tool) do update
           set calls = t.calls + excluded.calls, refused = t.refused + excluded.refused;
    end if;
    return next;
end
$$;

alter table limits enable row level security;
alter table limits force row level security;
create policy one_brain on limits
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table rate_windows enable row level security;
alter table rate_windows force row level security;
create policy one_brain on rate_windows
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table tool_calls enable row level security;
alter table tool_calls force row level security;
create policy one_brain on tool_calls
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table agent_runs enable row level security;
alter table agent_runs force row level security;
create policy one_brain on agent_runs
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on limits, rate_windows, tool_calls, agent_runs, costs_daily from public;
revoke all on function take_permit from public;
grant select, insert, update on limits to gateway;
grant select, insert, update, delete on rate_windows to gateway;
grant select, insert, update on tool_calls to gateway;
grant select, insert on agent_runs to gateway;
grant select on costs_daily to gateway;
grant execute on function take_permit to gateway;
