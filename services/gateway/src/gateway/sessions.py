"""Browser sessions and the one-time links that begin them. Rows are operational: nothing here is a fact."""

import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime, timedelta

from chassis import sql
from chassis.postgres import Pool, transaction
from contracts.enums import Role, Tier
from contracts.gateway_messages import Session
from contracts.ids import BrainId, PrincipalId
from gateway import one_time
from gateway.audit import trail

STATEMENTS = sql.load("gateway", "sessions.sql")
LINK_MINUTES = 10
SESSION_DAYS = 7


class Sessions:
    """One-time links in, sessions out."""

    def __init__(self, pool: Pool, brain: BrainId, csrf_key: bytes, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._brain = brain
        self._csrf_key = csrf_key
        self._clock = clock

    async def new_link(self, principal: PrincipalId) -> tuple[str, datetime]:
        """A code that signs this person in once within ten minutes, and when it ends."""
        code, now = one_time.new_code(), self._clock()
        expires = now + timedelta(minutes=LINK_MINUTES)
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.drop_old_links, self._brain, now)
            await db.execute(STATEMENTS.add_link, self._brain, one_time.digest(code), principal, expires)
        return code, expires

    async def begin(self, code: str) -> str | None:
        """Use a link up: the value of a new session's cookie.

        None for a code that is unknown, old or used, or whose person has left.
        """
        cookie, now = one_time.new_code(), self._clock()
        expires = now + timedelta(days=SESSION_DAYS)
        async with transaction(self._pool, self._brain) as db:
            principal = await db.fetchval(STATEMENTS.use_link, self._brain, one_time.digest(code), now)
            if principal is None:
                trail.current().refused("link_spent")
                return None
            trail.current().acts_for(principal)
            await db.execute(STATEMENTS.drop_old_sessions, self._brain, now)
            await db.execute(STATEMENTS.add_session, self._brain, one_time.digest(cookie), principal, now, expires)
        return cookie

    async def find(self, cookie: str) -> Session | None:
        """The signed-in active person behind a cookie."""
        digest = one_time.digest(cookie)
        async with transaction(self._pool, self._brain) as db:
            row = await db.fetchrow(STATEMENTS.session_member, self._brain, digest, self._clock())
        if row is None:
            return None
        csrf = hmac.new(self._csrf_key, digest.encode(), hashlib.sha256).hexdigest()
        return Session(principal=row["id"], name=row["name"], role=Role(row["role"]), tier=Tier(row["tier"]), csrf=csrf)

    async def end(self, cookie: str) -> None:
        """Sign out."""
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.end_session, self._brain, one_time.digest(cookie))
