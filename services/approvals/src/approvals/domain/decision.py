"""One decision, whole: the facts of its proposal, of every page and build that it lands, and of the gates it moves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from access.rule import PageClass
from approvals.domain import build, page, policy, proposal
from approvals.domain.draft import Draft, Known
from approvals.domain.page import Landing, Live
from approvals.domain.proposal import Ballot
from approvals.domain.sight import Person, may_decide, sees, targets
from contracts import subjects
from contracts.access_facts import GateMoved
from contracts.enums import Gate, Knowledge, Origin, Outcome, PageAction, ProposalKind
from contracts.errors import Refused
from contracts.ids import BrainId, PageId, PrincipalId
from contracts.proposals import ProposalResolved, ProposalSubmitted

FACTS = 1000
"""Facts of one decision at most: what one atomic batch holds."""

Said = tuple[str, msgspec.Struct]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a decision stands on. `pages`: those concerned, and the live ones at the paths concerned.

    `people`: the active members among the reviewer and the earlier voters. `stored`: the digest that is decided on.
    `gates`: where each gate stood when this was loaded.
    """

    brain: BrainId
    state: proposal.State
    submitted: ProposalSubmitted
    source_seq: int
    drafts: tuple[Draft, ...]
    branch: build.State
    branch_seq: int
    pages: Mapping[PageId, Known]
    people: Mapping[PrincipalId, Person]
    owners: Mapping[str, PrincipalId]
    active_people: int
    gates: Mapping[Gate, int]
    stored: str = ""

    @property
    def targets(self) -> list[PageClass]:
        """The classes of the pages concerned."""
        return targets(self.submitted, self.drafts, self.pages)

    @property
    def reviewed(self) -> Known | None:
        """The page that a review asks about."""
        return None if self.submitted.page is None else self.pages.get(self.submitted.page)


@dataclass(slots=True)
class Ruling:
    """The facts of a decision, and the position expected of every history and gate that they depend on."""

    outcome: Outcome | None = None
    said: list[Said] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)


def requirement(case: Case, reviewer: Person) -> policy.Requirement:
    """What the policy wants for this proposal, from this reviewer."""
    live = [case.pages.get(one.draft.page) for one in case.drafts]
    weights = [one.declared.weight for one in case.drafts] + [known.weight for known in live if known is not None]
    owned = [
        known is not None
        and isinstance(known.state, Live)
        and known.owner_decides
        and known.owner in reviewer.caller.subjects
        for known in live
    ]
    return policy.requirement(weights, active_people=case.active_people, owner_decides=bool(owned) and all(owned))


def decide(case: Case, ballot: Ballot, now: datetime) -> Ruling:
    """Decide on a proposal by the one rule, the policy and the state of everything it would change.

    An empty ruling: this command has decided already. Raises `Refused` with the codes of the aggregates, and
    `not_a_member`, `forbidden`, `path_taken`, `owner_missing`.
    """
    reviewer = case.people.get(ballot.reviewer)
    if reviewer is None:
        raise not_a_member()
    concerned = case.targets
    if not sees(reviewer, case.submitted, concerned):
        raise proposal.no_such_proposal()
    if not may_decide(reviewer, case.submitted, concerned):
        raise _forbidden(case.submitted)
    standing = frozenset(
        principal for principal, person in case.people.items() if may_decide(person, case.submitted, concerned)
    )
    events = proposal.decide(
        case.state,
        ballot,
        stored=case.stored,
        requirement=requirement(case, reviewer),
        standing=standing,
        moved=_moved(case),
    )
    ruling = Ruling()
    if not events:
        return ruling
    if isinstance(events[-1], ProposalResolved):
        ruling.outcome = events[-1].outcome
        _land(case, ballot, now, ruling)
    history = subjects.proposal(case.brain, case.submitted.proposal)
    ruling.said += [(history, event) for event in events]
    ruling.expected[history] = case.source_seq
    if len(ruling.said) > 1:
        ruling.expected[subjects.gate(case.brain, Gate.ACCESS)] = case.gates[Gate.ACCESS]
    if len(ruling.said) > FACTS:
        raise too_many_facts(case.submitted)
    return ruling


def _moved(case: Case) -> bool:
    """Whether what a review showed may have changed since a vote on it; what others show never does."""
    known = case.reviewed
    if case.submitted.kind is not ProposalKind.REVIEW or isinstance(case.state, proposal.Missing):
        return False
    return known is None or known.source_seq > case.source_seq or len(case.state.votes) > 1


def _land(case: Case, ballot: Ballot, now: datetime, ruling: Ruling) -> None:
    """What the resolution means for pages, builds and gates."""
    approved = ruling.outcome is Outcome.APPROVED
    if case.submitted.build is not None:
        history = subjects.build(case.brain, case.submitted.build)
        change = build.promote if approved else build.abandon
        ruling.said += [(history, event) for event in change(case.branch, case.submitted.build)]
        ruling.expected[history] = case.branch_seq
    if not approved:
        return
    if case.submitted.kind is ProposalKind.REVIEW:
        reviewed = case.submitted.page
        known = None if reviewed is None else case.pages.get(reviewed)
        if reviewed is None or known is None:
            raise page.no_such_page()
        _say(case, ruling, reviewed, page.verify(known.state, reviewed, by=ballot.reviewer, now=now))
    moved: set[Gate] = set()
    _check_paths(case)
    for one in case.drafts:
        with_path = _Place(case, one)
        _say(case, ruling, one.draft.page, with_path.land(ballot.reviewer, now))
        moved |= with_path.gates
    for gate in sorted(moved, key=lambda moved_gate: moved_gate.value):
        history = subjects.gate(case.brain, gate)
        ruling.said.append((history, GateMoved(cause=case.submitted.proposal)))
        ruling.expected[history] = case.gates[gate]


def _say(case: Case, ruling: Ruling, of: PageId, events: list[page.Event]) -> None:
    history = subjects.page(case.brain, of)
    ruling.said += [(history, event) for event in events]
    ruling.expected[history] = case.pages[of].source_seq if of in case.pages else 0


@dataclass(frozen=True, slots=True)
class _Place:
    """A draft and the page that it would become."""

    case: Case
    one: Draft

    @property
    def known(self) -> Known | None:
        return self.case.pages.get(self.one.draft.page)

    def land(self, approver: PrincipalId, now: datetime) -> list[page.Event]:
        draft, path = self.one.draft, self.one.path
        state: page.State = page.Missing() if self.known is None else self.known.state
        decided_on = self.case.submitted.proposal
        try:
            if draft.action is PageAction.DEPRECATE:
                return page.deprecate(state, draft, proposal=decided_on, approver=approver)
            return page.promote(state, draft, self._landing(), proposal=decided_on, approver=approver, now=now)
        except Refused as refused:
            raise Refused(refused.code, refused.what, path, refused.remedy) from None

    def _landing(self) -> Landing:
        said = self.one.declared
        owner = self.case.owners.get(said.owner or "")
        if owner is None:
            raise owner_missing(self.one.path)
        return Landing(
            owner, said.access, said.reach, knowledge(said.knowledge, self.case.submitted.origin), said.review_days
        )

    @property
    def gates(self) -> set[Gate]:
        """Whatever takes or frees a path moves its gate; whatever may narrow sight moves the fence."""
        known = self.known
        if self.one.draft.action is PageAction.DEPRECATE:
            return {Gate.PATH, Gate.FENCE}
        if known is None or not isinstance(known.state, Live):
            return {Gate.PATH}
        moved = {Gate.PATH} if known.path != self.one.path else set[Gate]()
        return moved | {Gate.FENCE} if known.placed != self.one.placed else moved


def knowledge(declared: Knowledge | None, origin: Origin) -> Knowledge:
    """What a page that does not say counts as: a hypothesis, unless a person proposed it (domain rule)."""
    if declared is not None:
        return declared
    return Knowledge.VERIFIED if origin is Origin.PERSON else Knowledge.HYPOTHESIS


def _check_paths(case: Case) -> None:
    """No two live pages at one path, before and after. Raises `path_taken`."""
    leaving = {one.draft.page for one in case.drafts}
    taken = {
        known.path: key for key, known in case.pages.items() if isinstance(known.state, Live) and key not in leaving
    }
    for one in _staying(case):
        if one.path in taken:
            raise path_taken(one.path)
        taken[one.path] = one.draft.page


def _staying(case: Case) -> Iterator[Draft]:
    return (one for one in case.drafts if one.draft.action is not PageAction.DEPRECATE)


def facts_of_landing(drafts: Mapping[PageId, Draft], pages: Mapping[PageId, Known], origin: Origin) -> int:
    """How many facts the promotion of a build will be, its decision and gates included."""
    verified = sum(
        one.draft.page not in pages and knowledge(one.declared.knowledge, origin) is Knowledge.VERIFIED
        for one in drafts.values()
    )
    return len(drafts) + verified + 5


def not_a_member() -> Refused:
    """Whoever asks is no active member."""
    return Refused("not_a_member", "Only an active member may do this.", "by", "Ask an admin to be added.")


def path_taken(path: str) -> Refused:
    """Another page is live there."""
    return Refused("path_taken", "Another page is live at this path.", path, "Propose the page at a free path.")


def owner_missing(path: str) -> Refused:
    """A page needs an owner who is there."""
    return Refused(
        "owner_missing",
        "A page needs an owner that is an active member or a group.",
        path,
        "Name one in the page's frontmatter: owner.",
    )


def too_many_facts(submitted: ProposalSubmitted) -> Refused:
    """One atomic batch does not hold it."""
    return Refused(
        "build_full",
        f"This build would land as more than {FACTS} facts, and it lands whole or not at all.",
        f"proposal {submitted.proposal}",
        "Split it: a new page that claims to be verified counts twice.",
    )


def _forbidden(submitted: ProposalSubmitted) -> Refused:
    remedy = "Ask a member who holds approve on every page of it."
    if submitted.kind not in {ProposalKind.PAGE, ProposalKind.BUILD, ProposalKind.REVIEW}:
        remedy = "Ask a member of tier manager or above."
    return Refused("forbidden", "You may not decide on this proposal.", f"proposal {submitted.proposal}", remedy)
