"""What a code or a refresh token is worth, and what a consent says: decided without a database."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from access.records import Member, Token
from contracts.access_facts import TokenIssued, TokenRevoked
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused
from contracts.ids import PrincipalId, TokenId
from gateway.oauth import families, rotation
from gateway.oauth.rotation import GRACE, Kept, Worth

NOW = datetime(2026, 9, 2, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
SECOND = timedelta(seconds=1)
ALICE = Member(PrincipalId(UUID(int=1)), PrincipalKind.PERSON, "alice", Role.MEMBER, Tier.MANAGER, active=True)
FAMILY = TokenId(UUID(int=9))


def test_a_code_is_good_once_for_its_own_client() -> None:
    assert rotation.code(Kept("c", LATER), "c", NOW) is Worth.GOOD


def test_a_code_that_comes_again_was_stolen_even_after_its_time() -> None:
    assert rotation.code(Kept("c", LATER, NOW), "c", NOW) is Worth.STOLEN
    assert rotation.code(Kept("c", NOW - SECOND, NOW - SECOND), "c", NOW) is Worth.STOLEN


def test_a_code_that_is_unknown_old_or_anothers_is_dead() -> None:
    assert rotation.code(None, "c", NOW) is Worth.DEAD
    assert rotation.code(Kept("c", NOW), "c", NOW) is Worth.DEAD
    assert rotation.code(Kept("c", LATER, NOW), "d", NOW) is Worth.DEAD


def test_a_refresh_token_is_good_again_within_the_grace_and_stolen_after_it() -> None:
    assert rotation.refresh(Kept("c", LATER), "c", NOW) is Worth.GOOD
    assert rotation.refresh(Kept("c", LATER, NOW - GRACE), "c", NOW) is Worth.GOOD
    assert rotation.refresh(Kept("c", LATER, NOW - GRACE - SECOND), "c", NOW) is Worth.STOLEN


def test_a_refresh_token_that_is_unknown_old_or_anothers_is_dead() -> None:
    assert rotation.refresh(None, "c", NOW) is Worth.DEAD
    assert rotation.refresh(Kept("c", NOW), "c", NOW) is Worth.DEAD
    assert rotation.refresh(Kept("c", LATER, NOW - 2 * GRACE), "d", NOW) is Worth.DEAD


def test_a_consent_is_a_token_of_the_person_that_no_secret_opens() -> None:
    said = families.consent(ALICE, (Scope.READ, Scope.PROPOSE), (FAMILY, "d" * 64), NOW)
    fact = TokenIssued(
        token=FAMILY,
        principal=ALICE.id,
        kind=TokenKind.PERSON,
        tier=Tier.MANAGER,
        scopes=(Scope.READ, Scope.PROPOSE),
        digest="d" * 64,
        expires_at=NOW + timedelta(days=90),
    )
    assert said == [(ALICE.id, fact)]


@pytest.mark.parametrize(
    "member",
    [
        None,
        Member(ALICE.id, PrincipalKind.PERSON, "alice", Role.MEMBER, Tier.MANAGER, active=False),
        Member(ALICE.id, PrincipalKind.SERVICE, "builder", Role.MEMBER, Tier.MANAGER, active=True),
    ],
)
def test_only_an_active_person_consents(member: Member | None) -> None:
    with pytest.raises(Refused):
        families.consent(member, (Scope.READ,), (FAMILY, "d" * 64), NOW)


def test_a_connection_ends_once() -> None:
    token = Token(FAMILY, ALICE.id, TokenKind.PERSON, Tier.MANAGER, frozenset({Scope.READ}), "d" * 64, LATER)
    assert families.end(token) == [(ALICE.id, TokenRevoked(token=FAMILY, principal=ALICE.id))]
    assert families.end(None) == []
