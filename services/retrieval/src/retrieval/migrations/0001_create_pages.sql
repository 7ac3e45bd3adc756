-- What stands: live pages, the revisions that made them, their relations and figures, and who may open which capture.

create table pages (
    brain uuid not null,
    page uuid not null,
    number integer generated always as identity,
    live boolean not null,
    path text not null,
    title text not null,
    title_key text not null,
    words text[] not null,
    type text not null,
    owner uuid not null,
    access text not null,
    reach text not null,
    category text,
    domain text,
    knowledge text not null,
    as_of date,
    revision integer not null,
    body uuid not null,
    commitment text not null,
    digest text not null,
    approver uuid not null,
    approved_at timestamptz not null,
    verified_at timestamptz,
    verified_seq bigint not null default 0,
    review_days integer not null,
    passages integer not null,
    position bigint not null,
    source_seq bigint not null,
    primary key (brain, page)
);
comment on column pages.live is 'False once deprecated or sealed: then it holds no content and no arm finds it.';
comment on column pages.number is 'A short name for postings; means nothing outside this schema.';
comment on column pages.passages is
    'How many chunks it has: their sum over what a caller sees picks the exact or the approximate scan.';
create index pages_by_path on pages (brain, path) where live;
create index pages_by_title on pages (brain, title_key) where live;

-- One row a promotion, without content.
create table revisions (
    brain uuid not null,
    page uuid not null,
    revision integer not null,
    body uuid not null,
    commitment text not null,
    access text not null,
    reach text not null,
    knowledge text not null,
    proposal uuid not null,
    approver uuid not null,
    approved_at timestamptz not null,
    source_seq bigint not null,
    primary key (brain, page, revision)
);

-- The other end is an id or a path, as written; it is resolved when read.
create table relations (
    brain uuid not null,
    page uuid not null,
    ordinal integer not null,
    verb text not null,
    target uuid,
    target_path text,
    knowledge text not null,
    primary key (brain, page, ordinal),
    check ((target is null) <> (target_path is null))
);

create table figures (
    brain uuid not null,
    page uuid not null,
    ordinal integer not null,
    name text not null,
    value text not null,
    unit text not null,
    as_of date,
    source text not null,
    primary key (brain, page, ordinal)
);

-- As recorded, from CAP. Several versions share a reference; the one recorded last speaks for it.
create table captures (
    brain uuid not null,
    capture uuid not null,
    reference text not null,
    source text not null,
    everyone boolean not null,
    principals uuid[] not null,
    known boolean not null,
    source_seq bigint not null,
    primary key (brain, capture)
);
create index captures_by_reference on captures (brain, reference, source_seq desc);

-- What changed since about who may open it, from EVT. A row here overrules the recording.
create table capture_sights (
    brain uuid not null,
    capture uuid not null,
    withdrawn boolean not null,
    everyone boolean not null,
    principals uuid[] not null,
    known boolean not null,
    source_seq bigint not null,
    primary key (brain, capture)
);
