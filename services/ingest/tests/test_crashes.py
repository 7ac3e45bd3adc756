"""Ingest dies in the middle of an import, and the same requests, sent again, end it as if nothing had happened."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from chassis.postgres import Pool
from contracts.errors import Unavailable
from contracts.ids import ImportId
from contracts.ingest_messages import Imported, ImportedPart
from eventlog import leader
from importing_house import House, environ, housed
from ledgers import Ledger
from servers import Database

pytestmark = [pytest.mark.service, pytest.mark.timeout(240)]

PARTS = [
    {f"{part}/{number}.md": f"# Page {part}-{number}\n\n{'Words. ' * 400}\n".encode() for number in range(60)}
    for part in range(4)
]


class Process:
    """`python -m ingest`, that can be killed and started again."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._running: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._running = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ingest",
            env=os.environ | self._env,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        assert self._running is not None
        self._running.send_signal(how)
        await self._running.wait()


@pytest_asyncio.fixture(loop_scope="session")
async def mortal(
    ledger: Ledger, database: Database, archive_pool: Pool, ingest_ring: Path
) -> AsyncIterator[tuple[House, Process]]:
    process = Process(environ(ledger, database, ingest_ring))
    async with housed(ledger, database, archive_pool, ingest_ring, inside=False) as house:
        await process.start()
        yield house, process
        await process.kill(signal.SIGTERM)


async def insist(house: House, import_id: ImportId, part: int) -> ImportedPart:
    """Send a part until it is answered, as the console does."""
    while True:
        try:
            return (await house.send(PARTS[part], import_id=import_id, part=part, seconds=2))[1]
        except Unavailable:
            continue


async def insist_on_the_end(house: House, import_id: ImportId) -> Imported:
    while True:
        try:
            return await house.finish(import_id, seconds=2)
        except Unavailable:
            continue


@pytest.mark.parametrize("moment", [0.02, 0.1, 0.2, 0.35])
async def test_an_import_survives_the_death_of_its_service(mortal: tuple[House, Process], moment: float) -> None:
    house, process = mortal
    import_id = ImportId(uuid4())
    told = [await insist(house, import_id, 0)]
    start = await leader.extent(house.nc, "CAP")
    for part in (1, 2, 3):
        sending = asyncio.create_task(insist(house, import_id, part))
        await asyncio.sleep(moment)  # not a wait for anything: it is when the process dies
        await process.kill()
        await process.start()
        told.append(await sending)
    ending = asyncio.create_task(insist_on_the_end(house, import_id))
    await asyncio.sleep(moment)
    await process.kill()
    await process.start()
    done = await ending
    assert [(part.captures, part.unchanged, part.pages, part.refused) for part in told] == [(60, 0, 60, ())] * 4
    assert (await leader.extent(house.nc, "CAP")).last - start.last == 180
    assert (done.pages, len(done.builds), done.refused) == (240, 1, ())
    assert len(house.approvals.written) == 240
    assert {row for (row,) in await house.rows("select count(*) from captures")} == {240}
