"""A brain for the tests of a module, or one of its own for a test that ends memberships."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from gateway_world import House, settled
from servers import Database, Postgres, fresh


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, postgres_server: Postgres) -> AsyncIterator[House]:
    async with fresh(postgres_server) as database, settled(tmp_path_factory.mktemp("gateway"), database) as house:
        await house.open()
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def house(shared: House) -> AsyncIterator[House]:
    """A brain that alice has opened, shared by a module: use names of your own. Its neighbours are silent at first."""
    yield shared
    await shared.neighbour.falls_silent()


@pytest_asyncio.fixture(loop_scope="session")
async def own_house(tmp_path: Path, database: Database) -> AsyncIterator[House]:
    """A brain that alice has opened, for this test alone."""
    async with settled(tmp_path, database) as house:
        await house.open()
        yield house
