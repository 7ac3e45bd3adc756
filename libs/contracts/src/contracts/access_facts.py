"""What gateway says: who belongs, what they may see, which tokens act for them.

All of one principal's facts are one history, `evt.<brain>.access.<principal or group id>`.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from contracts.content import ContentRef
from contracts.enums import Permission, PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.ids import GrantId, PrincipalId, TokenId


class BrainOpened(msgspec.Struct, frozen=True, kw_only=True):
    """A brain began. `name` is a JSON body {"name"}."""

    name: ContentRef


class MemberJoined(msgspec.Struct, frozen=True, kw_only=True):
    """A person or service became a member. `profile` is a JSON body {"name"}: the short name used with --as."""

    member: PrincipalId
    kind: PrincipalKind
    profile: ContentRef
    role: Role
    tier: Tier


class MemberLeft(msgspec.Struct, frozen=True, kw_only=True):
    """A member left: every token of theirs is dead, their grants no longer count."""

    member: PrincipalId


class RoleChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A member's role or tier is now this."""

    member: PrincipalId
    role: Role
    tier: Tier


class GroupChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A group has exactly these members now. `profile` is a JSON body {"name"}."""

    group: PrincipalId
    profile: ContentRef
    members: tuple[PrincipalId, ...]


class Granted(msgspec.Struct, frozen=True, kw_only=True):
    """A subject (person, service or group) received a permission. `scope` is a text body: a path form or a category."""

    grant: GrantId
    subject: PrincipalId
    scope: ContentRef
    permission: Permission


class Revoked(msgspec.Struct, frozen=True, kw_only=True):
    """A grant no longer counts, from the next request on."""

    grant: GrantId
    subject: PrincipalId


class TokenIssued(msgspec.Struct, frozen=True, kw_only=True):
    """A token acts for a principal. `digest` is SHA-256 (hex) of a 256-bit random secret, which was shown once.

    `domains`: a JSON array of the domains whose pages it may see, where it may not see those of every one.
    """

    token: TokenId
    principal: PrincipalId
    kind: TokenKind
    tier: Tier
    scopes: tuple[Scope, ...]
    digest: str
    expires_at: datetime | None = None
    domains: ContentRef | None = None


class TokenRevoked(msgspec.Struct, frozen=True, kw_only=True):
    """A token is dead, from the next request on."""

    token: TokenId
    principal: PrincipalId


class GateMoved(msgspec.Struct, frozen=True, kw_only=True):
    """Something that decisions or reads race against changed, in the same batch. `cause`: the subject of the change."""

    cause: UUID


Event = (
    BrainOpened
    | MemberJoined
    | MemberLeft
    | RoleChanged
    | GroupChanged
    | Granted
    | Revoked
    | TokenIssued
    | TokenRevoked
)
