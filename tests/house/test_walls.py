"""The database's own walls: one brain never sees another's rows, whatever a statement forgets to ask."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import pytest

from brain.stack.members import LOGIN_ROLES, SCHEMAS, SEARCH_OWNER
from chassis.postgres import Connection
from servers import Database

SCHEMA_NAMES = [schema.name for schema in SCHEMAS]
OF_NO_BRAIN = {"migrations"}
"""Tables that hold nothing of any brain: which files were applied to a schema."""

APPEND_ONLY = {"archive.facts", "gateway.audit_rows", "gateway.audit_seals", "gateway.served"}
ONE_BRAIN = "(brain = (NULLIF(current_setting('brain.id'::text, true), ''::text))::uuid)"
HERE, THERE = UUID("11111111-1111-4111-8111-111111111111"), UUID("22222222-2222-4222-8222-222222222222")

VALUES = {
    "uuid": "gen_random_uuid()",
    "timestamp with time zone": "now()",
    "boolean": "false",
    "bytea": "'\\x00'::bytea",
    "jsonb": "'{}'::jsonb",
    "tsvector": "''::tsvector",
    "date": "current_date",
}
"""A value of each type; text, numbers and arrays are made from their names."""

TABLES = """
select c.oid, n.nspname as schema, c.relname as name, n.nspname || '.' || c.relname as full_name,
       c.relrowsecurity as secured, c.relforcerowsecurity as forced, pg_get_userbyid(c.relowner) as owner
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1::text[]) and c.relkind in ('r', 'p') order by 4
"""


@dataclass(frozen=True, slots=True)
class Table:
    oid: int
    schema: str
    name: str
    full_name: str
    secured: bool
    forced: bool
    owner: str


@pytest.fixture
async def db(migrated: Database) -> AsyncIterator[Connection]:
    """The superuser, whom no wall stops."""
    connection = await asyncpg.connect(migrated.dsn("postgres"))
    yield connection
    await connection.close()


async def _tables(db: Connection) -> list[Table]:
    rows = await db.fetch(TABLES, SCHEMA_NAMES)
    assert {row["schema"] for row in rows} == set(SCHEMA_NAMES)
    return [Table(**row) for row in rows if row["name"] not in OF_NO_BRAIN]


async def test_every_table_is_walled_by_brain_and_owned_by_the_migrator(db: Connection) -> None:
    wrong = {}
    for table in await _tables(db):
        flaws = [
            name
            for name, holds in {
                "row level security": table.secured,
                "forced": table.forced,
                "owned by migrator": table.owner == "migrator",
                "brain is a uuid, never null": await db.fetchval(
                    "select count(*) = 1 from pg_attribute where attrelid = $1 and attname = 'brain'"
                    " and attnotnull and atttypid = 'uuid'::regtype",
                    table.oid,
                ),
                "an index led by brain": await db.fetchval(
                    "select exists (select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid"
                    " and a.attnum = i.indkey[0] where i.indrelid = $1 and a.attname = 'brain'"
                    " and i.indpred is null)",
                    table.oid,
                ),
            }.items()
            if not holds
        ]
        if flaws:
            wrong[table.full_name] = flaws
    assert wrong == {}


async def test_every_policy_lets_one_brain_through_and_only_the_search_owner_sees_more(db: Connection) -> None:
    rows = await db.fetch(
        "select schemaname || '.' || tablename as full_name, roles, cmd, permissive, qual, with_check"
        " from pg_policies where schemaname = any($1::text[])",
        SCHEMA_NAMES,
    )
    walled = {
        row["full_name"]
        for row in rows
        if (row["qual"], row["with_check"], row["cmd"], row["roles"]) == (ONE_BRAIN, ONE_BRAIN, "ALL", ["public"])
    }
    assert {table.full_name for table in await _tables(db)} - walled == set()
    others = [row for row in rows if row["qual"] != ONE_BRAIN]
    assert {(tuple(row["roles"]), row["cmd"]) for row in others} <= {((SEARCH_OWNER,), "SELECT")}


async def test_nothing_is_granted_to_everybody(db: Connection) -> None:
    rows = await db.fetch(
        "select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace,"
        " aclexplode(c.relacl) a where n.nspname = any($1::text[]) and a.grantee = 0"
        " union all select n.nspname from pg_namespace n, aclexplode(n.nspacl) a"
        " where n.nspname = any($1::text[]) and a.grantee = 0",
        SCHEMA_NAMES,
    )
    assert [row["name"] for row in rows] == []


async def test_no_role_that_can_log_in_is_above_the_walls(db: Connection) -> None:
    rows = await db.fetch(
        "select rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles"
        " where rolname = any($1::text[])",
        [*LOGIN_ROLES, SEARCH_OWNER],
    )
    rights = {row["rolname"]: tuple(row.values())[1:] for row in rows}
    assert rights == {
        **dict.fromkeys(LOGIN_ROLES, (True, False, False, False, False, False)),
        SEARCH_OWNER: (False,) * 6,
    }
    members = await db.fetch(
        "select pg_get_userbyid(member) as member from pg_auth_members where pg_get_userbyid(roleid) = $1",
        SEARCH_OWNER,
    )
    assert {row["member"] for row in members} <= {"migrator", "postgres"}


async def test_functions_of_another_owner_have_a_fixed_path_and_are_not_for_everybody(db: Connection) -> None:
    rows = await db.fetch(
        "select p.oid::regprocedure::text as name, pg_get_userbyid(p.proowner) as owner,"
        " coalesce(array_to_string(p.proconfig, ' '), '') as config,"
        " p.proacl is null or exists (select 1 from aclexplode(p.proacl) a where a.grantee = 0) as open"
        " from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where n.nspname = any($1::text[]) and p.prosecdef",
        SCHEMA_NAMES,
    )
    assert rows
    assert [row["name"] for row in rows if "search_path=" not in row["config"] or row["open"]] == []
    assert {row["owner"] for row in rows} == {SEARCH_OWNER}


async def test_every_view_looks_with_the_eyes_of_its_caller(db: Connection) -> None:
    rows = await db.fetch(
        "select n.nspname || '.' || c.relname as name, c.relkind::text as kind,"
        " coalesce(array_to_string(c.reloptions, ' '), '') as options"
        " from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = any($1::text[]) and c.relkind in ('v', 'm')",
        SCHEMA_NAMES,
    )
    assert [row["name"] for row in rows if row["kind"] == "m" or "security_invoker=true" not in row["options"]] == []


async def test_what_is_only_added_to_can_be_changed_by_nobody(db: Connection) -> None:
    for full_name in APPEND_ONLY:
        rows = await db.fetch(
            "select pg_get_userbyid(a.grantee) as role, a.privilege_type as right"
            " from pg_class c, aclexplode(c.relacl) a where c.oid = $1::regclass"
            " and a.privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE') and a.grantee <> c.relowner",
            full_name,
        )
        assert [tuple(row) for row in rows] == []
        for statement in ("update {} set brain = brain", "delete from {}", "truncate {}"):
            async with _rolled_back(db):
                await _insert(db, await _table(db, full_name), HERE)
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await db.execute(statement.format(full_name))


async def test_another_brain_sees_no_row_of_any_table_and_adds_none_to_it(db: Connection) -> None:
    seen = {}
    for table in await _tables(db):
        async with _rolled_back(db):
            insert = await _insert(db, table, HERE)
            for role in await _roles_with(db, table, "SELECT"):
                counts = [await _count(db, table, role, brain) for brain in (HERE, THERE, None)]
                if counts != [1, 0, 0]:
                    seen[f"{table.full_name} as {role}"] = counts
            for role in await _roles_with(db, table, "INSERT"):
                await _become(db, role, THERE)
                with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                    async with db.transaction():
                        await db.execute(insert)
                await db.execute("reset role")
    assert seen == {}


@asynccontextmanager
async def _rolled_back(db: Connection) -> AsyncIterator[None]:
    """A transaction that leaves nothing behind."""
    transaction = db.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


async def _table(db: Connection, full_name: str) -> Table:
    return next(table for table in await _tables(db) if table.full_name == full_name)


async def _insert(db: Connection, table: Table, brain: UUID) -> str:
    """Put one row of `brain` into a table whose checks are taken off first; the statement that did it."""
    rules = await db.fetch("select conname from pg_constraint where conrelid = $1 and contype in ('c', 'f')", table.oid)
    for rule in rules:
        await db.execute(f'alter table {table.full_name} drop constraint "{rule["conname"]}"')
    columns = await db.fetch(
        "select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute"
        " where attrelid = $1 and attnum > 0 and attnotnull"
        " and not attisdropped and attgenerated = '' and attidentity = ''",
        table.oid,
    )
    values = [f"'{brain}'" if column["name"] == "brain" else _value(column["type"]) for column in columns]
    names = ", ".join(f'"{column["name"]}"' for column in columns)
    statement = f"insert into {table.full_name} ({names}) values ({', '.join(values)})"
    await db.execute(statement)
    return statement


def _value(kind: str) -> str:
    if kind.endswith("[]"):
        return "'{}'"
    name, _, size = kind.removesuffix(")").partition("(")
    if name == "halfvec":
        return f"array_fill(1, array[{size or 1}])::halfvec"
    return VALUES.get(name, "'1'")


async def _roles_with(db: Connection, table: Table, right: str) -> list[str]:
    rows = await db.fetch(
        "select distinct pg_get_userbyid(a.grantee)::text as role from pg_class c, aclexplode(c.relacl) a"
        " where c.oid = $1 and a.privilege_type = $2 and a.grantee <> c.relowner",
        table.oid,
        right,
    )
    return [row["role"] for row in rows if row["role"] != SEARCH_OWNER]


async def _become(db: Connection, role: str, brain: UUID | None) -> None:
    await db.execute("select set_config('brain.id', $1, true)", str(brain) if brain else "")
    await db.execute(f'set local role "{role}"')


async def _count(db: Connection, table: Table, role: str, brain: UUID | None) -> int:
    await _become(db, role, brain)
    found: int = await db.fetchval(f"select count(*) from {table.full_name}")
    await db.execute("reset role")
    return found
