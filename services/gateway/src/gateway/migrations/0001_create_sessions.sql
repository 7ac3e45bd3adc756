-- Who is signed in with a browser, and links that sign somebody in once. Secrets stand here as SHA-256 only.

create table one_time_links (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    principal uuid not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (brain, digest)
);

create table sessions (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    principal uuid not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (brain, digest)
);
create index sessions_by_principal on sessions (brain, principal);

alter table one_time_links enable row level security;
alter table one_time_links force row level security;
create policy one_brain on one_time_links
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy one_brain on sessions
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on one_time_links, sessions from public;
grant select, insert, update, delete on one_time_links, sessions to gateway;
