"""Who stands behind a bearer token, as of now: looked up on every request, behind the fence."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from nats.aio.client import Client

from access import lookup
from access.records import Credential, Member, Token
from access.rule import Caller
from chassis import sql
from chassis.postgres import Pool, Pooled, transaction
from contracts.errors import Unavailable
from contracts.ids import BrainId
from eventlog import fence
from gateway import one_time
from gateway.ledger import PATIENCE, Projected

STATEMENTS = sql.load("gateway", "credentials.sql")
LONGEST_SECRET = 128
"""Characters of a credential that are worth hashing."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whoever asks: his token, the active member it acts for, and the caller that they make.

    `position`: where access last changed, so that reads include it. `oauth`: an application asks, on a consent of
    the member that he can be asked to widen.
    """

    token: Token
    member: Member
    caller: Caller
    position: int
    oauth: bool = False


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

    async def resolve(self, secret: str, audience: str = "") -> Viewer | None:
        """The viewer, None for a token that is unknown, expired, revoked, or whose member has left.

        `audience`: the resource that is asked for, where applications may come with an access token for it.
        """
        if not secret.startswith(one_time.TOKEN_PREFIX) or len(secret) > LONGEST_SECRET:
            return None
        await self.behind_the_fence()
        async with transaction(self._pool, self._brain, readonly=True) as db:
            if audience and secret.startswith(one_time.ACCESS_PREFIX):
                return await self._consented(db, one_time.digest(secret), audience)
            return _viewer(await lookup.credential(db, self._brain, one_time.digest(secret), self._clock()))

    async def _consented(self, db: Pooled, digest: str, audience: str) -> Viewer | None:
        """Behind an access token: whoever stands behind its consent, with its own scopes."""
        now = self._clock()
        row = await db.fetchrow(STATEMENTS.access_by_digest, self._brain, digest, audience, now)
        found = None if row is None else _viewer(await lookup.credential(db, self._brain, row["digest"], now))
        if row is None or found is None:
            return None
        held = frozenset(scope for scope in found.caller.scopes if scope.value in row["scopes"])
        return replace(found, caller=replace(found.caller, scopes=held), oauth=True)


def _viewer(found: Credential | None) -> Viewer | None:
    return None if found is None else Viewer(found.token, found.member, found.caller, found.position)
