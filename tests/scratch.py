"""A scratch read model, `seen`, in a schema that has checkpoints, and the archive's pools."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from chassis import postgres
from chassis.settings import Secret
from contracts import subjects
from contracts.envelope import Recorded
from eventlog.follower import Connection, Follower, Pool
from eventlog.log import Append
from eventlog.projector import Projection, Projector
from ledgers import Ledger, command, left, someone
from servers import Database

DURABLE = "drift-freshness-v1"


async def remember(db: Connection, facts: Sequence[Recorded[msgspec.Struct]]) -> None:
    await db.executemany(
        "insert into seen (position, member) values ($1, $2)",
        [(fact.position, getattr(fact.fact, "member", None)) for fact in facts],
    )


def projector(ledger: Ledger, pool: Pool) -> Projector:
    projection = Projection(DURABLE, "EVT", frozenset({"member_left"}), remember)
    return Projector(ledger.nc, pool, ledger.brain, projection, ledger.verifier)


@asynccontextmanager
async def running(*followers: Follower) -> AsyncIterator[None]:
    """Run until the block ends, as a crash would: cancelled, with nothing tidied."""
    tasks = [asyncio.create_task(follower.run()) for follower in followers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def say(ledger: Ledger, times: int = 1) -> int:
    """So many facts of one history, in one decision each up to 250."""
    who = someone()
    history = subjects.access(ledger.brain, who)
    facts = tuple((history, left(who)) for _ in range(times))
    return await ledger.log().append_many(Append(command(), who, uuid4(), facts, {history: 0}))


async def seen(pool: Pool) -> list[int]:
    rows = await pool.fetch("select position from seen order by position")
    return [row["position"] for row in rows]


@pytest.fixture(name="pool")
async def scratch_pool(database: Database) -> AsyncIterator[Pool]:
    migrator = await asyncpg.connect(database.dsn("migrator"))
    await migrator.execute("create table drift.seen (position bigint primary key, member uuid)")
    await migrator.execute("grant select, insert on drift.seen to drift")
    await migrator.close()
    found = await postgres.connect(Secret(database.dsn("drift")), "drift", service="drift")
    yield found
    await found.close()


@pytest.fixture
async def archive_pool(database: Database) -> AsyncIterator[Pool]:
    found = await postgres.connect(Secret(database.dsn("archive")), "archive", service="archive")
    yield found
    await found.close()
