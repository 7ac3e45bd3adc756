-- A reference is the capture of whoever filed it first: what somebody else files later under the same names neither
-- opens nor hides it. Only where the first has withdrawn his, the next one stands. The rows are folded again.
-- `chain`: the first version of what one person files under a name; each later one supersedes the one before.
truncate captures;
delete from checkpoints where projection = 'retrieval-captures-v1';
alter table captures add column chain uuid not null;
drop index captures_by_reference;
create index captures_by_reference on captures (brain, reference, chain, source_seq desc);

-- Which of the references $1 these subjects may open: the newest version that the first filer has not withdrawn admits
-- one of them. A reference that names no capture admits nobody.
create or replace function open_references(named text[], subjects uuid[])
returns table (reference text) language sql stable security definer
begin atomic
    select standing.reference
    from (
        select distinct on (newest.reference) newest.reference, newest.everyone, newest.principals, newest.known
        from (
            select distinct on (c.reference, c.chain)
                c.reference,
                min(c.source_seq) over (partition by c.reference, c.chain) as begun,
                coalesce(s.withdrawn, false) as withdrawn,
                coalesce(s.everyone, c.everyone) as everyone,
                coalesce(s.principals, c.principals) as principals,
                coalesce(s.known, c.known) as known
            from captures c
            left join capture_sights s on s.brain = this_brain() and s.capture = c.capture
            where c.brain = this_brain() and c.reference = any($1)
            order by c.reference, c.chain, c.source_seq desc
        ) newest
        where not newest.withdrawn
        order by newest.reference, newest.begun
    ) standing
    where standing.known
      and cardinality($2) > 0
      and (standing.everyone or standing.principals && $2);
end;
alter function open_references(text[], uuid[]) set search_path = pg_catalog, public, pg_temp;
alter function open_references(text[], uuid[]) set plan_cache_mode = force_custom_plan;
