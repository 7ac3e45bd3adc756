"""A permit before anything is done for a caller: counted for all replicas in one call, which writes the meter too."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from uuid import UUID

import asyncpg

from chassis import log, sql
from chassis.postgres import Pool
from contracts.errors import Unavailable
from contracts.ids import BrainId
from gateway.credentials import Viewer
from gateway.limits.rates import CEILINGS, REFUSED, WRITES, Limit, Throttled

STATEMENTS = sql.load("gateway.limits", "permits.sql")
_FULL = (asyncpg.InsufficientResourcesError, asyncpg.ReadOnlySQLTransactionError)
"""The database answers, and takes nothing down: its disk is full, or it only stands by."""
_FULL_SECONDS = 5
_LOG = log.get(part="limits")

Take = Callable[[Viewer, Limit, str | None], Awaitable[None]]
"""Takes a permit of this kind for this viewer, and meters a call of the tool that is named. Raises `Throttled`."""


class Permits:
    """Takes permits. `clock` gives None where the database's clock counts, the one that replicas share."""

    def __init__(self, pool: Pool, brain: BrainId, clock: Callable[[], datetime | None] = lambda: None) -> None:
        self._pool = pool
        self._brain = brain
        self._clock = clock

    async def take(self, viewer: Viewer, limit: Limit, tool: str | None = None) -> None:
        """Count one call, or raise `Throttled`. A `tool` is metered with it: as a call, or as a refused one.

        The function sets the brain for its own statement, so that this is one round trip. What cannot be counted is
        not served: raises `Unavailable` where nothing can be written, and what a database raises that is gone.
        """
        holders: dict[Limit, UUID] = {limit: viewer.member.id}
        if limit is Limit.PROPOSE:
            holders.update(zip(WRITES, (viewer.token.id, self._brain), strict=True))
        try:
            row = await self._pool.fetchrow(
                STATEMENTS.take_permit,
                self._brain,
                self._clock(),
                [each.value for each in holders],
                list(holders.values()),
                [CEILINGS[each].per_minute for each in holders],
                viewer.member.id,
                tool,
            )
        except _FULL as error:
            _LOG.warning("permit_not_written", error=type(error).__qualname__)
            raise Unavailable("calls cannot be counted", _FULL_SECONDS) from error
        if row is not None and row["limit_reached"] is not None:
            reached = Limit(row["limit_reached"])
            REFUSED.add(reached.value)
            raise Throttled(reached, row["retry_after"])


async def freely(_viewer: Viewer, _limit: Limit, _tool: str | None) -> None:
    """A permit for anything: what an exchange without a brain behind it has."""
