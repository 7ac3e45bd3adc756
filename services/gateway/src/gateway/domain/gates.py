"""Which gates a change of access moves, in the same batch as the change."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from contracts import subjects
from contracts.access_facts import GateMoved, MemberLeft, Revoked, RoleChanged, TokenRevoked
from contracts.enums import Gate, Role, Tier
from contracts.ids import BrainId
from gateway.domain.standing import RANKS

_TIERS = list(Tier)


def narrows(fact: msgspec.Struct, role: Role | None = None, tier: Tier | None = None) -> bool:
    """Whether a fact narrows what anyone may see or decide. `role` and `tier`: the member's before the fact."""
    match fact:
        case MemberLeft() | Revoked() | TokenRevoked():
            return True
        case RoleChanged() if role is not None and tier is not None:
            return RANKS[fact.role] < RANKS[role] or _TIERS.index(fact.tier) < _TIERS.index(tier)
        case _:
            return False


def gated(
    brain: BrainId, facts: Sequence[tuple[str, msgspec.Struct]], cause: UUID, *, narrowing: bool
) -> tuple[tuple[str, msgspec.Struct], ...]:
    """The facts of one decision with the gates that they move: access always, the fence where sight narrows."""
    moved = GateMoved(cause=cause)
    gates = [Gate.ACCESS, Gate.FENCE] if narrowing else [Gate.ACCESS]
    return (*facts, *((subjects.gate(brain, gate), moved) for gate in gates))
