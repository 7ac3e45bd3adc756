-- The authorization server's rows: applications, what they ask for, and the secrets that stand for a consent. The
-- consent itself is a fact (token_issued, whose token is the `family` here). Secrets stand here as SHA-256 only.

create table oauth_clients (
    brain uuid not null,
    id text not null check (length(id) between 1 and 128),
    name text not null check (length(name) <= 120),
    redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
    method text not null check (method in ('none', 'client_secret_post', 'client_secret_basic')),
    secret_digest text not null check (secret_digest = '' or length(secret_digest) = 64),
    created_at timestamptz not null,
    used_at timestamptz,
    primary key (brain, id)
);

-- An authorization that waits for a person, by the digest of the ticket in its address.
create table oauth_requests (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    client text not null,
    client_name text not null,
    client_host text not null,
    redirect_uri text not null,
    state text,
    challenge text not null check (length(challenge) = 43),
    resource text not null,
    scopes text[] not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (brain, digest)
);
create index oauth_requests_by_end on oauth_requests (brain, expires_at);

create table oauth_codes (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    client text not null,
    redirect_uri text not null,
    challenge text not null check (length(challenge) = 43),
    resource text not null,
    scopes text[] not null,
    family uuid not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (brain, digest)
);
create index oauth_codes_by_end on oauth_codes (brain, expires_at);

create table oauth_access (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    client text not null,
    audience text not null,
    scopes text[] not null,
    family uuid not null,
    expires_at timestamptz not null,
    primary key (brain, digest)
);
create index oauth_access_by_end on oauth_access (brain, expires_at);
create index oauth_access_by_family on oauth_access (brain, family);

create table oauth_refresh (
    brain uuid not null,
    digest text not null check (length(digest) = 64),
    client text not null,
    resource text not null,
    scopes text[] not null,
    family uuid not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (brain, digest)
);
create index oauth_refresh_by_end on oauth_refresh (brain, expires_at);
create index oauth_refresh_by_family on oauth_refresh (brain, family);

alter table oauth_clients enable row level security;
alter table oauth_clients force row level security;
create policy one_brain on oauth_clients
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table oauth_requests enable row level security;
alter table oauth_requests force row level security;
create policy one_brain on oauth_requests
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table oauth_codes enable row level security;
alter table oauth_codes force row level security;
create policy one_brain on oauth_codes
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table oauth_access enable row level security;
alter table oauth_access force row level security;
create policy one_brain on oauth_access
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table oauth_refresh enable row level security;
alter table oauth_refresh force row level security;
create policy one_brain on oauth_refresh
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on oauth_clients, oauth_requests, oauth_codes, oauth_access, oauth_refresh from public;
grant select, insert, update, delete on oauth_clients, oauth_requests, oauth_codes, oauth_access, oauth_refresh
    to gateway;
