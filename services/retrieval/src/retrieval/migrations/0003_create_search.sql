-- Who may do what. The serving role reads no table of the index: it may only call the functions below, which run as a
-- role that cannot log in and sees every row; the predicate inside them is the only wall, so each has it.

do $$
declare
    name text;
begin
    foreach name in array array[
        'pages', 'revisions', 'relations', 'figures', 'captures', 'capture_sights', 'chunks', 'terms', 'postings',
        'sizes', 'bodies', 'builds', 'vectors', 'embedded'
    ] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy one_brain on %I'
            ' using (brain = nullif(current_setting(''brain.id'', true), '''')::uuid)'
            ' with check (brain = nullif(current_setting(''brain.id'', true), '''')::uuid)', name);
        execute format('revoke all on %I from public', name);
        execute format('grant select, insert, update, delete on %I to retrieval_project', name);
    end loop;
    foreach name in array array[
        'pages', 'relations', 'figures', 'captures', 'capture_sights', 'chunks', 'terms', 'postings', 'sizes', 'bodies',
        'embedded', 'grants', 'members', 'groups'
    ] loop
        execute format('grant select on %I to retrieval_search', name);
        execute format('create policy of_search on %I for select to retrieval_search using (true)', name);
    end loop;
end
$$;
grant maintain on pages, chunks, terms, postings to retrieval_project;
grant execute on function tier_levels(text), grant_covers(text, text, text, text, text), permission_rank(text)
    to retrieval_search;

-- The brain of the transaction; there is no answer without one.
create function this_brain() returns uuid language plpgsql stable as $$
begin
    if nullif(current_setting('brain.id', true), '') is null then
        raise exception 'no brain is set in this transaction' using errcode = '42501';
    end if;
    return current_setting('brain.id')::uuid;
end
$$;

-- The one rule: what these subjects see under this tier and these domains (null: any). Without a grant, nothing.
create function visible_pages(subjects uuid[], tier text, domains text[])
returns table (page uuid, number integer, passages integer) language sql stable
begin atomic
    select distinct p.page, p.number, p.passages
    from grants g
    join pages p on p.brain = g.brain and grant_covers(g.scope_kind, g.scope_value, p.path, p.reach, p.category)
    where g.brain = this_brain()
      and g.subject = any(subjects)
      and p.live
      and p.access = any(tier_levels(tier))
      and (domains is null or p.domain = any(domains));
end;

-- The query's words as both languages stem them.
create function words_of(query text) returns text[] language sql stable
begin atomic
    select coalesce(array_agg(distinct word), array[]::text[])
    from (
        select 'english:' || unnest(tsvector_to_array(to_tsvector('pg_catalog.english'::regconfig, query))) as word
        union all
        select 'norwegian:' || unnest(tsvector_to_array(to_tsvector('pg_catalog.norwegian'::regconfig, query)))
    ) stemmed;
end;

-- How many passages a caller sees.
create function visible_passages(subjects uuid[], tier text, domains text[])
returns bigint language sql stable security definer
begin atomic
    select coalesce(sum(passages), 0)::bigint from visible_pages(subjects, tier, domains);
end;

-- Arm one, BM25 (k1 1.2, b 0.75) over the postings of $1; the rarest words first, at most $2 postings in all, but
-- always the rarest one. $3-$5: subjects, tier, domains.
create function words_arm(asked_words text[], work bigint, subjects uuid[], tier text, domains text[])
returns table (chunk bigint, number integer, score double precision) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.number from visible_pages($3, $4, $5) v
    ),
    size as materialized (
        select s.chunks::double precision as chunks,
               greatest(s.words::double precision / greatest(s.chunks, 1), 1) as mean
        from sizes s where s.brain = this_brain()
    ),
    asked as materialized (
        select r.term, ln(1 + (size.chunks - r.chunks + 0.5::double precision) / (r.chunks + 0.5::double precision))
                       as idf
        from (
            select t.term, t.chunks, sum(t.chunks) over (order by t.chunks, t.term) as work
            from terms t
            where t.brain = this_brain() and t.word = any($1) and t.chunks > 0
        ) r, size
        where r.work <= $2 or r.work = r.chunks
    )
    select p.chunk, p.number,
           sum(a.idf * p.frequency * 2.2::double precision
               / (p.frequency + 1.2::double precision
                  * (0.25::double precision + 0.75::double precision * p.length / size.mean)))
    from asked a
    join postings p on p.brain = this_brain() and p.term = a.term
    join visible v on v.number = p.number
    cross join size
    group by p.chunk, p.number;
end;

-- Arm two, exact: every passage that the caller sees is compared. $1 the query's vector, $2 its model, $3 how many.
create function vectors_exact(question halfvec, made_by text, most integer, subjects uuid[], tier text, domains text[])
returns table (chunk bigint, number integer, similarity double precision) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.number from visible_pages($4, $5, $6) v
    ),
    compared as materialized (
        select c.chunk, c.number, c.embedding <=> $1 as distance
        from visible v
        join chunks c on c.brain = this_brain() and c.number = v.number
        where c.model = $2 and c.embedding is not null
    )
    select n.chunk, n.number, 1 - n.distance from compared n where $1 is not null order by n.distance, n.chunk limit $3;
end;

-- Arm two, approximate: the HNSW index walked until enough passages pass the predicate, then sorted. The planner takes
-- the visible set for a few pages, whatever its size, so the other ways to the same rows are closed to it here: the sum
-- hides the page's number from its index, and a plan that sorts everything counts as disabled.
create function vectors_near(question halfvec, made_by text, most integer, subjects uuid[], tier text, domains text[])
returns table (chunk bigint, number integer, similarity double precision) language sql stable security definer
set hnsw.iterative_scan = 'relaxed_order' set hnsw.ef_search = 100 set enable_sort = off
begin atomic
    with near as materialized (
        select c.chunk, c.number, c.embedding <=> $1 as distance
        from chunks c
        where c.brain = this_brain()
          and c.near
          and c.embedding is not null
          and c.model = $2
          and c.number + 0 = any(array(select v.number from visible_pages($4, $5, $6) v))
        order by c.embedding <=> $1
        limit $3
    )
    select n.chunk, n.number, 1 - n.distance from near n order by n.distance, n.chunk;
end;

-- The true similarity of the passages $3, as far as the caller sees them and they have a vector.
create function vector_scores(
    question halfvec, made_by text, candidates bigint[], subjects uuid[], tier text, domains text[]
)
returns table (chunk bigint, similarity double precision) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.number from visible_pages($4, $5, $6) v
    )
    select c.chunk, 1 - (c.embedding <=> $1)
    from chunks c
    join visible v on v.number = c.number
    where c.brain = this_brain() and c.chunk = any($3) and c.model = $2 and c.embedding is not null
      and $1 is not null;
end;

-- The first passage of each visible page whose title is exactly $1 (folded).
create function titled_arm(folded text, subjects uuid[], tier text, domains text[])
returns table (chunk bigint, number integer) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.page, v.number from visible_pages($2, $3, $4) v
    )
    select distinct on (c.number) c.chunk, c.number
    from pages p
    join visible v on v.page = p.page
    join chunks c on c.brain = p.brain and c.number = p.number
    where p.brain = this_brain() and p.live and p.title_key = $1
    order by c.number, c.ordinal;
end;

-- What is said of the passages $1, as far as the caller sees them.
create function passages(chosen bigint[], subjects uuid[], tier text, domains text[])
returns table (
    chunk bigint, page uuid, path text, title text, heading text[], body text, knowledge text,
    verified_at timestamptz, review_days integer, revision integer, digest text, approver text,
    approved_at timestamptz, "position" bigint
) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.number from visible_pages($2, $3, $4) v
    )
    select c.chunk, p.page, p.path, p.title, c.heading, c.body, p.knowledge, p.verified_at, p.review_days, p.revision,
           p.digest, coalesce(m.name, ''), p.approved_at, p.position
    from chunks c
    join visible v on v.number = c.number
    join pages p on p.brain = c.brain and p.page = c.page
    left join members m on m.brain = p.brain and m.id = p.approver
    where c.brain = this_brain() and c.chunk = any($1);
end;

-- Visible pages by path ($1), folded title ($2) or words of either ($3); at most $4, the best first.
create function find_pages(
    at_path text, folded text, asked_words text[], most integer, subjects uuid[], tier text, domains text[]
)
returns table (
    page uuid, path text, title text, type text, knowledge text, verified_at timestamptz, review_days integer
) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.page from visible_pages($5, $6, $7) v
    ),
    matched as (
        select p.page, p.path, p.title, p.type, p.knowledge, p.verified_at, p.review_days, p.path = $1 as at_path,
               p.title_key = $2 as titled, starts_with(p.title_key, $2) as begins,
               (select count(*) from unnest(p.words) w where w = any($3)) as shared, cardinality(p.words) as all_words
        from visible v
        join pages p on p.brain = this_brain() and p.page = v.page
    )
    select m.page, m.path, m.title, m.type, m.knowledge, m.verified_at, m.review_days
    from matched m
    where m.at_path or m.titled or m.begins or m.shared > 0
    order by m.at_path desc, m.titled desc, m.shared desc, m.begins desc, m.all_words, m.path
    limit $4;
end;

-- The visible page at a path ($1) or of an id ($2).
create function page_at(at_path text, id uuid, subjects uuid[], tier text, domains text[])
returns table (
    page uuid, path text, title text, type text, owner text, access text, reach text, knowledge text, as_of date,
    revision integer, body uuid, commitment text, digest text, approver text, approved_at timestamptz,
    verified_at timestamptz, review_days integer, "position" bigint
) language sql stable security definer
begin atomic
    select p.page, p.path, p.title, p.type, coalesce(o.name, g.name, ''), p.access, p.reach, p.knowledge, p.as_of,
           p.revision, p.body, p.commitment, p.digest, coalesce(m.name, ''), p.approved_at, p.verified_at,
           p.review_days, p.position
    from pages p
    left join members o on o.brain = p.brain and o.id = p.owner and o.active
    left join groups g on g.brain = p.brain and g.id = p.owner
    left join members m on m.brain = p.brain and m.id = p.approver
    where p.brain = this_brain() and p.live and (p.path = $1 or p.page = $2)
      and p.page in (select v.page from visible_pages($3, $4, $5) v)
    limit 1;
end;

-- The relations of the page $1 whose both ends the caller sees.
create function relations_of(of_page uuid, subjects uuid[], tier text, domains text[])
returns table (verb text, page uuid, path text, title text, knowledge text) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.page from visible_pages($2, $3, $4) v
    )
    select r.verb, p.page, p.path, p.title, r.knowledge
    from relations r
    join pages p on p.brain = r.brain and p.live and (p.page = r.target or p.path = r.target_path)
    where r.brain = this_brain() and r.page = $1
      and r.page in (select v.page from visible v) and p.page in (select v.page from visible v)
    order by r.ordinal;
end;

-- The figures of the page $1, if the caller sees it.
create function figures_of(of_page uuid, subjects uuid[], tier text, domains text[])
returns table (name text, value text, unit text, as_of date, source text) language sql stable security definer
begin atomic
    select f.name, f.value, f.unit, f.as_of, f.source
    from figures f
    where f.brain = this_brain() and f.page = $1
      and f.page in (select v.page from visible_pages($2, $3, $4) v)
    order by f.ordinal;
end;

-- Which of the references $1 these subjects may open: the capture recorded last under it admits one of them. A
-- reference that names no capture admits nobody.
create function open_references(named text[], subjects uuid[])
returns table (reference text) language sql stable security definer
begin atomic
    select newest.reference
    from (
        select distinct on (c.reference) c.reference, c.capture, c.everyone, c.principals, c.known
        from captures c
        where c.brain = this_brain() and c.reference = any($1)
        order by c.reference, c.source_seq desc
    ) newest
    left join capture_sights s on s.brain = this_brain() and s.capture = newest.capture
    where not coalesce(s.withdrawn, false)
      and coalesce(s.known, newest.known)
      and cardinality($2) > 0
      and (coalesce(s.everyone, newest.everyone) or coalesce(s.principals, newest.principals) && $2);
end;

-- How many of these bodies have not been embedded and projected whole. It tells nothing but the number.
create function missing_vectors(asked uuid[]) returns bigint language sql stable security definer
begin atomic
    select count(*)
    from unnest($1) as asked (body)
    where not exists (
        select 1 from embedded e
        where e.brain = this_brain() and e.body = asked.body
        group by e.parts
        having count(*) = e.parts
    );
end;

do $$
declare
    signature regprocedure;
    defined boolean;
begin
    for signature, defined in
        select p.oid::regprocedure, p.prosecdef
        from pg_proc p
        where p.pronamespace = current_schema()::regnamespace
          and p.proname = any(array[
              'this_brain', 'visible_pages', 'words_of', 'visible_passages', 'words_arm', 'vectors_exact',
              'vectors_near', 'vector_scores', 'titled_arm', 'passages', 'find_pages', 'page_at', 'relations_of',
              'figures_of', 'open_references', 'missing_vectors'
          ])
    loop
        execute format('revoke all on function %s from public', signature);
        if defined then
            -- Their bodies are bound to tables when they are made, so the path below only serves what they call.
            execute format('alter function %s set search_path = pg_catalog, public, pg_temp', signature);
            execute format('alter function %s set plan_cache_mode = force_custom_plan', signature);
            execute format('alter function %s owner to retrieval_search', signature);
            execute format('grant execute on function %s to retrieval_serve', signature);
        end if;
    end loop;
end
$$;
grant execute on function this_brain() to retrieval_search, retrieval_project, retrieval_serve;
grant execute on function visible_pages(uuid[], text, text[]) to retrieval_search;
grant execute on function words_of(text) to retrieval_serve, retrieval_project;
