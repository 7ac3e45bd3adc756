"""The rule in SQL and the pure rule give the same answer on random worlds, on a real PostgreSQL."""

from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from access import rule
from access.lookup import grants_for
from access.projection import STATEMENTS, columns
from access.rule import Caller, Category, Exact, GrantLine, PageClass, Prefix, Scope
from chassis import sql
from chassis.postgres import Pool, Pooled, transaction
from contracts.enums import Access, Permission, Reach, Tier
from contracts.ids import PrincipalId

PATHS = ["a.md", "a/b.md", "a/b/c.md", "ab/c.md", "b/a.md"]
CATEGORIES = ["x", "y"]
DOMAINS = ["pricing", "org"]
SUBJECTS = [PrincipalId(UUID(int=number)) for number in range(1, 5)]
PREDICATE = sql.load("access", "predicate.sql").visible_pages
WITH_PAGES = """with pages as (
    select $4::uuid as brain, p.* from unnest(
        $5::int[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]
    ) as p (page, path, access, reach, category, domain)
)"""

scopes: st.SearchStrategy[Scope] = st.one_of(
    st.sampled_from(PATHS).map(Exact),
    st.sampled_from(["", "a/", "a/b/", "ab/", "b/"]).map(Prefix),
    st.sampled_from(CATEGORIES).map(Category),
)
grants = st.builds(GrantLine, st.sampled_from(SUBJECTS), scopes, st.sampled_from(Permission))
pages = st.builds(
    PageClass,
    st.sampled_from(PATHS),
    st.sampled_from(Access),
    st.sampled_from(Reach),
    st.none() | st.sampled_from(CATEGORIES),
    st.none() | st.sampled_from(DOMAINS),
)
callers = st.builds(
    Caller,
    principal=st.just(SUBJECTS[0]),
    subjects=st.frozensets(st.sampled_from(SUBJECTS)),
    tier=st.sampled_from(Tier),
    domains=st.none() | st.frozensets(st.sampled_from(DOMAINS)),
)


async def add_grants(db: Pooled, brain: UUID, world: list[GrantLine]) -> None:
    for position, line in enumerate(world, start=1):
        kind, value = columns(line.scope)
        await db.execute(
            STATEMENTS.add_grant, brain, uuid4(), line.subject, kind, value, line.permission.value, position
        )


async def visible(db: Pooled, brain: UUID, caller: Caller, world: list[PageClass]) -> dict[int, int]:
    rows = await db.fetch(
        f"{WITH_PAGES} {PREDICATE}",
        list(caller.subjects),
        caller.tier.value,
        None if caller.domains is None else list(caller.domains),
        brain,
        list(range(len(world))),
        [page.path for page in world],
        [page.access.value for page in world],
        [page.reach.value for page in world],
        [page.category for page in world],
        [page.domain for page in world],
    )
    return {row["page"]: row["rank"] for row in rows}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=st.lists(grants, max_size=6), world=st.lists(pages, max_size=6), caller=callers)
async def test_sql_and_the_pure_rule_agree_on_every_world(
    pool: Pool, held: list[GrantLine], world: list[PageClass], caller: Caller
) -> None:
    brain = uuid4()
    async with transaction(pool, brain) as db:
        await add_grants(db, brain, held)
        assert sorted(map(repr, await grants_for(db, SUBJECTS))) == sorted(map(repr, held))
        expected = {
            number: rule.rank(permission)
            for number, page in enumerate(world)
            if (permission := rule.permission(held, caller, page)) is not None
        }
        assert await visible(db, brain, caller, world) == expected


async def test_another_brains_grants_do_not_count(pool: Pool) -> None:
    mine, theirs = uuid4(), uuid4()
    async with transaction(pool, theirs) as db:
        await add_grants(db, theirs, [GrantLine(SUBJECTS[0], Prefix(""), Permission.APPROVE)])
    page = PageClass("a.md", Access.PUBLIC, Reach.ORDINARY)
    caller = Caller(SUBJECTS[0], frozenset(SUBJECTS), Tier.ADMIN)
    async with transaction(pool, mine) as db:
        assert await visible(db, mine, caller, [page]) == {}
        assert await grants_for(db, SUBJECTS) == []
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with db.transaction():
                await add_grants(db, theirs, [GrantLine(SUBJECTS[0], Prefix(""), Permission.READ)])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("exact", "a/**"),
        ("exact", "A.md"),
        ("exact", "../a.md"),
        ("prefix", "a"),
        ("prefix", "/"),
        ("category", ""),
        ("category", "a/b"),
        ("category", "a\nb"),
        ("both", "a.md"),
    ],
)
async def test_the_table_refuses_a_grant_outside_the_grammar(pool: Pool, kind: str, value: str) -> None:
    brain = uuid4()
    async with transaction(pool, brain) as db:
        with pytest.raises(asyncpg.CheckViolationError):
            await db.execute(STATEMENTS.add_grant, brain, uuid4(), SUBJECTS[0], kind, value, "read", 1)
