"""What a decision about access is made on, and the rules that every such decision shares."""

from dataclasses import dataclass

import msgspec

from access.records import Grant, Member
from contracts.enums import Role
from contracts.errors import Refused
from contracts.ids import PrincipalId

Said = tuple[PrincipalId, msgspec.Struct]
"""A fact, and the principal or group whose history it belongs to."""

RANKS = {Role.MEMBER: 0, Role.MANAGER: 1, Role.ADMIN: 2, Role.OWNER: 3}


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a decision concerns: a member (active or not) or a group, with the grants held now.

    `includes_asker`: what is granted to this subject counts for the asker too.
    """

    id: PrincipalId
    name: str
    member: Member | None
    grants: tuple[Grant, ...] = ()
    includes_asker: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """The brain as it stands: active owners and administrators are counted among people and services alike."""

    owners: int
    administrators: int


def administrator(by: Member | None) -> Member:
    """The asker, if he may administer. Raises `Refused` (not_a_member, forbidden)."""
    if by is None or not by.active:
        raise Refused("not_a_member", "You are not an active member of this brain.", "by", "Ask an admin to add you.")
    if RANKS[by.role] < RANKS[Role.ADMIN]:
        raise Refused(
            "forbidden", "Only an admin or owner may administer members and grants.", "by", "Ask an admin or owner."
        )
    return by


def not_above(by: Member, role: Role) -> None:
    """Nobody gives, takes or ends a role above his own. Raises `Refused` (forbidden)."""
    if RANKS[role] > RANKS[by.role]:
        raise Refused("forbidden", "This needs a role at least as high as the one concerned.", "role", "Ask an owner.")


def no_such_member(where: str) -> Refused:
    return Refused("no_such_member", "No active member or group has this name.", where, "List the members for names.")
