-- What visible pages say is open: of themselves, or of a relation whose both ends the caller sees. $1: about these pages
-- alone (null: any), $2 how many at most.
create function contested(about uuid[], most integer, subjects uuid[], tier text, domains text[])
returns table (
    page uuid, path text, title text, reason text, other uuid, other_path text, other_title text
) language sql stable security definer
begin atomic
    with visible as materialized (
        select v.page from visible_pages($3, $4, $5) v
    ),
    said as (
        select p.page, p.path, p.title, 'page_unresolved' as reason, null::uuid as other, null::text as other_path,
               null::text as other_title, -1 as ordinal
        from visible v
        join pages p on p.brain = this_brain() and p.page = v.page
        where p.knowledge = 'unresolved'
        union all
        select p.page, p.path, p.title,
               case when r.knowledge = 'unresolved' then 'relation_unresolved' else 'needs_clarification' end,
               o.page, o.path, o.title, r.ordinal
        from visible v
        join pages p on p.brain = this_brain() and p.page = v.page
        join relations r on r.brain = p.brain and r.page = p.page
        join pages o on o.brain = r.brain and o.live and (o.page = r.target or o.path = r.target_path)
        where (r.knowledge = 'unresolved' or r.verb = 'needs clarification with')
          and o.page in (select w.page from visible w)
    )
    select s.page, s.path, s.title, s.reason, s.other, s.other_path, s.other_title
    from said s
    where $1 is null or s.page = any($1) or s.other = any($1)
    order by s.path, s.ordinal, s.other_path
    limit $2;
end;
revoke all on function contested(uuid[], integer, uuid[], text, text[]) from public;
alter function contested(uuid[], integer, uuid[], text, text[]) set search_path = pg_catalog, public, pg_temp;
alter function contested(uuid[], integer, uuid[], text, text[]) set plan_cache_mode = force_custom_plan;
alter function contested(uuid[], integer, uuid[], text, text[]) owner to retrieval_search;
grant execute on function contested(uuid[], integer, uuid[], text, text[]) to retrieval_serve;
