"""A brain of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from gateway_world import House, settled
from servers import Database


@pytest_asyncio.fixture(loop_scope="session")
async def house(tmp_path: Path, database: Database) -> AsyncIterator[House]:
    """A brain that alice has opened."""
    async with settled(tmp_path, database) as settled_house:
        await settled_house.open()
        yield settled_house
