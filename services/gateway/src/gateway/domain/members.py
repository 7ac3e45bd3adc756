"""Joining, leaving and roles. A member's id follows from the name, so that two requests for one name meet."""

import re
from dataclasses import replace

from access.records import Member
from contracts.access_facts import MemberJoined, MemberLeft, RoleChanged
from contracts.content import ContentRef
from contracts.enums import Origin, PrincipalKind, Role, Tier
from contracts.errors import Refused
from contracts.ids import SERVICES, BrainId, PrincipalId, derived
from gateway.domain.standing import Said, Standing, administrator, no_such_member, not_above
from gateway.domain.widening import not_alone

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME_LENGTH = 64
RESERVED = frozenset(
    {
        "archive",
        "brain",
        "company-brain",
        "everyone",
        "importer",
        "operator",
        "system",
        *SERVICES,
        *(origin.value for origin in Origin),
    }
)
"""Names that nobody takes, as facts, inbox and documents name with them everyone, the services, and what they do."""


def member_id(brain: BrainId, name: str) -> PrincipalId:
    """The id of the member of that name, today or ever: a name is not given to a second person."""
    return PrincipalId(derived(brain, "member", name))


def check_name(name: str) -> None:
    """Raise `Refused` (name_malformed, name_taken) unless a member or group may be called that."""
    if len(name) > NAME_LENGTH or not _NAME.fullmatch(name):
        raise Refused(
            "name_malformed",
            "A member's name is 1 to 64 lower-case letters a-z, digits and single inner hyphens.",
            "name",
            "Choose another name.",
        )
    if name in RESERVED:
        raise Refused("name_taken", "The brain itself uses this name.", "name", "Choose another name.")


def join(
    by: Member | None, before: Member | None, joining: Member, profile: ContentRef, namesake: PrincipalId | None = None
) -> list[Said]:
    """Add a member. The same member asked for again is already there; a name that was ever used stays taken.

    `namesake`: a group of that name.
    """
    asker = administrator(by)
    not_above(asker, joining.role)
    if before == joining:
        return []
    if before is not None:
        raise Refused("name_taken", "A member has or had this name.", "name", "Choose another name.")
    if namesake is not None:
        raise Refused("name_taken", "A group has this name.", "name", "Choose another name.")
    return [(joining.id, joined(joining, profile))]


def joined(member: Member, profile: ContentRef) -> MemberJoined:
    """The fact that a member begins with."""
    return MemberJoined(member=member.id, kind=member.kind, profile=profile, role=member.role, tier=member.tier)


def leave(by: Member | None, member: Member | None, standing: Standing) -> list[Said]:
    """End a membership: an admin does it for others up to his own role, anyone for himself. One owner stays."""
    if by is None or member is None or by.id != member.id:
        asker = administrator(by)  # first, so that nobody else learns which names there are
        if member is None:
            raise no_such_member("name")
        not_above(asker, member.role)
    if not member.active:
        return []
    _keep_an_owner(member, standing)
    return [(member.id, MemberLeft(member=member.id))]


def change_role(by: Member | None, member: Member | None, role: Role, tier: Tier, standing: Standing) -> list[Said]:
    """Set role and tier. Raises `Refused` where no owner would be left, or the asker lifts himself (`widening`)."""
    asker = administrator(by)
    if member is None or not member.active:
        raise no_such_member("name")
    not_above(asker, member.role)
    not_above(asker, role)
    if (member.role, member.tier) == (role, tier):
        return []
    if asker.id == member.id:
        not_alone(asker, standing, "name", after=replace(asker, role=role, tier=tier))
    if role is not Role.OWNER:
        _keep_an_owner(member, standing)
    return [(member.id, RoleChanged(member=member.id, role=role, tier=tier))]


def _keep_an_owner(member: Member, standing: Standing) -> None:
    if member.role is Role.OWNER and standing.owners <= 1:
        raise Refused(
            "last_owner", "The last owner cannot leave or step down.", "name", "Make another member owner first."
        )


def person(brain: BrainId, name: str, role: Role, tier: Tier, kind: PrincipalKind = PrincipalKind.PERSON) -> Member:
    """The member that would join under this name. Raises `Refused` for a name that is none."""
    check_name(name)
    return Member(member_id(brain, name), kind, name, role, tier, active=True)
