"""Authorizations that wait for a person: a ticket in the address of the page, the request in the database."""

from collections.abc import Callable
from datetime import datetime, timedelta

import asyncpg

from chassis.postgres import Pool, transaction
from contracts.enums import Scope
from contracts.ids import BrainId
from gateway import one_time
from gateway.oauth.grants import STATEMENTS
from gateway.oauth.requests import Authorization

WAITING = timedelta(minutes=30)
"""How long a person has to sign in and decide: time to ask somebody for a sign-in link."""


class Waiting:
    """Keeps requests until they are answered, once."""

    def __init__(self, pool: Pool, brain: BrainId, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._brain = brain
        self._clock = clock

    async def add(self, asked: Authorization) -> str:
        """Keep a request; its ticket."""
        ticket, now = one_time.new_code(), self._clock()
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.drop_old_requests, self._brain, now)
            await db.execute(
                STATEMENTS.add_request,
                self._brain,
                one_time.digest(ticket),
                asked.client,
                asked.client_name,
                asked.client_host,
                asked.redirect_uri,
                asked.state,
                asked.challenge,
                asked.resource,
                [scope.value for scope in asked.scopes],
                now + WAITING,
            )
        return ticket

    async def find(self, ticket: str) -> Authorization | None:
        """The request of this ticket, None where it was answered, is over, or never was."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            row = await db.fetchrow(STATEMENTS.open_request, self._brain, one_time.digest(ticket), self._clock())
        return None if row is None else _request(row)

    async def take(self, ticket: str) -> Authorization | None:
        """The same, and it is answered now: no second answer will find it."""
        async with transaction(self._pool, self._brain) as db:
            row = await db.fetchrow(STATEMENTS.use_request, self._brain, one_time.digest(ticket), self._clock())
        return None if row is None else _request(row)


def _request(row: asyncpg.Record) -> Authorization:
    return Authorization(
        client=row["client"],
        client_name=row["client_name"],
        client_host=row["client_host"],
        redirect_uri=row["redirect_uri"],
        state=row["state"],
        challenge=row["challenge"],
        resource=row["resource"],
        scopes=tuple(scope for scope in Scope if scope.value in row["scopes"]),
    )
