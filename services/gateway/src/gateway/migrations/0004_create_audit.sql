-- Who did what, when and with which outcome; and who was served which revision. Rows are added and never changed.
-- Every text is of a closed form, so that no title, path, query or secret fits into one.

create table audit_rows (
    brain uuid not null,
    id bigint generated always as identity,
    minute timestamptz not null,
    at timestamptz not null,
    request_id text not null check (request_id ~ '^[A-Za-z0-9-]{1,64}$'),
    door text not null check (door ~ '^[a-z]{1,16}$'),
    operation text not null check (operation ~ '^[a-z][a-z0-9_]{0,63}$'),
    outcome text not null check (outcome ~ '^[a-z][a-z0-9_]{0,63}$'),
    writes boolean not null,
    principal uuid,
    token uuid,
    kind text check (kind ~ '^[a-z]{1,16}$'),
    arguments text check (arguments ~ '^[0-9a-f]{64}$'),
    concerned uuid[] not null check (cardinality(concerned) <= 64),
    results integer check (results >= 0),
    trust text check (trust ~ '^[a-z_]{1,32}$'),
    position bigint check (position >= 0),
    requests integer not null check (requests > 0),
    primary key (brain, id)
);
comment on column audit_rows.minute is 'in which it was written here, by this server''s clock: what is sealed together';
comment on column audit_rows.requests is 'how many requests it stands for: more than 1 where an address was refused';
create index audit_rows_by_minute on audit_rows (brain, minute, id);
create index audit_rows_by_request on audit_rows (brain, request_id);

create table audit_seals (
    brain uuid not null,
    minute timestamptz not null,
    first_id bigint not null,
    last_id bigint not null,
    counted bigint not null check (counted > 0),
    previous bytea not null check (length(previous) = 32),
    hash bytea not null check (length(hash) = 32),
    signature bytea not null,
    sealed_at timestamptz not null,
    primary key (brain, minute)
);

create table served (
    brain uuid not null,
    id bigint generated always as identity,
    at timestamptz not null,
    request_id text not null check (request_id ~ '^[A-Za-z0-9-]{1,64}$'),
    principal uuid not null,
    token uuid,
    page uuid not null,
    revision integer not null,
    position bigint not null,
    passage boolean not null,
    primary key (brain, id)
);
comment on table served is 'what was given to whom: of a page as a whole, or of a passage of it';
create index served_by_page on served (brain, page, revision, at);
create index served_by_request on served (brain, request_id);

-- A row belongs to the minute in which it is written, and never to one that is sealed. Whoever seals holds the lock
-- alone: then nobody is on the way with a row of a minute that is over.
create function stamp_audit_row() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('audit rows ' || new.brain, 0));
    select greatest(date_trunc('minute', clock_timestamp(), 'UTC'), max(s.minute) + interval '1 minute')
      into new.minute from gateway.audit_seals s where s.brain = new.brain;
    return new;
end
$$;
create trigger stamped before insert on audit_rows for each row execute function stamp_audit_row();

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
    raise exception 'these rows are only added to' using errcode = '42501';
end
$$;
create trigger insert_only before update or delete on audit_rows for each row execute function refuse_audit_change();
create trigger never_truncated before truncate on audit_rows for each statement execute function refuse_audit_change();
create trigger insert_only before update or delete on audit_seals for each row execute function refuse_audit_change();
create trigger never_truncated before truncate on audit_seals for each statement execute function refuse_audit_change();
create trigger insert_only before update or delete on served for each row execute function refuse_audit_change();
create trigger never_truncated before truncate on served for each statement execute function refuse_audit_change();

alter table audit_rows enable row level security;
alter table audit_rows force row level security;
create policy one_brain on audit_rows
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table audit_seals enable row level security;
alter table audit_seals force row level security;
create policy one_brain on audit_seals
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table served enable row level security;
alter table served force row level security;
create policy one_brain on served
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on audit_rows, audit_seals, served from public;
revoke all on function stamp_audit_row, refuse_audit_change from public;
grant select, insert on audit_rows, audit_seals, served to gateway;
