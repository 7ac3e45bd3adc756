"""What every command works with: the two logs, the rows folded from them, the content store, one import at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import asyncpg
from nats.aio.client import Client

from access import lookup
from chassis import rpc
from chassis.postgres import Pool, transaction
from content.store import ContentStore
from contracts import subjects
from contracts.access_facts import GateMoved
from contracts.enums import Gate
from contracts.errors import Unavailable
from contracts.ids import BrainId, CommandId, PrincipalId, derived, service_principal
from eventlog import fence, leader
from eventlog.archive import Archived
from eventlog.log import Append, Conflict, EventLog
from eventlog.wait import Watch
from ingest.domain.capture import Event
from ingest.shelf import STATEMENTS

ATTEMPTS = 5
"""How often a decision is made again when what it stands on has moved (architecture: ledger rule 3)."""
PATIENCE = 10.0
"""Seconds that a command waits for the projections to have what the log has; a part of an import may be large."""
NARROWING = 900
"""Facts about sight in one batch; with its gate it stays below the log's limit of 1000."""


@dataclass(frozen=True, slots=True)
class Desk:
    """`captures` and `access` watch ingest's two projections. `key`: of digests of captures."""

    nc: Client
    pool: Pool
    brain: BrainId
    store: ContentStore
    key: bytes
    recordings: EventLog
    sights: EventLog
    captures: Watch
    access: Watch
    archived: Archived
    clock: Callable[[], datetime]
    _one_import: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def importer(self) -> PrincipalId:
        """The principal in whose name pages are proposed."""
        return service_principal(self.brain, "ingest")

    def correlation(self) -> UUID:
        """The id that follows the request being served through everything it causes."""
        request = rpc.current().request
        try:
            return UUID(request)
        except ValueError:
            return derived(self.brain, "request", request)

    async def fresh(self) -> int:
        """Wait until both projections have what the log has; the last position of CAP. Raises `Unavailable`."""
        extent, granted, narrowed = await asyncio.gather(
            leader.extent(self.nc, "CAP"),
            fence.gate(self.nc, self.brain, Gate.ACCESS),
            fence.gate(self.nc, self.brain, Gate.FENCE),
        )
        await self.catch_up(recordings=extent.last, sights=max(granted, narrowed))
        return extent.last

    async def end(self) -> int:
        """EVT's last position. Raises `Unavailable`."""
        return (await leader.extent(self.nc, "EVT")).last

    async def catch_up(self, *, recordings: int = 0, sights: int = 0) -> None:
        """Wait until the rows have these positions of CAP and EVT. Raises `Unavailable`."""
        reached = await asyncio.gather(
            self.captures.reached(recordings, PATIENCE), self.access.reached(sights, PATIENCE)
        )
        if not all(reached):
            raise Unavailable("ingest has not caught up with the log")

    @asynccontextmanager
    async def one_import(self) -> AsyncIterator[None]:
        """One step of one import of this brain at a time, over all replicas.

        A process waits with one connection at most, so that those at work never lack one. Raises `Unavailable` where
        another takes too long.
        """
        name = f"{self.brain}/import"
        async with self._one_import, self.pool.acquire() as db:
            try:
                await db.execute(STATEMENTS.lock_imports, name)
            except (asyncpg.QueryCanceledError, TimeoutError) as error:
                raise Unavailable("another import is at work") from error
            try:
                yield
            finally:
                await db.execute(STATEMENTS.unlock_imports, name)

    async def change_sight(
        self, command: CommandId, by: PrincipalId, facts: Sequence[Event], *, narrowing: bool
    ) -> int:
        """Say who may see captures from now on, in whole batches that move the fence where sight narrows.

        Only inside `one_import`, which keeps these histories still. Returns EVT's position of the last fact, once the
        rows have it. Raises `Unavailable`.
        """
        position = 0
        for start in range(0, len(facts), NARROWING):
            part = facts[start : start + NARROWING]
            written = tuple((subjects.capture_sight(self.brain, fact.capture), fact) for fact in part)
            async with transaction(self.pool, self.brain) as db:
                expected = await lookup.positions(db, {subject for subject, _ in written})
            first = start + start // NARROWING  # each batch before had its gate's fact too
            decision = Append(command, by, self.correlation(), written, expected, first=first)
            position = await (self._past_the_fence(decision) if narrowing else self.sights.append(decision))
        await self.catch_up(sights=position)
        return position

    async def _past_the_fence(self, decision: Append) -> int:
        gate = subjects.gate(self.brain, Gate.FENCE)
        facts = (*decision.facts, (gate, GateMoved(cause=decision.correlation)))
        for _ in range(ATTEMPTS):
            expected = {**decision.expected, gate: await fence.fence(self.nc, self.brain)}
            with suppress(Conflict):
                return await self.sights.append(replace(decision, facts=facts, expected=expected))
        raise Unavailable("others keep narrowing what may be seen; try again")
