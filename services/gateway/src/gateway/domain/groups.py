"""Groups: sets of members that grants can name. `everyone` is not one of them: nobody sets it."""

from collections.abc import Collection, Sequence

from access.records import Member
from contracts.access_facts import GroupChanged
from contracts.content import ContentRef
from contracts.errors import Refused
from contracts.ids import BrainId, PrincipalId, derived
from gateway.domain.members import check_name
from gateway.domain.standing import Said, administrator, no_such_member


def group_id(brain: BrainId, name: str) -> PrincipalId:
    """The id of the group of that name. Raises `Refused` (name_malformed, name_taken) for a name that is none."""
    check_name(name)
    return PrincipalId(derived(brain, "group", name))


def set_members(
    by: Member | None,
    namesake: Member | None,
    before: Collection[PrincipalId],
    wanted: Sequence[Member | None],
    group: tuple[PrincipalId, ContentRef],
) -> list[Said]:
    """Let a group have exactly these members. `namesake`: a member of its name, who keeps it; `before`: its members.

    Raises `Refused` (name_taken), and no_such_member where one of the wanted is none.
    """
    administrator(by)
    if namesake is not None:
        raise Refused("name_taken", "A member has or had this name.", "name", "Choose another name.")
    there = [member for member in wanted if member is not None and member.active]
    if len(there) != len(wanted):
        raise no_such_member("members")
    members = tuple(sorted({member.id for member in there}))
    if members == tuple(sorted(before)):
        return []
    mine, profile = group
    return [(mine, GroupChanged(group=mine, profile=profile, members=members))]
