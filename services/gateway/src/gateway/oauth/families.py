"""A person's consent as a fact: a token of his own, from which access is derived for as long as it stands."""

from datetime import datetime, timedelta

from access.records import Member, Token
from contracts.access_facts import TokenIssued, TokenRevoked
from contracts.enums import Scope, TokenKind
from contracts.ids import TokenId
from gateway.domain.standing import Said
from gateway.domain.tokens import signs_in

LASTING = timedelta(days=90)
"""A connection lasts as long as a person's sign-in on a machine; then he is asked again."""


def consent(member: Member | None, scopes: tuple[Scope, ...], fresh: tuple[TokenId, str], now: datetime) -> list[Said]:
    """An active person lets an application act for him. `fresh`: the family's id, and a digest that no secret has.

    Raises `Refused` (no_such_member).
    """
    person = signs_in(member)
    family, digest = fresh
    fact = TokenIssued(
        token=family,
        principal=person.id,
        kind=TokenKind.PERSON,
        tier=person.tier,
        scopes=scopes,
        digest=digest,
        expires_at=now + LASTING,
    )
    return [(person.id, fact)]


def end(family: Token | None) -> list[Said]:
    """The connection is over, from the next request on. One that is over stays so."""
    return [] if family is None else [(family.principal, TokenRevoked(token=family.id, principal=family.principal))]
