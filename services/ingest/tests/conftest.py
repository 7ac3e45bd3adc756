from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from chassis.postgres import Pool
from content.keyring import KeyRing
from importing_house import House, housed
from ledgers import Ledger
from servers import Database


@pytest.fixture(scope="session")
def ingest_ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ring") / "ring.json"
    KeyRing.create(path)
    return path


@pytest_asyncio.fixture(loop_scope="session")
async def house(ledger: Ledger, database: Database, archive_pool: Pool, ingest_ring: Path) -> AsyncIterator[House]:
    async with housed(ledger, database, archive_pool, ingest_ring) as found:
        yield found
