"""Which gates a change of access moves, in the same batch as the change."""

from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec

from contracts import subjects
from contracts.access_facts import GateMoved, GroupChanged, MemberLeft, Revoked, RoleChanged, TokenRevoked
from contracts.enums import Gate, Role, Tier
from contracts.ids import BrainId, PrincipalId
from gateway.domain.standing import RANKS

_TIERS = list(Tier)


def narrows(
    fact: msgspec.Struct,
    role: Role | None = None,
    tier: Tier | None = None,
    members: Collection[PrincipalId] = (),
) -> bool:
    """Whether a fact narrows what anyone may see or decide.

    `role` and `tier`: the member's before the fact; `members`: the group's before it.
    """
    match fact:
        case MemberLeft() | Revoked() | TokenRevoked():
            return True
        case RoleChanged() if role is not None and tier is not None:
            return RANKS[fact.role] < RANKS[role] or _TIERS.index(fact.tier) < _TIERS.index(tier)
        case GroupChanged():
            return not set(members) <= set(fact.members)
        case _:
            return False


def gated(
    brain: BrainId, facts: Sequence[tuple[str, msgspec.Struct]], cause: UUID, *, narrowing: bool
) -> tuple[tuple[str, msgspec.Struct], ...]:
    """The facts of one decision with the gates that they move: access always, the fence where sight narrows."""
    moved = GateMoved(cause=cause)
    gates = [Gate.ACCESS, Gate.FENCE] if narrowing else [Gate.ACCESS]
    return (*facts, *((subjects.gate(brain, gate), moved) for gate in gates))
