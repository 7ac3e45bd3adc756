-- The latest version of everything that a source holds, as recorded in CAP. An id follows from what it supersedes and
-- from the bytes, so the bytes of a file tell whether it has changed.
create table captures (
    brain uuid not null,
    source text not null,
    external_id text not null,
    capture uuid not null,
    supersedes uuid,
    everyone boolean not null,
    principals uuid[] not null,
    known boolean not null,
    source_seq bigint not null,
    primary key (brain, source, external_id)
);

-- What was not kept, and why. Nothing else is known of it.
create table refusals (
    brain uuid not null,
    capture uuid not null,
    category text not null,
    source_seq bigint not null,
    primary key (brain, capture)
);

-- What EVT says of who may see a capture; a capture without a row is as it was recorded.
create table sights (
    brain uuid not null,
    capture uuid not null,
    withdrawn boolean not null default false,
    everyone boolean,
    principals uuid[],
    known boolean,
    source_seq bigint not null,
    primary key (brain, capture)
);

-- Operational, not projected: what an import still has to propose, and which proposal it went into. Rows are written
-- before the facts they follow from, so that an import which died is picked up by the next one.
create table import_pages (
    brain uuid not null,
    capture uuid not null,
    action text not null check (action in ('edit', 'deprecate')),
    source text not null,
    external_id text not null,
    import_id uuid not null,
    path text not null,
    body uuid,
    commitment text,
    facts smallint not null check (facts > 0),
    proposal uuid,
    primary key (brain, capture, action),
    check ((body is null) = (commitment is null)),
    check (action = 'deprecate' or body is not null)
);
create index import_pages_by_import on import_pages (brain, import_id);

alter table captures enable row level security;
alter table captures force row level security;
create policy one_brain on captures
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table refusals enable row level security;
alter table refusals force row level security;
create policy one_brain on refusals
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table sights enable row level security;
alter table sights force row level security;
create policy one_brain on sights
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table import_pages enable row level security;
alter table import_pages force row level security;
create policy one_brain on import_pages
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on captures, refusals, sights, import_pages from public;
grant select, insert, update on captures, refusals, sights, import_pages to {writer};
