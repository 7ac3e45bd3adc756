"""The second copy: chained, insert-only, compared with the stream."""

import asyncpg
import pytest

from chassis import postgres
from chassis.settings import Secret
from eventlog import leader
from eventlog.archive import Archived, Archiver
from eventlog.follower import Pool
from eventlog.verify import verify
from ledgers import Ledger
from scratch import running, say
from servers import Database


async def test_a_position_is_confirmed_once_it_is_archived(
    ledger: Ledger, archive_pool: Pool, database: Database
) -> None:
    waiting = await postgres.connect(Secret(database.dsn("gateway")), "gateway", service="gateway")
    archived = Archived(ledger.nc, waiting, ledger.brain)
    last = await say(ledger, 3)
    assert not await archived.wait("EVT", last, 0.05)
    async with running(Archiver(ledger.nc, archive_pool, ledger.brain, "EVT")):
        assert await archived.wait("EVT", last, 15)
    await waiting.close()


async def test_archive_and_stream_agree_message_by_message(ledger: Ledger, archive_pool: Pool) -> None:
    last = await say(ledger, 600)
    archiver = Archiver(ledger.nc, archive_pool, ledger.brain, "EVT")
    async with running(archiver):
        assert await archiver.reached(last, 15)
    async with postgres.transaction(archive_pool, ledger.brain) as db:
        found = await verify(ledger.nc, db, ledger.brain, "EVT")
    assert (found.facts, found.archived, found.broken) == (600, last, [])
    assert found.head != "00" * 32


async def test_a_changed_archive_row_breaks_the_chain(ledger: Ledger, archive_pool: Pool, database: Database) -> None:
    last = await say(ledger, 5)
    archiver = Archiver(ledger.nc, archive_pool, ledger.brain, "EVT")
    async with running(archiver):
        assert await archiver.reached(last, 15)
    admin = await asyncpg.connect(database.dsn("postgres"))
    await admin.execute("alter table archive.facts disable trigger all")
    await admin.execute("update archive.facts set body = body || ' '::bytea where position = $1", last - 2)
    await admin.close()
    async with postgres.transaction(archive_pool, ledger.brain) as db:
        found = await verify(ledger.nc, db, ledger.brain, "EVT")
    assert {broken.position for broken in found.broken} == {last - 2}
    assert any("chain" in broken.what for broken in found.broken)


@pytest.mark.parametrize(
    "change",
    ["update facts set subject = 'x'", "delete from facts", "truncate facts"],
    ids=["update", "delete", "truncate"],
)
async def test_the_archive_is_insert_only_even_for_its_owner(
    ledger: Ledger, archive_pool: Pool, database: Database, change: str
) -> None:
    last = await say(ledger)
    archiver = Archiver(ledger.nc, archive_pool, ledger.brain, "EVT")
    async with running(archiver):
        assert await archiver.reached(last, 15)
    async with postgres.transaction(archive_pool, ledger.brain) as db:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with db.transaction():
                await db.execute(change)
    owner = await asyncpg.connect(database.dsn("migrator"), server_settings={"search_path": "archive"})
    await owner.execute("select set_config('brain.id', $1, false)", str(ledger.brain))
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="insert-only"):
        await owner.execute(change)
    await owner.close()


async def test_younger_facts_than_the_archive_are_no_error(ledger: Ledger, archive_pool: Pool) -> None:
    first = await say(ledger)
    archiver = Archiver(ledger.nc, archive_pool, ledger.brain, "EVT")
    async with running(archiver):
        assert await archiver.reached(first, 15)
    await say(ledger)
    async with postgres.transaction(archive_pool, ledger.brain) as db:
        found = await verify(ledger.nc, db, ledger.brain, "EVT")
    assert found.broken == []
    assert found.position == (await leader.extent(ledger.nc, "EVT")).last
