"""The access tables of one schema, kept by the facts that gateway says."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from access.scopes import Category, Exact, Prefix, Scope, parse_scope
from chassis import sql
from chassis.postgres import Pooled
from contracts import access_facts as facts
from contracts.catalogue import wire_type
from contracts.content import ContentRef
from contracts.envelope import Recorded
from contracts.ids import BrainId, ContentId, everyone

HEARS = frozenset(
    wire_type(shape)
    for shape in (
        facts.BrainOpened,
        facts.MemberJoined,
        facts.MemberLeft,
        facts.RoleChanged,
        facts.GroupChanged,
        facts.Granted,
        facts.Revoked,
        facts.TokenIssued,
        facts.TokenRevoked,
        facts.GateMoved,
    )
)
"""The wire types that the access projection of every schema follows."""

EVERYONE = "everyone"
"""The name of the group of all active human members."""

STATEMENTS = sql.load("access", "projection.sql")

Apply = Callable[[Pooled, Sequence[Recorded[msgspec.Struct]]], Awaitable[None]]


class Bodies(Protocol):
    """Where names and scopes are read: the content store."""

    async def get(self, db: Pooled, brain: BrainId, refs: Sequence[ContentRef]) -> Mapping[ContentId, bytes]:
        """Every body asked for, its commitment verified."""
        ...


class _Profile(msgspec.Struct):
    name: str


def applying(bodies: Bodies) -> Apply:
    """How a batch of access facts becomes rows, inside one transaction of the brain."""

    async def apply(db: Pooled, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        if not recorded:
            return
        brain = recorded[0].envelope.brain
        refs = [ref for one in recorded if (ref := _content(one.fact)) is not None]
        texts = await bodies.get(db, brain, refs) if refs else {}
        for one in recorded:
            await _project(db, brain, one.position, one.fact, texts)
        last = {one.subject: one.position for one in recorded}
        await db.executemany(STATEMENTS.note_history, [(brain, subject, last[subject]) for subject in sorted(last)])

    return apply


def columns(scope: Scope) -> tuple[str, str]:
    """A scope as its two columns: kind and value."""
    match scope:
        case Exact(path):
            return "exact", path
        case Prefix(prefix):
            return "prefix", prefix
        case Category(name):
            return "category", name


def _content(fact: msgspec.Struct) -> ContentRef | None:
    match fact:
        case facts.MemberJoined(profile=ref) | facts.GroupChanged(profile=ref) | facts.Granted(scope=ref):
            return ref
        case facts.TokenIssued(domains=domains):
            return domains
        case _:
            return None


def _name(texts: Mapping[ContentId, bytes], ref: ContentRef) -> str:
    return msgspec.json.decode(texts[ref.id], type=_Profile).name


async def _project(
    db: Pooled, brain: BrainId, position: int, fact: msgspec.Struct, texts: Mapping[ContentId, bytes]
) -> None:
    match fact:
        case facts.BrainOpened():
            await db.execute(STATEMENTS.add_everyone, brain, everyone(brain), EVERYONE, position)
        case facts.MemberJoined() | facts.MemberLeft() | facts.RoleChanged() | facts.GroupChanged():
            await _project_membership(db, brain, position, fact, texts)
        case facts.Granted():
            kind, value = columns(parse_scope(texts[fact.scope.id].decode()))
            level = fact.permission.value
            await db.execute(STATEMENTS.add_grant, brain, fact.grant, fact.subject, kind, value, level, position)
        case facts.Revoked():
            await db.execute(STATEMENTS.end_grant, brain, fact.grant, position)
        case facts.TokenIssued():
            await db.execute(STATEMENTS.add_token, *_token_row(brain, position, fact, texts))
        case facts.TokenRevoked():
            await db.execute(STATEMENTS.end_token, brain, fact.token, position)
        case _:
            pass  # a gate moved: its position is noted with the other histories


async def _project_membership(
    db: Pooled,
    brain: BrainId,
    position: int,
    fact: facts.MemberJoined | facts.MemberLeft | facts.RoleChanged | facts.GroupChanged,
    texts: Mapping[ContentId, bytes],
) -> None:
    match fact:
        case facts.MemberJoined():
            row = (fact.member, fact.kind.value, _name(texts, fact.profile), fact.role.value, fact.tier.value)
            await db.execute(STATEMENTS.add_member, brain, *row, position)
        case facts.MemberLeft():
            await db.execute(STATEMENTS.end_member, brain, fact.member, position)
            for statement in (STATEMENTS.end_grants_of, STATEMENTS.end_tokens_of, STATEMENTS.end_memberships_of):
                await db.execute(statement, brain, fact.member, position)
        case facts.RoleChanged():
            await db.execute(STATEMENTS.change_role, brain, fact.member, fact.role.value, fact.tier.value, position)
        case facts.GroupChanged():
            await db.execute(STATEMENTS.change_group, brain, fact.group, _name(texts, fact.profile), position)
            await db.execute(STATEMENTS.end_members_of_group, brain, fact.group, position)
            await db.execute(STATEMENTS.add_members_to_group, brain, fact.group, list(fact.members), position)


def _token_row(
    brain: BrainId, position: int, fact: facts.TokenIssued, texts: Mapping[ContentId, bytes]
) -> tuple[object, ...]:
    scopes = [scope.value for scope in fact.scopes]
    kind, tier = fact.kind.value, fact.tier.value
    domains = None if fact.domains is None else msgspec.json.decode(texts[fact.domains.id], type=list[str])
    return (brain, fact.token, fact.principal, kind, tier, scopes, fact.digest, fact.expires_at, domains, position)
