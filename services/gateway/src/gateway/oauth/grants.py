"""Consents and their secrets: codes, access and refresh tokens. A consent is a fact, a secret is a row."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from access import lookup
from chassis import log, sql
from chassis.postgres import Pool, Pooled, transaction
from contracts.enums import Scope
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId, CommandId, PrincipalId, TokenId, derived, service_principal
from gateway import one_time
from gateway.audit import trail
from gateway.credentials import Credentials
from gateway.ledger import AccessLedger, Change
from gateway.oauth import families, requests, rotation
from gateway.oauth.clients import Client
from gateway.oauth.requests import Authorization
from gateway.oauth.rotation import Kept, Worth

STATEMENTS = sql.load("gateway.oauth", "grants.sql")
CODE_LASTS = timedelta(seconds=60)
ACCESS_LASTS = timedelta(minutes=30)
_REMEMBERED = timedelta(days=1)
"""How long a dead code is known, so that its second use is seen for what it is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What an application is given: both secrets, and which scopes the access token has."""

    access: str
    refresh: str
    scopes: tuple[Scope, ...]


class Grants:
    """Gives, renews and ends what people consented to."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        ledger: AccessLedger,
        credentials: Credentials,
        clock: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._ledger = ledger
        self._credentials = credentials
        self._clock = clock

    async def consent(self, ticket: str, asked: Authorization, person: PrincipalId) -> str:
        """The person says yes: a code for the application. Raises `Refused` unless he is an active member now."""
        command = CommandId(derived(self._brain, "consent", one_time.digest(ticket)))
        family, nobodys = TokenId(derived(command, "token")), one_time.digest(one_time.new_token())
        now = self._clock()

        async def decision(db: Pooled) -> Change:
            member = await lookup.member(db, person)
            return self._ledger.change(families.consent(member, asked.scopes, (family, nobodys), now))

        trail.current().about([family])
        await self._ledger.decide(command, person, decision)
        code = one_time.new_code()
        async with transaction(self._pool, self._brain) as db:
            if await lookup.token(db, family) is None:
                raise Unavailable("the consent is not projected yet")
            await db.execute(
                STATEMENTS.add_code,
                self._brain,
                one_time.digest(code),
                asked.client,
                asked.redirect_uri,
                asked.challenge,
                asked.resource,
                [scope.value for scope in asked.scopes],
                family,
                self._clock() + CODE_LASTS,
            )
        return code

    async def exchange(self, client: Client, code: str, verifier: str, redirect_uri: str) -> Pair:
        """Tokens for a code. Raises `Refused` (invalid_grant): for whatever reason, in the same words."""
        await self._credentials.behind_the_fence()
        digest, now = one_time.digest(code), self._clock()
        async with transaction(self._pool, self._brain) as db:
            row = await db.fetchrow(STATEMENTS.code_by_digest, self._brain, digest)
            _concerns(row)
            worth = rotation.code(_kept(row), client.id, now)
            if row is not None and worth is Worth.GOOD:
                await db.execute(STATEMENTS.use_code, self._brain, digest, now)
                same = redirect_uri in {"", row["redirect_uri"]}
                if same and requests.verifies(verifier, row["challenge"]):
                    pair = await self._give(db, client, row, row["scopes"], now)
                    if pair is not None:
                        return pair
        if row is not None and worth is Worth.STOLEN:
            await self._stolen(row["family"], "code_replayed")
        raise _invalid_grant()

    async def refresh(self, client: Client, token: str, scope: str) -> Pair:
        """A new pair for a refresh token, with the scopes it stands for or fewer. Raises `Refused`."""
        await self._credentials.behind_the_fence()
        digest, now = one_time.digest(token), self._clock()
        async with transaction(self._pool, self._brain) as db:
            row = await db.fetchrow(STATEMENTS.refresh_by_digest, self._brain, digest)
            _concerns(row)
            worth = rotation.refresh(_kept(row), client.id, now)
            if row is not None and worth is Worth.GOOD:
                wanted = _within(scope, row["scopes"])
                await db.execute(STATEMENTS.use_refresh, self._brain, digest, now)
                pair = await self._give(db, client, row, wanted, now)
                if pair is not None:
                    return pair
        if row is not None and worth is Worth.STOLEN:
            await self._stolen(row["family"], "refresh_replayed")
        raise _invalid_grant()

    async def revoke(self, client: Client, token: str) -> None:
        """End the connection that a token belongs to. An unknown one, or another application's, changes nothing."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            family = await db.fetchval(STATEMENTS.family_of, self._brain, one_time.digest(token), client.id)
            consented = None if family is None else await lookup.token(db, family)
        if consented is not None:
            trail.current().acts_for(consented.principal, consented.id, consented.kind.value)
            await self._end(consented.id, consented.principal)

    async def _give(
        self, db: Pooled, client: Client, row: asyncpg.Record, scopes: list[str], now: datetime
    ) -> Pair | None:
        """Both tokens, None where the consent is over or its person has left."""
        await self._drop_old(db, now)
        family = await lookup.token(db, TokenId(row["family"]))
        alive = None if family is None else await lookup.credential(db, self._brain, family.digest, now)
        if family is None or family.expires_at is None or alive is None:
            return None
        trail.current().acts_for(family.principal, family.id, family.kind.value)
        pair = Pair(
            one_time.new_access(), one_time.new_code(), tuple(scope for scope in Scope if scope.value in scopes)
        )
        audience, ends = row["resource"], min(now + ACCESS_LASTS, family.expires_at)
        await db.execute(
            STATEMENTS.add_access,
            self._brain,
            one_time.digest(pair.access),
            client.id,
            audience,
            scopes,
            family.id,
            ends,
        )
        await db.execute(
            STATEMENTS.add_refresh,
            self._brain,
            one_time.digest(pair.refresh),
            client.id,
            audience,
            row["scopes"],
            family.id,
            family.expires_at,
        )
        return pair

    async def _stolen(self, family: UUID, how: str) -> None:
        trail.current().refused(how)
        log.get().warning("oauth_family_ended", reason=how, token=str(family))
        await self._end(TokenId(family), service_principal(self._brain, "gateway"))

    async def _end(self, family: TokenId, actor: PrincipalId) -> None:
        async def decision(db: Pooled) -> Change:
            return self._ledger.change(families.end(await lookup.token(db, family)))

        await self._ledger.decide(CommandId(derived(family, "end")), actor, decision)
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.end_access, self._brain, family)
            await db.execute(STATEMENTS.end_refresh, self._brain, family)

    async def _drop_old(self, db: Pooled, now: datetime) -> None:
        await db.execute(STATEMENTS.drop_old_codes, self._brain, now - _REMEMBERED)
        await db.execute(STATEMENTS.drop_old_access, self._brain, now)
        await db.execute(STATEMENTS.drop_old_refresh, self._brain, now)


def _concerns(row: asyncpg.Record | None) -> None:
    """The audit learns which connection it is about, whatever becomes of the call."""
    trail.current().about([] if row is None else [row["family"]])


def _kept(row: asyncpg.Record | None) -> Kept | None:
    return None if row is None else Kept(row["client"], row["expires_at"], row["used_at"])


def _within(scope: str, granted: list[str]) -> list[str]:
    """The scopes asked for at a refresh. Raises `Refused` (invalid_scope) for one that was not consented to."""
    asked = [text for text in scope.split() if text != requests.OFFLINE]
    if not asked:
        return granted
    if not set(asked) <= set(granted):
        raise Refused("invalid_scope", "A refresh gives no scope beyond those of the consent.", "scope")
    return [scope.value for scope in requests.narrowed(" ".join(asked))]


def _invalid_grant() -> Refused:
    return Refused(
        "invalid_grant",
        "The code or refresh token is not valid for this application, or no longer.",
        "",
        "Connect again.",
    )
