"""How often anybody may ask here, who set that and when, and what was used on which day."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from uuid import UUID

import asyncpg

from chassis import log
from chassis.postgres import GONE, Pool, transaction
from contracts import gateway_api
from contracts.ids import BrainId, PrincipalId
from gateway.limits import windows
from gateway.limits.permits import STATEMENTS
from gateway.limits.rates import CEILINGS, Limit

_LOG = log.get(part="limits")


class Usage:
    """Settings of the limits, and the meter. `told` gets every ceiling when one may have changed."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        clock: Callable[[], datetime],
        told: Callable[[Mapping[Limit, int]], None],
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._clock = clock
        self._told = told

    async def listed(self) -> list[gateway_api.LimitLine]:
        """Every limit as it is set, or stands by default."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            rows = {row["name"]: row for row in await db.fetch(STATEMENTS.ceilings, self._brain)}
        lines = []
        for limit, ceiling in CEILINGS.items():
            row = rows.get(limit.value)
            per_minute = None if row is None else row["per_minute"]
            lines.append(
                gateway_api.LimitLine(
                    name=limit.value,
                    per_minute=ceiling.per_minute if per_minute is None else per_minute,
                    default=ceiling.per_minute,
                    counts=ceiling.meaning,
                    changed_by=None if row is None else PrincipalId(row["changed_by"]),
                    changed_at=None if row is None else row["changed_at"],
                )
            )
        return lines

    async def set(self, limit: Limit, per_minute: int | None, by: PrincipalId) -> None:
        """From now on so many, None for the default. Other replicas count addresses so from their next minute on."""
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.set_ceiling, self._brain, limit.value, per_minute, by, self._clock())
        await self.refresh()

    async def refresh(self) -> None:
        """Tell the ceilings as they stand."""
        self._told({Limit(line.name): line.per_minute for line in await self.listed()})

    async def follow(self) -> None:
        """At the start and with every minute: tell the ceilings, and forget windows that are over."""
        while True:
            now = self._clock()
            try:
                await self.refresh()
                async with transaction(self._pool, self._brain) as db:
                    await db.execute(STATEMENTS.drop_old_windows, self._brain, now - timedelta(hours=1))
            except (asyncpg.PostgresError, *GONE) as error:  # the next minute is another try
                _LOG.warning("limits_not_read", error=type(error).__qualname__)
            await asyncio.sleep(windows.wait(now.timestamp()))

    async def ran(self, run: UUID, principal: PrincipalId, tokens: int, *, acted: bool) -> None:
        """One turn of a chat ended. It is billable where it ran a tool that acts. Said twice, it counts once."""
        async with transaction(self._pool, self._brain) as db:
            day = self._clock().date()
            await db.execute(STATEMENTS.add_run, self._brain, run, day, principal, tokens, acted)

    async def costs(self, since: date) -> list[gateway_api.CostLine]:
        """What was used since that day (UTC), the last day first."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            rows = await db.fetch(STATEMENTS.costs, self._brain, since)
        return [gateway_api.CostLine(**row) for row in rows]
