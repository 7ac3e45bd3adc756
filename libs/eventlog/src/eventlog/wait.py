"""Read your own writes: wait until a projection has reached a position, in whatever process it runs."""

import asyncio
import time

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.ids import BrainId
from eventlog.follower import Pool

LOOK = 0.25
"""Seconds between looks at the table: announcements can get lost."""


async def position_of(pool: Pool, brain: BrainId, projection: str, table: str = "checkpoints") -> int:
    """How far a projection has come, 0 where it has not begun."""
    async with pool.acquire() as db, db.transaction():
        await db.execute("select set_config('brain.id', $1, true)", str(brain))
        found = await db.fetchval(
            f"select position from {table} where brain = $1 and projection = $2",  # noqa: S608 - a constant of ours
            brain,
            projection,
        )
    return 0 if found is None else int(found)


class Watch:
    """Follows the announcements of one projection, with a look at its checkpoint where they get lost."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId, projection: str, *, table: str = "checkpoints") -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._projection = projection
        self._table = table
        self._position = 0
        self._moved = asyncio.Condition()
        self._starting = asyncio.Lock()
        self._started = False

    async def reached(self, position: int, timeout: float) -> bool:
        """Whether the projection reaches `position` within `timeout` seconds."""
        await self._start()
        deadline = time.monotonic() + timeout
        while self._position < position:
            left = deadline - time.monotonic()
            try:
                async with asyncio.timeout(max(0, min(LOOK, left))), self._moved:
                    await self._moved.wait_for(lambda: self._position >= position)
            except TimeoutError:
                await self._look()
                if self._position < position and left <= LOOK:
                    return False
        return True

    async def _start(self) -> None:
        """Listen, and look once at what was announced before."""
        async with self._starting:
            if not self._started:
                await self._nc.subscribe(subjects.checkpointed(self._projection), cb=self._heard)
                self._started = True
                await self._look()

    async def _look(self) -> None:
        await self._note(await position_of(self._pool, self._brain, self._projection, self._table))

    async def _heard(self, message: Msg) -> None:
        if message.data.isdigit():
            await self._note(int(message.data))

    async def _note(self, position: int) -> None:
        async with self._moved:
            self._position = max(self._position, position)
            self._moved.notify_all()


async def reached(nc: Client, pool: Pool, brain: BrainId, projection: str, position: int, timeout: float) -> bool:
    """One wait, for callers that wait seldom; a service keeps a `Watch`."""
    return await Watch(nc, pool, brain, projection).reached(position, timeout)
