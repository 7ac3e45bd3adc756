"""Commands about tokens and sign-ins. A secret leaves this service once, in the reply to the command that made it."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from access import lookup
from chassis.postgres import Pool, Pooled, transaction
from content.bodies import Put, Slot
from content.store import ContentStore
from contracts import gateway_messages as messages
from contracts.content import ContentRef
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId, CommandId, PrincipalId, TokenId, content_id, derived, service_principal
from contracts.replies import Accepted
from gateway import one_time
from gateway.domain import tokens
from gateway.domain.standing import Said
from gateway.ledger import AccessLedger, Change
from gateway.sessions import Sessions


class Tokens:
    """Serves the commands that issue and end credentials."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        ledger: AccessLedger,
        sessions: Sessions,
        store: ContentStore,
        clock: Callable[[], datetime],
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._ledger = ledger
        self._sessions = sessions
        self._store = store
        self._clock = clock

    async def issue(self, asked: messages.IssueToken) -> messages.Issued:
        """A token for the asker himself, or for a service."""
        wanted = (asked.kind, asked.tier, frozenset(asked.scopes))
        tokens.only_domains(asked.kind, asked.domains)
        domains = await self._keep(asked) if asked.domains else None

        async def said(db: Pooled, fresh: tuple[TokenId, str], now: datetime) -> list[Said]:
            by = await lookup.member(db, asked.by)
            holder = await lookup.member_by_name(db, asked.service) if asked.service else by
            return tokens.issue(by, holder, wanted, fresh, now, asked.days, domains)

        return await self._issue(asked.command, asked.by, said)

    async def sign_in(self, asked: messages.SignIn) -> messages.Issued:
        """The operator's: a sign-in for a person, stored on the machine or by a one-time link of ten minutes."""
        if asked.link:
            async with transaction(self._pool, self._brain) as db:
                person = tokens.signs_in(await lookup.member_by_name(db, asked.name))
            code, expires = await self._sessions.new_link(person.id)
            return messages.Issued(
                token=TokenId(asked.command), secret=code, position=0, archived=True, expires_at=expires
            )

        async def said(db: Pooled, fresh: tuple[TokenId, str], now: datetime) -> list[Said]:
            return tokens.sign_in(await lookup.member_by_name(db, asked.name), fresh, now)

        return await self._issue(asked.command, service_principal(self._brain, "operator"), said)

    async def revoke(self, asked: messages.RevokeToken) -> Accepted:
        """Kill a token, from the next request on."""

        async def decision(db: Pooled) -> Change:
            by = await lookup.member(db, asked.by)
            said = tokens.revoke(by, await lookup.token(db, asked.token), asked.token)
            return self._ledger.change(said)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return Accepted(landed.position, landed.archived)

    async def _issue(
        self,
        command: CommandId,
        actor: PrincipalId,
        said: Callable[[Pooled, tuple[TokenId, str], datetime], Awaitable[list[Said]]],
    ) -> messages.Issued:
        secret, now = one_time.new_token(), self._clock()
        fresh = (TokenId(derived(command, "token")), one_time.digest(secret))

        async def decision(db: Pooled) -> Change:
            if await lookup.token(db, fresh[0]) is not None:
                raise _shown_once()
            return self._ledger.change(await said(db, fresh, now))

        landed = await self._ledger.decide(command, actor, decision)
        async with transaction(self._pool, self._brain) as db:
            kept = await lookup.token(db, fresh[0])
        if kept is None:
            raise Unavailable("the token was issued and is not projected yet; revoke it and issue another")
        if kept.digest != fresh[1]:  # an earlier try of this command made the token, and its secret was shown then
            raise _shown_once()
        return messages.Issued(
            token=kept.id,
            secret=secret,
            position=landed.position,
            archived=landed.archived,
            expires_at=kept.expires_at,
        )

    async def _keep(self, asked: messages.IssueToken) -> ContentRef | None:
        """The domains as a stored text, as they name what the brain knows about; nobody but a member stores one."""
        body = msgspec.json.encode(sorted(set(asked.domains)))
        async with transaction(self._pool, self._brain) as db:
            by = await lookup.member(db, asked.by)
            if by is None or not by.active:
                return None  # the decision refuses
            (ref,) = await self._store.put(
                db, self._brain, [Put(content_id(asked.command, "domains"), body, Slot.SCOPE)]
            )
        return ref


def _shown_once() -> Refused:
    return Refused("already_issued", "This command has issued its token, which is shown once.", "command", "Ask anew.")
