-- The index: passages of live pages with their words and vectors, and the vectors that wait for a decision.

create table chunks (
    brain uuid not null,
    chunk bigint generated always as identity,
    page uuid not null,
    number integer not null,
    ordinal integer not null,
    key text not null,
    fingerprint text not null,
    copy integer not null,
    heading text[] not null,
    body text not null,
    starts integer not null,
    ends integer not null,
    language text not null check (language in ('english', 'norwegian')),
    words tsvector not null,
    length integer not null,
    vector_key text,
    model text,
    embedding halfvec(384) storage plain,
    near boolean not null default false,
    primary key (brain, chunk),
    unique (brain, page, fingerprint, copy),
    check ((embedding is null) = (vector_key is null) and (embedding is null) = (model is null))
);
comment on column chunks.key is 'HMAC of heading path and body under the brain''s key.';
comment on column chunks.fingerprint is 'Key, title and language: a passage that keeps it across an edit is kept as it is.';
comment on column chunks.copy is 'Tells passages of one page apart that say the same.';
comment on column chunks.embedding is 'In the row itself: an exact scan then fetches nothing from aside.';
comment on column chunks.near is
    'Whether it stands in the HNSW index: all do, once a brain has more passages than an exact scan is quick for.';
comment on column chunks.length is 'Words that count: the sum of the term frequencies.';
create index chunks_by_page_number on chunks (brain, number) include (chunk);
create index chunks_far on chunks (brain) where not near;
create index chunks_by_embedding on chunks using hnsw (embedding halfvec_cosine_ops) where near;

-- A word is a lexeme after the name of the language that stemmed it: idf and stems of two languages never mix.
create table terms (
    brain uuid not null,
    term integer generated always as identity,
    word text not null,
    chunks integer not null,
    primary key (brain, word)
);
create unique index terms_by_number on terms (brain, term);
create index terms_unused on terms (brain) where chunks = 0;

create table postings (
    brain uuid not null,
    chunk bigint not null,
    term integer not null,
    number integer not null,
    frequency smallint not null,
    length integer not null,
    primary key (brain, chunk, term)
);
create index postings_by_term on postings (brain, term) include (chunk, number, frequency, length);

create table sizes (
    brain uuid not null,
    chunks bigint not null,
    words bigint not null,
    primary key (brain)
);

-- Which page text each body is: proposed, live, replaced, or dead with its proposal.
create table bodies (
    brain uuid not null,
    body uuid not null,
    page uuid not null,
    proposal uuid,
    build uuid,
    state text not null check (state in ('draft', 'live', 'past', 'dead')),
    source_seq bigint not null,
    primary key (brain, body)
);
create index bodies_by_proposal on bodies (brain, proposal) where proposal is not null;
create index bodies_by_build on bodies (brain, build) where build is not null;

create table builds (
    brain uuid not null,
    build uuid not null,
    proposal uuid not null,
    source_seq bigint not null,
    primary key (brain, build)
);
create index builds_by_proposal on builds (brain, proposal);

-- Vectors of bodies that are not live. No arm of a search reads this table.
create table vectors (
    brain uuid not null,
    body uuid not null,
    key text not null,
    vector_key text not null,
    model text not null,
    embedding halfvec(384) not null,
    source_seq bigint not null,
    primary key (brain, body, key)
);

-- The parts of a body's passages that have arrived.
create table embedded (
    brain uuid not null,
    body uuid not null,
    part integer not null,
    parts integer not null,
    source_seq bigint not null,
    primary key (brain, body, part)
);
