"""What every command and query works with, and how a decision is carried out: load, decide, append, write the rows."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg
import structlog
from nats.aio.client import Client

from approvals.ledger.bodies import Bodies
from approvals.ledger.projector import Apply
from chassis.postgres import Pool, Pooled, transaction
from content.store import ContentStore
from contracts.enums import Gate
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId
from eventlog import leader
from eventlog.archive import Archived
from eventlog.fence import gate
from eventlog.log import Append, Conflict, EventLog
from eventlog.wait import Watch

ATTEMPTS = 5
"""How often a decision is decided again when what it stands on has moved (architecture: rule 3)."""
PATIENCE = 2.0
"""Seconds that a request waits for the fold to reach what it must know."""
ARCHIVE_PATIENCE = 2.0
"""Seconds that an acknowledgement waits for the second copy."""

_LOG = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Desk:
    """The log, the fold and the store of one brain. `access` and `ledger` watch the two projections of this schema."""

    nc: Client
    pool: Pool
    brain: BrainId
    store: ContentStore
    bodies: Bodies
    log: EventLog
    archived: Archived
    access: Watch
    ledger: Watch
    write: Apply
    clock: Callable[[], datetime]

    async def fresh(self) -> None:
        """Wait until rights and pages are as the log's leader has them, as every request may demand.

        Raises `Unavailable`: no answer means refuse.
        """
        rights, narrowed = await asyncio.gather(
            gate(self.nc, self.brain, Gate.ACCESS), gate(self.nc, self.brain, Gate.FENCE)
        )
        await self._reach(max(rights, narrowed))

    async def catch_up(self, position: int) -> None:
        """Wait until the fold has reached a position, or the log's end where the position is not known (0)."""
        await self._reach(position or (await leader.extent(self.nc, "EVT")).last)

    async def _reach(self, position: int) -> None:
        reached = await asyncio.gather(self.access.reached(position, PATIENCE), self.ledger.reached(position, PATIENCE))
        if not all(reached):
            raise Unavailable("approvals has not caught up with the log")

    async def archive(self, position: int) -> bool:
        """Whether the second copy of a position is durable."""
        return await self.archived.wait("EVT", position, ARCHIVE_PATIENCE)

    async def carry_out(self, decide: Callable[[Pooled], Awaitable[Append | None]]) -> int | None:
        """Decide on the fold and append; the position of the last fact, or None where nothing had to be said.

        A refusal is told only once it stands on everything that the log has.
        """
        caught_up = False
        for _ in range(ATTEMPTS):
            try:
                async with transaction(self.pool, self.brain) as db:
                    decision = await decide(db)
                if decision is None:
                    return None
                return (await self.say([decision]))[0]
            except Refused:
                if caught_up:
                    raise
                caught_up = True
                await self.catch_up(0)
            except Conflict as conflict:
                await self.catch_up(conflict.last)
        raise Unavailable("others keep changing the same thing; try again")

    async def say(self, decisions: Sequence[Append], within: "Pooled | None" = None) -> list[int]:
        """Append decisions together and write their rows at once. Raises `Conflict` and `Unavailable`.

        The rows are the projector's own, guarded the same way; should writing them fail here, it will do it. `within`:
        the transaction that they are written in, where the caller holds one that nothing else is written in.
        """
        appended = await self.log.append_together(decisions)
        facts = [fact for each in appended for fact in each]
        try:
            if within is not None:
                await self.write(within, facts)
            else:
                async with transaction(self.pool, self.brain) as db:
                    await self.write(db, facts)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
            _LOG.warning("rows_left_to_projector", position=facts[-1].position, error=type(error).__qualname__)
        return [each[-1].position for each in appended]
