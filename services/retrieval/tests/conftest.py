"""A brain of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from retrieval_world import World, living
from servers import Database


@pytest_asyncio.fixture(loop_scope="session")
async def world(tmp_path: Path, database: Database) -> AsyncIterator[World]:
    async with living(tmp_path, database) as alive:
        yield alive
