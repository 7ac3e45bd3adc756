-- The second copy of the ledger: insert-only, in order, each row chained to the one before by its hash.
create table facts (
    brain uuid not null,
    stream text not null,
    epoch int not null,
    position bigint not null,
    fact_id text not null,
    subject text not null,
    headers jsonb not null,
    body bytea not null,
    stored_at timestamptz not null,
    previous_hash bytea not null,
    hash bytea not null,
    primary key (brain, stream, epoch, position),
    unique (brain, stream, epoch, fact_id)
);
alter table facts enable row level security;
alter table facts force row level security;
create policy own_brain on facts
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

create function refuse_change() returns trigger language plpgsql set search_path = {schema}, pg_temp as $$
begin
    raise exception 'the archive is insert-only' using errcode = '42501';
end
$$;
create trigger insert_only before update or delete on facts for each row execute function refuse_change();
create trigger never_truncated before truncate on facts for each statement execute function refuse_change();

revoke all on facts from public;
revoke all on function refuse_change() from public;
grant select, insert on facts to {writer};

-- Whoever acknowledges a command must be able to see how far the archive has come.
grant usage on schema {schema} to gateway, ingest, drift, approvals;
grant select on checkpoints to gateway, ingest, drift, approvals;
