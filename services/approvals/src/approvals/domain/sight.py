"""Who may know of a proposal, and who may decide on it.

Domain rule: its author (or the person who ran its importer) and whoever holds approve on every page concerned; a text
of the inbox concerns members of tier manager and above. For all others it does not exist.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from access.rule import Caller, GrantLine, PageClass, permission, rank
from approvals.domain.draft import Draft, Known
from approvals.domain.page import Live
from contracts.enums import PageAction, Permission, ProposalKind, Tier
from contracts.ids import PageId
from contracts.proposals import ProposalSubmitted

_PAGED = frozenset({ProposalKind.PAGE, ProposalKind.BUILD, ProposalKind.REVIEW})


@dataclass(frozen=True, slots=True)
class Person:
    """An active member with the grants of all its subjects."""

    caller: Caller
    grants: tuple[GrantLine, ...]

    def holds(self, wanted: Permission, page: PageClass) -> bool:
        """Whether the one rule gives at least `wanted` on a page of this class."""
        held = permission(self.grants, self.caller, page)
        return held is not None and rank(held) >= rank(wanted)


def targets(submitted: ProposalSubmitted, drafts: Iterable[Draft], pages: Mapping[PageId, Known]) -> list[PageClass]:
    """The pages that a proposal concerns, each as it is and as it would become; one that has ended, as it was."""
    found = []
    for one in drafts:
        ends = one.draft.action is PageAction.DEPRECATE
        if not ends:
            found.append(one.placed)
        known = pages.get(one.draft.page)
        if known is not None and (ends or isinstance(known.state, Live)):
            found.append(known.placed)
    if submitted.page is not None and submitted.page in pages:
        found.append(pages[submitted.page].placed)
    return found


def may_decide(person: Person, submitted: ProposalSubmitted, concerned: Iterable[PageClass]) -> bool:
    """Whether this member may decide, as far as rights go; the policy may want more."""
    if submitted.kind not in _PAGED:
        return person.caller.tier is not Tier.EMPLOYEE
    pages = list(concerned)
    return bool(pages) and all(person.holds(Permission.APPROVE, page) for page in pages)


def sees(person: Person, submitted: ProposalSubmitted, concerned: Iterable[PageClass]) -> bool:
    """Whether the proposal exists for this member."""
    if person.caller.principal in {submitted.author, submitted.runner}:
        return True
    return may_decide(person, submitted, concerned)
