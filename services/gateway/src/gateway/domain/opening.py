"""How a brain begins: an owner who may approve everything, and everyone reading."""

from dataclasses import dataclass

import msgspec

from access.records import Member
from contracts import subjects
from contracts.access_facts import BrainOpened, Granted
from contracts.content import ContentRef
from contracts.enums import Permission
from contracts.ids import BrainId, GrantId, everyone
from gateway.domain.members import joined


@dataclass(frozen=True, slots=True)
class Bodies:
    """The texts that the first facts refer to: the brain's name, the owner's profile, and `**` twice."""

    name: ContentRef
    profile: ContentRef
    owners_scope: ContentRef
    everyones_scope: ContentRef


def open_brain(
    brain: BrainId, opened: bool, owner: Member, bodies: Bodies, grants: tuple[GrantId, GrantId]
) -> list[tuple[str, msgspec.Struct]]:
    """The first facts, with their histories; none where the brain is open already.

    The read grant of `everyone` on `**` is an ordinary grant: visible, removable, never implied.
    """
    if opened:
        return []
    mine, all_people = subjects.access(brain, owner.id), subjects.access(brain, everyone(brain))
    own, shared = grants
    return [
        (subjects.brain_itself(brain), BrainOpened(name=bodies.name)),
        (mine, joined(owner, bodies.profile)),
        (mine, Granted(grant=own, subject=owner.id, scope=bodies.owners_scope, permission=Permission.APPROVE)),
        (
            all_people,
            Granted(grant=shared, subject=everyone(brain), scope=bodies.everyones_scope, permission=Permission.READ),
        ),
    ]
