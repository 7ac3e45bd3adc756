"""The walls of the schema, read from the catalogue and tried at the door."""

from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from servers import Database

BROKEN_TABLES = """
select c.relname
from pg_class c
where c.relnamespace = 'retrieval'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'migrations'
  and not (
      c.relrowsecurity and c.relforcerowsecurity
      and pg_get_userbyid(c.relowner) = 'migrator'
      and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polqual is not null
                                              and p.polwithcheck is not null)
      and exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'brain' and a.attnotnull)
      and exists (select 1 from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                  where i.indrelid = c.oid and a.attname = 'brain')
      and not exists (select 1 from aclexplode(c.relacl) g where g.grantee = 0)
  )
"""
BROKEN_FUNCTIONS = """
select p.oid::regprocedure::text
from pg_proc p
where p.pronamespace = 'retrieval'::regnamespace
  and (exists (select 1 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.grantee = 0)
       or p.prosecdef and not (pg_get_userbyid(p.proowner) = 'retrieval_search'
                               and exists (select 1 from unnest(p.proconfig) s where s like 'search_path=%')))
"""


@pytest_asyncio.fixture(loop_scope="session")
async def admin(database: Database) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database.dsn("postgres"))
    yield connection
    await connection.close()


async def test_every_table_and_function_stands_behind_its_wall(admin: asyncpg.Connection) -> None:
    assert await admin.fetch(BROKEN_TABLES) == []
    assert await admin.fetch(BROKEN_FUNCTIONS) == []
    roles = "select rolname from pg_roles where rolname like 'retrieval%' and (rolsuper or rolbypassrls)"
    assert await admin.fetch(roles) == []
    assert await admin.fetchval("select rolcanlogin from pg_roles where rolname = 'retrieval_search'") is False


async def test_the_serving_role_reads_no_table_of_the_index(admin: asyncpg.Connection, database: Database) -> None:
    tables = await admin.fetch("""
        select c.relname from pg_class c
        where c.relnamespace = 'retrieval'::regnamespace and c.relkind in ('r', 'v')
          and has_table_privilege('retrieval_serve', c.oid, 'select')
    """)
    access = {"members", "groups", "memberships", "grants", "tokens", "histories", "subjects", "checkpoints"}
    assert {row["relname"] for row in tables} == access
    serve = await asyncpg.connect(database.dsn("retrieval_serve"))
    for table in ("pages", "chunks", "postings", "vectors"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await serve.fetch(f"select * from retrieval.{table}")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await serve.fetch("select * from retrieval.visible_pages(array[]::uuid[], 'admin', null)")
    await serve.close()


async def test_an_arm_refuses_to_run_without_a_brain(database: Database) -> None:
    serve = await asyncpg.connect(database.dsn("retrieval_serve"), server_settings={"search_path": "retrieval, public"})
    calls = (
        "select * from words_arm(array['english:a'], 10, array[$1::uuid], 'admin', null)",
        f"select * from vectors_exact('{[1] * 384}', 'm', 5, array[$1::uuid], 'admin', null)",
        "select * from find_pages('a', 'a', array['a'], 5, array[$1::uuid], 'admin', null)",
        "select * from page_at('a', null, array[$1::uuid], 'admin', null)",
        "select visible_passages(array[$1::uuid], 'admin', null)",
        "select * from open_references(array['capture:a/b'], array[$1::uuid])",
    )
    async with serve.transaction():
        await serve.execute("select set_config('brain.id', $1, true)", str(uuid4()))
        for call in calls:
            await serve.fetch(call, uuid4())
    for call in calls:  # the setting is '' now, not absent: as it is on a pooled connection
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="no brain is set"):
            await serve.fetch(call, uuid4())
    await serve.close()


async def test_a_row_of_another_brain_can_neither_be_written_nor_read(database: Database) -> None:
    mine, other = uuid4(), uuid4()
    project = await asyncpg.connect(
        database.dsn("retrieval_project"), server_settings={"search_path": "retrieval, public"}
    )
    insert = "insert into sizes (brain, chunks, words) values ($1, 1, 1)"
    async with project.transaction():
        await project.execute("select set_config('brain.id', $1, true)", str(mine))
        await project.execute(insert, mine)
    async with project.transaction():
        await project.execute("select set_config('brain.id', $1, true)", str(other))
        assert await project.fetch("select * from sizes") == []
        assert await project.execute("delete from sizes") == "DELETE 0"
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with project.transaction():
                await project.execute(insert, mine)
    assert await project.fetch("select * from sizes") == []
    await project.close()
