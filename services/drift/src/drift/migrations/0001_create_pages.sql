-- What freshness needs to know of every live page, and of the reviews that were raised for it.
create table pages (
    brain uuid not null,
    page uuid not null,
    review_days int not null,
    verified_at timestamptz,
    snoozed_until timestamptz,
    raised_due timestamptz,
    live boolean not null,
    source_seq bigint not null,
    primary key (brain, page)
);

create table reviews (
    brain uuid not null,
    proposal uuid not null,
    page uuid not null,
    source_seq bigint not null,
    primary key (brain, proposal)
);

alter table pages enable row level security;
alter table pages force row level security;
create policy own_brain on pages
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
alter table reviews enable row level security;
alter table reviews force row level security;
create policy own_brain on reviews
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);

revoke all on pages, reviews from public;
grant select, insert, update on pages, reviews to {writer};
