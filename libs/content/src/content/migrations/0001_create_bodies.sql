-- Every immutable body of a brain, one row each. What is readable here says when and how much, never what:
-- the ciphertext holds the commitment's salt and the bytes, and its key is wrapped by a key outside the database.
create table bodies (
    brain uuid not null,
    id uuid not null,
    ciphertext bytea not null,
    nonce bytea not null check (octet_length(nonce) = 12),
    key_version integer not null check (key_version > 0),
    wrapped_key bytea not null,
    size integer not null check (size >= 0),
    created_at timestamptz not null default now(),
    primary key (brain, id)
);

-- Ciphertext does not compress; do not try.
alter table bodies alter column ciphertext set storage external;

-- What a change of wrapping key still has to do.
create index bodies_by_key_version on bodies (brain, key_version);

alter table bodies enable row level security;
alter table bodies force row level security;
create policy one_brain on bodies
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on bodies from public;
grant select, insert on bodies to gateway, ingest, approvals, drift;
grant select on bodies to embedder, retrieval_project, retrieval_serve, archive;

-- Erasure runs in approvals: it deletes, wraps what stays under a new key, and vacuums the bytes away.
grant delete, maintain on bodies to approvals;
grant update (key_version, wrapped_key) on bodies to approvals;
