-- The permit of a call and its meter, the settings of the limits, and what was used.

-- name: take_permit
select limit_reached, retry_after from take_permit($1, $2, $3, $4, $5, $6, $7)

-- name: ceilings
select name, per_minute, changed_by, changed_at from limits where brain = $1

-- name: set_ceiling
insert into limits (brain, name, per_minute, changed_by, changed_at) values ($1, $2, $3, $4, $5)
on conflict (brain, name) do update
   set per_minute = excluded.per_minute, changed_by = excluded.changed_by, changed_at = excluded.changed_at

-- name: drop_old_windows
-- Whoever is just counting in one keeps it: a permit waits for this, and this for nobody, so they cannot wait in a ring.
delete from rate_windows where brain = $1 and (name, holder) in (
    select name, holder from rate_windows where brain = $1 and begins < $2 for update skip locked
)

-- name: add_run
insert into agent_runs (brain, id, day, principal, tokens, billable) values ($1, $2, $3, $4, $5, $6)
on conflict (brain, id) do nothing

-- name: costs
select day, category, billable, calls, refused, tokens from costs_daily
where brain = $1 and day >= $2 order by day desc, category, billable
