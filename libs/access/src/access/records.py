"""What the access tables hold, as values that decisions can be made on."""

from dataclasses import dataclass
from datetime import datetime

from access.rule import Caller, GrantLine
from contracts.enums import PrincipalKind, Role, Tier, TokenKind
from contracts.enums import Scope as TokenScope
from contracts.ids import GrantId, PrincipalId, TokenId


@dataclass(frozen=True, slots=True)
class Member:
    """A person or service as it stands now; one that left keeps its name and is not active."""

    id: PrincipalId
    kind: PrincipalKind
    name: str
    role: Role
    tier: Tier
    active: bool


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant with its id."""

    id: GrantId
    line: GrantLine


@dataclass(frozen=True, slots=True)
class Token:
    """A token that was issued and not revoked; whether it has expired is asked with the time in hand.

    `scopes` is None where a stored scope does not parse: such a token is refused outright.
    """

    id: TokenId
    principal: PrincipalId
    kind: TokenKind
    tier: Tier
    scopes: frozenset[TokenScope] | None
    digest: str
    expires_at: datetime | None
    domains: frozenset[str] | None = None

    def alive(self, now: datetime) -> bool:
        """Whether it may be used at `now`."""
        return self.scopes is not None and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True)
class Credential:
    """A token that is alive, the active member it acts for, and the caller they make.

    `position`: where access last changed, as far as it is folded here.
    """

    token: Token
    member: Member
    caller: Caller
    position: int
