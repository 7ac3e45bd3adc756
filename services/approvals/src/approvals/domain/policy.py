"""The default policy: how many people must approve what, and whether one of them may be its author.

Domain rule: one approver; two distinct ones for bedrock; nobody approves their own while the brain has a second active
person. A page whose change policy is `owner` needs its present owner's decision only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

APPROVERS = 1
BEDROCK_APPROVERS = 2


class Weight(Enum):
    """How much rests on a page."""

    OPERATIONAL = "operational"
    BEDROCK = "bedrock"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What the policy wants: distinct approvals, and whether the author's own counts."""

    approvals: int
    self_approval: bool

    @property
    def words(self) -> str:
        """The same for people."""
        who = "one approver" if self.approvals == 1 else f"{self.approvals} different approvers"
        return who if self.self_approval else f"{who}, none of them its author"


def requirement(weights: Iterable[Weight], *, active_people: int, owner_decides: bool = False) -> Requirement:
    """What is wanted for a change of pages of these weights (the live and the proposed ones; the strictest counts).

    `owner_decides`: every live page concerned leaves its changes to its owner, and that is who decides; bedrock is
    stricter than that. While one person is active, that person decides alone.
    """
    if active_people <= 1:
        return Requirement(APPROVERS, self_approval=True)
    if Weight.BEDROCK in set(weights):
        return Requirement(BEDROCK_APPROVERS, self_approval=False)
    return Requirement(APPROVERS, self_approval=owner_decides)
