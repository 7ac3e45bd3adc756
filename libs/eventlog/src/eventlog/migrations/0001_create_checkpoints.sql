-- How far each projection of this schema has come. The fact's id at that position lets a reader notice, at start and
-- at every reconnect, that the log went backwards.
create table checkpoints (
    brain uuid not null,
    projection text not null,
    stream text not null,
    position bigint not null,
    fact_id text not null,
    epoch int not null,
    updated_at timestamptz not null default now(),
    primary key (brain, projection)
);
alter table checkpoints enable row level security;
alter table checkpoints force row level security;
create policy own_brain on checkpoints
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
revoke all on checkpoints from public;
grant select, insert, update on checkpoints to {writer};
grant select on checkpoints to {reader};
