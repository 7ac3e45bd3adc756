from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from approvals_world import World, living
from ledgers import Ledger
from servers import Database


@pytest.fixture
async def world(tmp_path: Path, ledger: Ledger, database: Database) -> AsyncIterator[World]:
    async with living(tmp_path, ledger, database) as world:
        yield world
