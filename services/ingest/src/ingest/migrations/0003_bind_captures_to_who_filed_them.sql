-- What one person files under a name of a source is a chain of its own: nobody replaces what somebody else filed by
-- choosing the same names. The rows are folded again, from the beginning of the ledger.
truncate captures, checkpoints;
alter table captures add column filed_by uuid not null;
alter table captures drop constraint captures_pkey;
alter table captures add primary key (brain, source, external_id, filed_by);

-- `runner`: who imports, who alone is told of it; a row without one waits for whoever imports its file next.
-- `former`: the proposal that the page went into before, which ended without it. `settled`: its proposal was approved.
alter table import_pages add column runner uuid;
alter table import_pages add column former uuid;
alter table import_pages add column settled boolean not null default false;
drop index import_pages_by_import;
create index import_pages_by_import on import_pages (brain, runner, import_id);
