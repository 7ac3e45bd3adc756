from collections.abc import AsyncIterator

import pytest_asyncio

from chassis.postgres import Pool, connect
from servers import Database


@pytest_asyncio.fixture(loop_scope="session")
async def pool(database: Database) -> AsyncIterator[Pool]:
    """A pool into a migrated schema that has the access tables."""
    pool = await connect(database.secret("gateway"), "gateway", service="access-tests", largest=2)
    yield pool
    await pool.close()
