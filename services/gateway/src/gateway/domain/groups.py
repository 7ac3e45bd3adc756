"""Groups: sets of members that grants can name. `everyone` is not one of them: nobody sets it."""

from collections.abc import Sequence
from dataclasses import dataclass

from access.records import Member
from access.rule import GrantLine
from contracts.access_facts import GroupChanged
from contracts.content import ContentRef
from contracts.errors import Refused
from contracts.ids import BrainId, PrincipalId, derived
from gateway.domain.members import check_name
from gateway.domain.standing import Said, Standing, administrator, no_such_member
from gateway.domain.widening import not_alone


def group_id(brain: BrainId, name: str) -> PrincipalId:
    """The id of the group of that name. Raises `Refused` (name_malformed, name_taken) for a name that is none."""
    check_name(name)
    return PrincipalId(derived(brain, "group", name))


@dataclass(frozen=True, slots=True)
class Group:
    """A group as it stands: its id, its name's text, its members, and the grants that count for each of them."""

    id: PrincipalId
    profile: ContentRef
    members: frozenset[PrincipalId] = frozenset()
    grants: tuple[GrantLine, ...] = ()


def set_members(
    by: Member | None, namesake: Member | None, group: Group, wanted: Sequence[Member | None], standing: Standing
) -> list[Said]:
    """Let a group have exactly these members. `namesake`: a member of its name, who keeps it.

    Whoever lets himself in, to what the group was granted, may need a second admin (`widening`). Raises `Refused`
    (name_taken), no_such_member where one of the wanted is none, and second_admin_needed.
    """
    asker = administrator(by)
    if namesake is not None:
        raise Refused("name_taken", "A member has or had this name.", "name", "Choose another name.")
    there = [member for member in wanted if member is not None and member.active]
    if len(there) != len(wanted):
        raise no_such_member("members")
    members = {member.id for member in there}
    if members == group.members:
        return []
    if asker.id in members - group.members:
        not_alone(asker, standing, "members", gained=group.grants)
    return [(group.id, GroupChanged(group=group.id, profile=group.profile, members=tuple(sorted(members))))]
