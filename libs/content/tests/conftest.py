"""A key ring, a brain, and transactions on it as any role."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from chassis import postgres
from content.keyring import KeyRing
from content.store import ContentStore
from contracts.ids import BrainId
from servers import Database

Acting = Callable[[str, BrainId], AbstractAsyncContextManager[postgres.Pooled]]


@pytest.fixture
def brain() -> BrainId:
    return BrainId(uuid4())


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing.create(tmp_path / "keyring.json")


@pytest.fixture
def store(ring: KeyRing) -> ContentStore:
    return ContentStore(ring)


@pytest.fixture
def acting(database: Database) -> Acting:
    @asynccontextmanager
    async def begin(role: str, brain: BrainId) -> AsyncIterator[postgres.Pooled]:
        pool = await postgres.connect(database.secret(role), "content", service="test", largest=1)
        try:
            async with postgres.transaction(pool, brain) as db:
                yield db
        finally:
            await pool.close()

    return begin
