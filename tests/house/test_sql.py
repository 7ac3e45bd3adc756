"""The SQL of the whole house: every statement is named, used and valid, and every table is walled in."""

import re
from pathlib import Path

import asyncpg
import pytest

from brain.stack.members import LOGIN_ROLES, SCHEMAS
from chassis import sql
from servers import Database

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("libs", "services", "cli")
    for path in (ROOT / folder).glob("**/src/**/*.sql")
    if not path.parent.name.endswith("migrations") and path.name != "predicate.sql"
)
OPERATORS = {"setup.sql", "migrations.sql"}  # run by the superuser or before a schema exists, with names put in


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=names)
def test_every_statement_is_named_and_used(path: Path) -> None:
    package = path.parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    code = "\n".join(module.read_text() for module in package.rglob("*.py"))
    unused = [name for name in statements(path) if not re.search(rf"""(\.{name}\b|["']{name}["'])""", code)]
    assert unused == []


def statements(path: Path) -> sql.Statements:
    return sql.parse(names(path), path.read_text())


async def prepare(database: Database, schemas: set[str], statement: str) -> list[str]:
    """Why the statement is valid in none of the schemas; empty where it is in one."""
    complaints = []
    for schema in sorted(schemas):
        connection = await asyncpg.connect(
            database.dsn("postgres"), server_settings={"search_path": f"{schema}, public"}
        )
        try:
            await connection.prepare(statement)
        except asyncpg.PostgresError as error:
            complaints.append(f"{schema}: {error}")
        else:
            return []
        finally:
            await connection.close()
    return complaints


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name not in OPERATORS], ids=names)
async def test_every_statement_is_valid_on_a_migrated_database(path: Path, database: Database) -> None:
    package = path.relative_to(ROOT).parts[1]
    schemas = {schema.name for schema in SCHEMAS}
    if path.relative_to(ROOT).parts[0] == "services":
        schemas &= {package, "content"}
    for name, statement in statements(path).items():
        assert await prepare(database, schemas, statement) == [], name


WALLS = """
select format('%s.%s', n.nspname, c.relname) as name,
    c.relrowsecurity as secured,
    c.relforcerowsecurity as forced,
    pg_get_userbyid(c.relowner) as owner,
    exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polqual is not null) as filters,
    exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polwithcheck is not null) as checks,
    coalesce((select a.attnotnull from pg_attribute a where a.attrelid = c.oid and a.attname = 'brain'), false)
        as branded,
    exists (
        select 1 from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
        where i.indrelid = c.oid and a.attname = 'brain'
    ) as indexed,
    exists (select 1 from aclexplode(c.relacl) g where g.grantee = 0) as public
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and n.nspname = any($1) and c.relname <> 'migrations'
"""


async def test_every_table_is_walled_in_by_brain(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    tables = await connection.fetch(WALLS, [schema.name for schema in SCHEMAS])
    await connection.close()
    assert tables
    wanted = {"secured": True, "forced": True, "owner": "migrator", "filters": True, "checks": True}
    wanted |= {"branded": True, "indexed": True, "public": False}
    wrong = {
        table["name"]: {key: table[key] for key, value in wanted.items() if table[key] != value} for table in tables
    }
    assert {name: reasons for name, reasons in wrong.items() if reasons} == {}


async def test_every_view_asks_with_the_rights_of_who_looks(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    views = await connection.fetch(
        "select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where c.relkind = 'v' and n.nspname = any($1)"
        " and not coalesce('security_invoker=true' = any(c.reloptions), false)",
        [schema.name for schema in SCHEMAS],
    )
    await connection.close()
    assert [view["name"] for view in views] == []


async def test_every_function_with_its_owners_rights_is_closed(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    functions = await connection.fetch(
        "select p.oid::regprocedure::text as name, p.proconfig as settings,"
        " p.proacl is null or exists (select 1 from aclexplode(p.proacl) g where g.grantee = 0) as public"
        " from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where p.prosecdef and n.nspname = any($1)",
        [schema.name for schema in SCHEMAS],
    )
    await connection.close()
    for function in functions:
        assert any(setting.startswith("search_path=") for setting in function["settings"] or []), function["name"]
        assert not function["public"], function["name"]


async def test_no_login_role_is_more_than_it_needs(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    rows = await connection.fetch(
        "select rolname from pg_roles where rolname = any($1)"
        " and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)",
        list(LOGIN_ROLES),
    )
    await connection.close()
    assert [row["rolname"] for row in rows] == []


async def test_without_a_brain_no_role_sees_a_row_and_another_brain_cannot_write(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("migrator"))
    tables = await connection.fetch(
        "select format('%I.%I', schemaname, tablename) as name from pg_tables"
        " where schemaname = any($1) and tablename <> 'migrations'",
        [schema.name for schema in SCHEMAS],
    )
    for table in tables:
        assert await connection.fetchval(f"select count(*) from {table['name']}") == 0, table["name"]
    await connection.close()
