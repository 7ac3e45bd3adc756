"""Who stands behind a bearer token, as of now: looked up on every request, behind the fence."""

from collections.abc import Callable
from datetime import datetime

from nats.aio.client import Client

from access import lookup
from access.records import Credential
from chassis.postgres import Pool, transaction
from contracts.errors import Unavailable
from contracts.ids import BrainId
from eventlog import fence
from gateway import one_time
from gateway.ledger import PATIENCE, Projected

LONGEST_SECRET = 128
"""Characters of a credential that are worth hashing."""


Viewer = Credential
"""Whoever asks, with his token. Its `position` lets reads include the last change of access."""


class Credentials:
    """Looks tokens up in this service's own projection."""

    def __init__(
        self, nc: Client, pool: Pool, brain: BrainId, projected: Projected, clock: Callable[[], datetime]
    ) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._projected = projected
        self._clock = clock

    async def behind_the_fence(self) -> None:
        """Wait until everything that narrowed sight before now is projected. Raises `Unavailable`: then refuse."""
        if not await self._projected.reached(await fence.fence(self._nc, self._brain), PATIENCE):
            raise Unavailable("the access projection is behind")

    async def resolve(self, secret: str) -> Viewer | None:
        """The viewer, None for a token that is unknown, expired, revoked, or whose member has left."""
        if not secret.startswith(one_time.TOKEN_PREFIX) or len(secret) > LONGEST_SECRET:
            return None
        await self.behind_the_fence()
        async with transaction(self._pool, self._brain, readonly=True) as db:
            return await lookup.credential(db, self._brain, one_time.digest(secret), self._clock())
