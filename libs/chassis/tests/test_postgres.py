"""Transactions belong to one brain; migrations are applied once and never edited."""

import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest

from chassis import postgres
from chassis.migrations import BadMigration, Source, migrate
from chassis.postgres import Pool
from chassis.settings import Secret
from servers import Database
from severed import severable

NOTES = """
create table notes (brain uuid not null, body text not null);
alter table notes enable row level security;
alter table notes force row level security;
create policy one_brain on notes
    using (brain = nullif(current_setting('brain.id', true), '')::uuid)
    with check (brain = nullif(current_setting('brain.id', true), '')::uuid);
grant select, insert on notes to {writer};
"""
OURS = UUID("00000000-0000-4000-8000-000000000001")
OTHER = UUID("00000000-0000-4000-8000-000000000002")


async def migrated(database: Database, schema: str, folder: Path) -> list[str]:
    return await migrate(database.secret("migrator"), schema, [Source("notes", folder, {"writer": "drift"})])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_create_notes.sql").write_text(NOTES)
    return tmp_path


@pytest.fixture
async def schema(database: Database) -> str:
    name = f"s_{uuid4().hex.translate(str.maketrans('0123456789', 'ghijklmnop'))}"
    admin = await asyncpg.connect(database.dsn("postgres"))
    await admin.execute(f"create schema {name} authorization migrator; grant usage on schema {name} to drift")
    await admin.close()
    return name


async def test_a_transaction_sees_its_own_brain_and_no_other(database: Database, folder: Path, schema: str) -> None:
    await migrated(database, schema, folder)
    pool = await postgres.connect(database.secret("drift"), schema, service="drift", largest=1)
    async with postgres.transaction(pool, OURS) as connection:
        await connection.execute("insert into notes values ($1, 'ours')", OURS)
    async with postgres.transaction(pool, OTHER) as connection:
        assert await connection.fetch("select * from notes") == []
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("insert into notes values ($1, 'smuggled')", OURS)
    async with pool.acquire() as outside:
        assert await outside.fetch("select * from notes") == []
    async with postgres.transaction(pool, OURS, readonly=True) as connection:
        assert await connection.fetchval("select body from notes") == "ours"
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await connection.execute("insert into notes values ($1, 'late')", OURS)
    await pool.close()


async def test_what_is_cut_off_is_waited_for_once_and_the_pool_heals(database: Database) -> None:
    port, patience = database.server.cluster.port, 5.5

    async def asks(pool: Pool, cut: AbstractContextManager[None]) -> object:
        async with postgres.transaction(pool, OURS) as connection:
            with cut:
                return await connection.fetchval("select current_setting('brain.id')")

    async with severable(port) as proxy:
        dsn = Secret(database.dsn("drift").replace(f":{port}/", f":{proxy.port}/"))
        pool = await postgres.connect(dsn, "drift", service="drift", largest=1, statement_timeout_ms=500)
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            await asks(pool, proxy.severed())
        assert time.monotonic() - started < 1.5 * patience
        assert await asks(pool, nullcontext()) == str(OURS)
        started = time.monotonic()
        with proxy.severed(), pytest.raises(TimeoutError):
            await asks(pool, nullcontext())
        assert time.monotonic() - started < 1.5 * patience
        assert await asks(pool, nullcontext()) == str(OURS)
        await pool.close()


async def test_migrating_again_applies_only_what_is_new(database: Database, folder: Path, schema: str) -> None:
    assert await migrated(database, schema, folder) == ["notes/0001_create_notes.sql"]
    assert await migrated(database, schema, folder) == []
    (folder / "0002_add_title.sql").write_text("alter table notes add title text")
    assert await migrated(database, schema, folder) == ["notes/0002_add_title.sql"]


async def test_an_applied_migration_may_not_change_or_vanish(database: Database, folder: Path, schema: str) -> None:
    await migrated(database, schema, folder)
    applied = folder / "0001_create_notes.sql"
    applied.write_text(NOTES + "-- a remark")
    with pytest.raises(BadMigration, match="has changed"):
        await migrated(database, schema, folder)
    applied.unlink()
    with pytest.raises(BadMigration, match="is gone"):
        await migrated(database, schema, folder)


async def test_a_failing_migration_leaves_nothing_behind(database: Database, folder: Path, schema: str) -> None:
    (folder / "0002_break.sql").write_text("create table half (x int); select nonsense")
    with pytest.raises(BadMigration, match=r"0002_break\.sql"):
        await migrated(database, schema, folder)
    admin = await asyncpg.connect(database.dsn("postgres"))
    assert await admin.fetchval("select count(*) from pg_tables where schemaname = $1", schema) == 0
    await admin.close()


async def test_numbers_have_no_gaps(database: Database, folder: Path, schema: str) -> None:
    (folder / "0003_skip.sql").write_text("select 1")
    with pytest.raises(BadMigration, match="number 0002 is expected"):
        await migrated(database, schema, folder)
