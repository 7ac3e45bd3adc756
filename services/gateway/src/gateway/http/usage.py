"""The console's routes about limits and the meter, for admins."""

from collections.abc import Callable
from datetime import datetime, timedelta

from litestar.handlers import HTTPRouteHandler

from contracts import gateway_api as api
from contracts.errors import Refused
from gateway.credentials import Viewer
from gateway.domain.standing import administrator
from gateway.http.routes import Nothing, Routes
from gateway.limits.rates import settable
from gateway.limits.usage import Usage

LONGEST_DAYS = 400


class Metering:
    """Serves what is set and what was used."""

    def __init__(self, usage: Usage, clock: Callable[[], datetime]) -> None:
        self._usage = usage
        self._clock = clock

    def routes(self, routes: Routes) -> list[HTTPRouteHandler]:
        """Every route with its path, request and server."""
        return [
            routes.reads(api.LIMITS, Nothing, self.limits),
            routes.writes(api.LIMIT_SET, api.NewLimit, self.set_limit),
            routes.reads(api.COSTS, api.CostsOf, self.costs),
        ]

    async def limits(self, viewer: Viewer, _asked: Nothing) -> api.LimitLines:
        """Every limit of the brain."""
        administrator(viewer.member)
        return api.LimitLines(limits=tuple(await self._usage.listed()))

    async def set_limit(self, viewer: Viewer, asked: api.NewLimit) -> api.LimitLines:
        """Set one, or give it back its default."""
        administrator(viewer.member)
        await self._usage.set(settable(asked.name, asked.per_minute), asked.per_minute, viewer.member.id)
        return await self.limits(viewer, Nothing())

    async def costs(self, viewer: Viewer, asked: api.CostsOf) -> api.CostLines:
        """What was used, by day and category."""
        administrator(viewer.member)
        if not 1 <= asked.days <= LONGEST_DAYS:
            raise Refused(
                "days_out_of_range", f"Costs are told for 1 to {LONGEST_DAYS} days.", "days", "Choose a number there."
            )
        since = self._clock().date() - timedelta(days=asked.days - 1)
        return api.CostLines(costs=tuple(await self._usage.costs(since)))
