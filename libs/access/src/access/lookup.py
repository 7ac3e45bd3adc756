"""Reads of the access tables, inside a transaction of the brain."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import asyncpg

from access.records import Credential, Grant, Member, Token
from access.rule import Caller, GrantLine, lower_tier
from access.scopes import Category, Exact, Prefix, Scope
from chassis import sql
from chassis.postgres import Pooled
from contracts import subjects
from contracts.enums import Gate, Permission, PrincipalKind, Role, Tier, TokenKind
from contracts.enums import Scope as TokenScope
from contracts.ids import BrainId, GrantId, PrincipalId, TokenId

STATEMENTS = sql.load("access", "lookup.sql")


async def caller_for(
    db: Pooled, brain: BrainId, principal: PrincipalId, token_id: TokenId | None, *, at: datetime | None = None
) -> Caller | None:
    """The caller with every subject its grants count for, None where it is not active or the token is dead.

    `token_id` None is the person in a browser session: own tier, every scope. `at`: the instant at which the token
    must be alive, the database's clock where it is None.
    """
    row = await db.fetchrow(STATEMENTS.caller, brain, principal, token_id, at)
    if row is None:
        return None
    tier = Tier(row["tier"])
    scopes: frozenset[TokenScope] | None = frozenset(TokenScope)
    domains = None
    if token_id is not None:
        tier = lower_tier(tier, Tier(row["token_tier"]))
        scopes, domains = _scopes(row["scopes"]), _domains(row["domains"])
    if scopes is None:
        return None
    held = frozenset(PrincipalId(subject) for subject in row["subjects"])
    return Caller(principal=principal, subjects=held, tier=tier, domains=domains, scopes=scopes)


async def credential(db: Pooled, brain: BrainId, digest: str, at: datetime) -> Credential | None:
    """Who stands behind the token whose secret has this SHA-256 (hex), in one read.

    None for a token that is unknown, revoked, expired at `at`, not whole, or whose member has left.
    """
    row = await db.fetchrow(STATEMENTS.credential, brain, digest, subjects.gate(brain, Gate.ACCESS))
    if row is None:
        return None
    principal, tier = PrincipalId(row["principal"]), Tier(row["tier"])
    token_tier, scopes = Tier(row["token_tier"]), _scopes(row["scopes"])
    kind, expires, domains = TokenKind(row["token_kind"]), row["expires_at"], _domains(row["domains"])
    token = Token(TokenId(row["token"]), principal, kind, token_tier, scopes, digest, expires, domains)
    if scopes is None or not token.alive(at):
        return None
    member = Member(principal, PrincipalKind(row["kind"]), row["name"], Role(row["role"]), tier, active=True)
    held = frozenset(PrincipalId(subject) for subject in row["subjects"])
    caller = Caller(
        principal=principal, subjects=held, tier=lower_tier(tier, token_tier), domains=domains, scopes=scopes
    )
    return Credential(token, member, caller, row["position"])


async def grants_for(db: Pooled, holders: Iterable[PrincipalId]) -> list[GrantLine]:
    """The grants of these subjects, oldest first."""
    return [grant.line for grant in await numbered_grants(db, holders)]


async def numbered_grants(db: Pooled, holders: Iterable[PrincipalId]) -> list[Grant]:
    """The same with their ids."""
    rows = await db.fetch(STATEMENTS.grants_of, list(holders))
    return [
        Grant(
            GrantId(row["id"]),
            GrantLine(
                PrincipalId(row["subject"]),
                _scope(row["scope_kind"], row["scope_value"]),
                Permission(row["permission"]),
            ),
        )
        for row in rows
    ]


async def gate_positions(db: Pooled) -> dict[Gate, int]:
    """Where each gate stands in this projection, 0 for one that never moved."""
    found = {row["gate"]: row["source_seq"] for row in await db.fetch(STATEMENTS.gate_positions)}
    return {gate: found.get(gate.value, 0) for gate in Gate}


async def positions(db: Pooled, histories: Iterable[str]) -> dict[str, int]:
    """The last sequence folded of each of these histories, 0 for one that never was: what an append expects."""
    wanted = list(histories)
    found = {row["subject"]: row["source_seq"] for row in await db.fetch(STATEMENTS.history_positions, wanted)}
    return {subject: found.get(subject, 0) for subject in wanted}


async def member(db: Pooled, principal: UUID) -> Member | None:
    """The member of this id, active or not."""
    return _member(await db.fetchrow(STATEMENTS.member_by_id, principal))


async def member_by_name(db: Pooled, name: str) -> Member | None:
    """The member of this name; one that is active before one that left."""
    return _member(await db.fetchrow(STATEMENTS.member_by_name, name))


async def group_by_name(db: Pooled, name: str) -> PrincipalId | None:
    """The group of this name."""
    found: UUID | None = await db.fetchval(STATEMENTS.group_by_name, name)
    return None if found is None else PrincipalId(found)


async def members_of(db: Pooled, group: PrincipalId) -> frozenset[PrincipalId]:
    """The members that a group was given; `everyone` is given none, it is computed."""
    return frozenset(PrincipalId(row["member"]) for row in await db.fetch(STATEMENTS.members_of_group, group))


async def groups(db: Pooled) -> dict[str, tuple[str, ...] | None]:
    """Every group by its name, with the names of its active members; None for `everyone`."""
    rows = await db.fetch(STATEMENTS.groups)
    return {row["name"]: None if row["holds_all_people"] else tuple(row["members"]) for row in rows}


async def names(db: Pooled, principals: Iterable[PrincipalId]) -> dict[PrincipalId, str]:
    """The names of members and groups."""
    rows = await db.fetch(STATEMENTS.names, list(principals))
    return {PrincipalId(row["id"]): row["name"] for row in rows}


async def members(db: Pooled) -> list[Member]:
    """Every active member, by name."""
    return [found for row in await db.fetch(STATEMENTS.members) if (found := _member(row)) is not None]


async def active_people(db: Pooled) -> int:
    """How many active human members the brain has."""
    count: int = await db.fetchval(STATEMENTS.count_active_people)
    return count


async def token(db: Pooled, token_id: TokenId) -> Token | None:
    """The token of this id, if it was issued and not revoked."""
    row = await db.fetchrow(STATEMENTS.token_by_id, token_id)
    return None if row is None else _token(row)


async def tokens_of(db: Pooled, principal: PrincipalId) -> list[Token]:
    """A principal's tokens, oldest first, expired ones among them."""
    return [_token(row) for row in await db.fetch(STATEMENTS.tokens_of, principal)]


def _scope(kind: str, value: str) -> Scope:
    match kind:
        case "exact":
            return Exact(value)
        case "prefix":
            return Prefix(value)
        case _:
            return Category(value)


def _scopes(texts: list[str]) -> frozenset[TokenScope] | None:
    try:
        return frozenset(TokenScope(text) for text in texts)
    except ValueError:
        return None


def _domains(texts: list[str] | None) -> frozenset[str] | None:
    return None if texts is None else frozenset(texts)


def _member(row: asyncpg.Record | None) -> Member | None:
    if row is None:
        return None
    return Member(
        PrincipalId(row["id"]),
        PrincipalKind(row["kind"]),
        row["name"],
        Role(row["role"]),
        Tier(row["tier"]),
        row["active"],
    )


def _token(row: asyncpg.Record) -> Token:
    return Token(
        TokenId(row["id"]),
        PrincipalId(row["principal"]),
        TokenKind(row["kind"]),
        Tier(row["tier"]),
        _scopes(row["scopes"]),
        row["digest"],
        row["expires_at"],
        _domains(row["domains"]),
    )
