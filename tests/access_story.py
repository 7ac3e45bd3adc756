"""Access facts of one brain, told in order and projected, for tests of what follows from them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from access.projection import applying
from chassis.postgres import Pool, Pooled, transaction
from contracts import access_facts as facts
from contracts import codec, subjects
from contracts.content import ContentRef
from contracts.enums import Permission, PrincipalKind, Role, Tier, TokenKind
from contracts.enums import Scope as TokenScope
from contracts.envelope import Recorded
from contracts.ids import BrainId, ContentId, FactId, GrantId, PrincipalId, TokenId

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Texts:
    """Bodies by id, as the content store would return them."""

    def __init__(self) -> None:
        self._texts: dict[ContentId, bytes] = {}

    def keep(self, body: bytes) -> ContentRef:
        ref = ContentRef(ContentId(uuid4()), "0" * 64)
        self._texts[ref.id] = body
        return ref

    async def get(self, _db: Pooled, _brain: BrainId, refs: Sequence[ContentRef]) -> Mapping[ContentId, bytes]:
        return {ref.id: self._texts[ref.id] for ref in refs}


class Story:
    """Facts of one brain in order."""

    def __init__(self) -> None:
        self.brain = BrainId(uuid4())
        self.texts = Texts()
        self.recorded: list[Recorded[msgspec.Struct]] = []

    def say(self, subject: str, fact: msgspec.Struct) -> None:
        position = len(self.recorded) + 1
        envelope = codec.seal(
            fact,
            id=FactId(uuid4()),
            brain=self.brain,
            actor=PrincipalId(uuid4()),
            occurred_at=NOW,
            correlation=uuid4(),
        )
        self.recorded.append(Recorded(position, subject, envelope, fact))

    def join(self, name: str, kind: PrincipalKind = PrincipalKind.PERSON, tier: Tier = Tier.EMPLOYEE) -> PrincipalId:
        member = PrincipalId(uuid4())
        profile = self.texts.keep(msgspec.json.encode({"name": name}))
        fact = facts.MemberJoined(member=member, kind=kind, profile=profile, role=Role.MEMBER, tier=tier)
        self.say(subjects.access(self.brain, member), fact)
        return member

    def grant(self, subject: PrincipalId, scope: str, permission: Permission = Permission.READ) -> GrantId:
        grant = GrantId(uuid4())
        body = self.texts.keep(scope.encode())
        fact = facts.Granted(grant=grant, subject=subject, scope=body, permission=permission)
        self.say(subjects.access(self.brain, subject), fact)
        return grant

    def issue(
        self,
        principal: PrincipalId,
        tier: Tier,
        digest: str,
        expires_at: datetime | None = None,
        domains: tuple[str, ...] = (),
    ) -> TokenId:
        token = TokenId(uuid4())
        bound = self.texts.keep(msgspec.json.encode(domains)) if domains else None
        fact = facts.TokenIssued(
            token=token,
            principal=principal,
            kind=TokenKind.AGENT if domains else TokenKind.PERSON,
            tier=tier,
            scopes=(TokenScope.READ,),
            digest=digest,
            expires_at=expires_at,
            domains=bound,
        )
        self.say(subjects.access(self.brain, principal), fact)
        return token

    def open(self) -> None:
        name = self.texts.keep(b'{"name":"brain"}')
        self.say(subjects.brain_itself(self.brain), facts.BrainOpened(name=name))

    async def project(self, pool: Pool, start: int = 0, end: int | None = None) -> None:
        async with transaction(pool, self.brain) as db:
            await applying(self.texts)(db, self.recorded[start:end])
