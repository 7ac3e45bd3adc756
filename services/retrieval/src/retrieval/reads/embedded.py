"""Have these bodies been embedded? A promotion waits for the answer, so that it does not land in words only."""

import asyncio
import time

from nats.aio.client import Client
from nats.aio.msg import Msg

from chassis import sql
from chassis.postgres import Pool, transaction
from contracts import subjects
from contracts.ids import BrainId
from contracts.retrieval_messages import AskVectors, Vectors

STATEMENTS = sql.load("retrieval.reads", "embedded.sql")
VECTORS = "retrieval-vectors-v1"
LONGEST = 30.0
"""Seconds that one question waits at most (architecture: a promotion waits no longer)."""
_LOOK = 0.5  # seconds between looks: announcements can get lost


class Embeddings:
    """Answers `ask.retrieval.vectors`."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._arrived = asyncio.Condition()

    async def start(self) -> None:
        """Begin to hear of vectors that were projected."""
        await self._nc.subscribe(subjects.checkpointed(VECTORS), cb=self._heard)

    async def missing(self, asked: AskVectors) -> Vectors:
        """How many bodies lack vectors: at once where none does, else when that is so or `wait` seconds are over."""
        deadline = time.monotonic() + min(asked.wait, LONGEST)
        while True:
            async with transaction(self._pool, self._brain, readonly=True) as db:
                missing: int = await db.fetchval(STATEMENTS.missing_vectors, list(asked.bodies))
            left = deadline - time.monotonic()
            if missing == 0 or left <= 0:
                return Vectors(missing=missing)
            try:
                async with asyncio.timeout(min(left, _LOOK)), self._arrived:
                    await self._arrived.wait()
            except TimeoutError:
                continue

    async def _heard(self, _: Msg) -> None:
        async with self._arrived:
            self._arrived.notify_all()
