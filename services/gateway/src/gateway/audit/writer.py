"""Trails become rows: asynchronously, in batches, from a bounded queue whose callers wait when it is full."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime

from chassis import log, metrics, sql
from chassis.postgres import Pool, transaction
from contracts.errors import Unavailable
from contracts.ids import BrainId
from gateway.audit.operations import Door
from gateway.audit.trail import Trail

ROWS = sql.load("gateway.audit", "rows.sql")
MOST_WAITING = 10_000
"""Rows that wait to be written; beyond that a call waits with its answer."""
MOST_AT_ONCE = 1_000
LINGER = 0.1
"""Seconds that a row waits for company: what a crash of the process may cost."""
_PATIENCE = 5.0
_LAST = 8.0  # seconds for what waits when the process stops; it is ended after 20
_AGAIN = 0.5

_WRITTEN = metrics.counter("gateway_audit_rows_total", "rows of the audit that were written")
_WAITING = metrics.gauge("gateway_audit_waiting_rows", "rows of the audit that wait to be written")
_LOG = log.get(part="audit")


class Audit:
    """The way of a trail into the database. `key` hashes arguments. `most` rows wait at once."""

    def __init__(
        self, pool: Pool, brain: BrainId, key: bytes, clock: Callable[[], datetime], *, most: int = MOST_WAITING
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._key = key
        self._clock = clock
        self._waiting: asyncio.Queue[Trail | None] = asyncio.Queue(most)
        self._together: dict[tuple[Door, str], Trail] = {}
        self._hurry = asyncio.Event()
        self._taken = 0
        self._written = 0
        self._told: list[tuple[int, asyncio.Future[None]]] = []

    def begin(self, door: Door, operation: str, *, writes: bool) -> Trail:
        """The trail of a request that arrives now."""
        return Trail(door=door, operation=operation, writes=writes, at=self._clock(), key=self._key)

    async def leave(self, trail: Trail) -> None:
        """Have a closed trail written. Waits while the queue is full: no row is dropped."""
        await self._waiting.put(trail)
        self._taken += 1
        if self._waiting.qsize() >= MOST_AT_ONCE or self._waiting.full():
            self._hurry.set()

    def leave_together(self, trail: Trail) -> None:
        """Have it written with others of its kind as one row: what an address sends too much of costs no row each."""
        first = self._together.setdefault((trail.door, trail.operation), trail)
        if first is not trail:
            first.requests += 1
            return
        with suppress(asyncio.QueueFull):  # then a batch is under way that takes it along
            self._waiting.put_nowait(None)
            self._taken += 1

    async def flush(self) -> None:
        """Return when all that was left before is written. Raises `Unavailable` where that takes too long."""
        if self._written >= self._taken:
            return
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._told.append((self._taken, written))
        self._hurry.set()
        try:
            await asyncio.wait_for(written, _PATIENCE)
        except TimeoutError:
            raise Unavailable("the audit is not written yet") from None

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write while the block runs; when it is left, everything that waits is written first."""
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self._run())
            try:
                yield
            finally:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST):
                        await self._drained()
                if self._written < self._taken:
                    _LOG.error("audit_rows_lost", rows=self._taken - self._written)
                running.cancel()

    async def _drained(self) -> None:
        while self._written < self._taken:
            with suppress(Unavailable):
                await self.flush()

    async def _run(self) -> None:
        while True:
            batch = [await self._waiting.get()]
            if not self._hurry.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), LINGER)
            self._hurry.clear()
            while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            together, self._together = self._together, {}
            await self._write([*(trail for trail in batch if trail is not None), *together.values()])
            self._written += len(batch)
            _WAITING.set(value=self._waiting.qsize())
            self._tell()

    def _tell(self) -> None:
        reached = [(number, written) for number, written in self._told if number <= self._written]
        self._told = [each for each in self._told if each[0] > self._written]
        for _, written in reached:
            if not written.done():
                written.set_result(None)
        if self._told:
            self._hurry.set()

    async def _write(self, trails: list[Trail]) -> None:
        """Until it is written: without the database the queue fills, and callers wait."""
        while True:
            try:
                await self._write_once(trails)
            except Exception as error:  # noqa: BLE001 - whatever it is, no row is given up
                _LOG.warning("audit_not_written", error=type(error).__qualname__, rows=len(trails))
                await asyncio.sleep(_AGAIN)
            else:
                _WRITTEN.add(amount=len(trails))
                return

    async def _write_once(self, trails: list[Trail]) -> None:
        rows = [_row(self._brain, trail) for trail in trails]
        served = [
            (self._brain, *asked, each.page, each.revision, each.position, each.passage)
            for trail in trails
            for asked in [(trail.at, trail.request, trail.principal, trail.token)]
            for each in trail.served.values()
        ]
        async with transaction(self._pool, self._brain) as db:
            if not any(trail.writes for trail in trails):
                await db.execute(ROWS.lazily)
            await db.executemany(ROWS.add_row, rows)
            if served:
                await db.executemany(ROWS.add_served, served)


def _row(brain: BrainId, trail: Trail) -> tuple[object, ...]:
    return (
        brain,
        trail.at,
        trail.request,
        trail.door.value,
        trail.operation,
        trail.outcome,
        trail.writes,
        trail.principal,
        trail.token,
        trail.kind,
        trail.arguments,
        list(trail.concerned),
        trail.results,
        trail.trust,
        trail.position,
        trail.requests,
    )
