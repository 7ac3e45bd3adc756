-- What decisions on proposals, builds and pages stand on. Every row follows from facts and the content store;
-- `source_seq` is the last position of its history that it holds, which is what the next append expects.

create table proposals (
    brain uuid not null,
    proposal uuid not null,
    kind text not null,
    origin text not null,
    author uuid not null,
    runner uuid,
    state text not null check (state in ('open', 'approved', 'rejected', 'withdrawn')),
    build uuid,
    pages int not null,
    page uuid,
    due timestamptz,
    text_id uuid,
    text_commitment text,
    title text not null,
    digest text not null,
    submitted_at timestamptz not null,
    submitted_seq bigint not null,
    command uuid not null,
    ended_at timestamptz,
    source_seq bigint not null,
    primary key (brain, proposal)
);
create index proposals_open on proposals (brain, submitted_seq) where state = 'open';
create index proposals_of_page on proposals (brain, page, due) where page is not null;

-- Pages as proposed: one for a proposal of kind page (holder: the proposal), many for a build (holder: the build).
create table drafts (
    brain uuid not null,
    holder uuid not null,
    page uuid not null,
    action text not null,
    base int not null,
    body_id uuid not null,
    body_commitment text not null,
    path_id uuid not null,
    path_commitment text not null,
    previous_id uuid,
    previous_commitment text,
    path text not null,
    title text not null,
    digest text not null,
    owner text,
    access text not null,
    reach text not null,
    category text,
    domain text,
    weight text not null,
    owner_decides boolean not null,
    knowledge text,
    review_days int not null,
    source_seq bigint not null,
    primary key (brain, holder, page)
);
create index drafts_by_path on drafts (brain, holder, path);

create table builds (
    brain uuid not null,
    build uuid not null,
    principal uuid not null,
    runner uuid not null,
    origin text not null,
    state text not null check (state in ('open', 'submitted', 'promoted', 'abandoned')),
    proposal uuid,
    source_seq bigint not null,
    primary key (brain, build)
);

-- `ends_seq`: the position of the last fact of the decision that the vote was part of; a retry is answered with it.
create table votes (
    brain uuid not null,
    proposal uuid not null,
    command uuid not null,
    reviewer uuid not null,
    verdict text not null,
    reason text,
    note_id uuid,
    note_commitment text,
    decided_at timestamptz not null,
    source_seq bigint not null,
    ends_seq bigint not null,
    primary key (brain, proposal, command)
);
create index votes_by_command on votes (brain, command);

create table pages (
    brain uuid not null,
    page uuid not null,
    live boolean not null,
    revision int not null,
    body_id uuid not null,
    body_commitment text not null,
    path_id uuid not null,
    path_commitment text not null,
    path text not null,
    title text not null,
    owner uuid not null,
    access text not null,
    reach text not null,
    category text,
    domain text,
    weight text not null,
    owner_decides boolean not null,
    knowledge text not null,
    review_days int not null,
    verified_at timestamptz,
    stale_since timestamptz,
    proposal uuid not null,
    approver uuid not null,
    source_seq bigint not null,
    primary key (brain, page)
);
create index pages_by_path on pages (brain, path) where live;

-- The gates that page decisions move; where the access gate stands is in `histories`, folded with the grants.
create table gates (
    brain uuid not null,
    gate text not null,
    source_seq bigint not null,
    primary key (brain, gate)
);

alter table proposals enable row level security;
alter table proposals force row level security;
create policy own_brain on proposals
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table drafts enable row level security;
alter table drafts force row level security;
create policy own_brain on drafts
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table builds enable row level security;
alter table builds force row level security;
create policy own_brain on builds
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table votes enable row level security;
alter table votes force row level security;
create policy own_brain on votes
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table pages enable row level security;
alter table pages force row level security;
create policy own_brain on pages
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table gates enable row level security;
alter table gates force row level security;
create policy own_brain on gates
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on proposals, drafts, builds, votes, pages, gates from public;
grant select, insert, update, delete on proposals, drafts, builds, votes, pages, gates to {writer};
grant select on proposals, drafts, builds, votes, pages, gates to {reader};
