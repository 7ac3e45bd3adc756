"""Given facts, when somebody decides, then these facts or this refusal: the life of a proposal."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from approvals.domain import proposal
from approvals.domain.policy import Requirement
from approvals.domain.proposal import Ballot, Event, State
from contracts.content import ContentRef
from contracts.enums import Origin, Outcome, ProposalKind, Reason, Verdict
from contracts.errors import Refused
from contracts.ids import CommandId, ContentId, PrincipalId, ProposalId
from contracts.proposals import ProposalDecided, ProposalResolved, ProposalSubmitted, ProposalWithdrawn

NOW = datetime(2026, 9, 2, tzinfo=UTC)
ID = ProposalId(UUID(int=1))
ALICE, BOB, CAROL, IMPORTER = (PrincipalId(UUID(int=n)) for n in range(10, 14))
ONE, TWO, THREE = (CommandId(UUID(int=n)) for n in range(20, 23))
TEXT = ContentRef(ContentId(uuid4()), "c")
DIGEST = "d" * 64
SUBMITTED = ProposalSubmitted(proposal=ID, kind=ProposalKind.OBSERVATION, origin=Origin.PERSON, author=ALICE, text=TEXT)
APPROVED = ProposalDecided(proposal=ID, reviewer=BOB, verdict=Verdict.APPROVE)
REJECTED = ProposalDecided(proposal=ID, reviewer=BOB, verdict=Verdict.REJECT, reason=Reason.WRONG)
CLOSED = ProposalResolved(proposal=ID, outcome=Outcome.APPROVED)
ONE_APPROVER, TWO_APPROVERS = Requirement(1, self_approval=False), Requirement(2, self_approval=False)

Fact = tuple[Event, CommandId]


def given(*history: Fact) -> State:
    return proposal.fold(history)


def decide(
    state: State,
    ballot: Ballot,
    requirement: Requirement = ONE_APPROVER,
    standing: frozenset[PrincipalId] = frozenset({ALICE, BOB, CAROL}),
) -> list[Event]:
    return proposal.decide(state, ballot, stored=DIGEST, requirement=requirement, standing=standing)


def refused(code: str, act: Callable[[], object]) -> None:
    with pytest.raises(Refused) as caught:
        act()
    assert caught.value.code == code
    assert caught.value.what
    assert caught.value.remedy


def yes(command: CommandId = TWO, by: PrincipalId = BOB, digest: str | None = DIGEST) -> Ballot:
    return Ballot(command, by, Verdict.APPROVE, digest)


def no(command: CommandId = TWO, by: PrincipalId = BOB, reason: Reason | None = Reason.WRONG) -> Ballot:
    return Ballot(command, by, Verdict.REJECT, None, reason)


def test_a_suggestion_is_filed_once() -> None:
    assert proposal.submit(given(), SUBMITTED) == [SUBMITTED]
    assert proposal.submit(given((SUBMITTED, ONE)), SUBMITTED) == []


def test_another_suggestion_under_the_same_id_is_refused() -> None:
    other = ProposalSubmitted(proposal=ID, kind=ProposalKind.OBSERVATION, origin=Origin.AGENT, author=BOB, text=TEXT)
    refused("proposal_exists", lambda: proposal.submit(given((SUBMITTED, ONE)), other))


def test_one_approval_resolves_where_one_is_wanted() -> None:
    assert decide(given((SUBMITTED, ONE)), yes()) == [APPROVED, CLOSED]


def test_the_first_of_two_approvals_resolves_nothing() -> None:
    assert decide(given((SUBMITTED, ONE)), yes(), TWO_APPROVERS) == [APPROVED]


def test_the_second_of_two_approvals_resolves() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO))
    assert decide(state, yes(THREE, CAROL), TWO_APPROVERS)[-1] == CLOSED


def test_an_approval_of_somebody_whose_right_is_gone_does_not_count() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO))
    events = decide(state, yes(THREE, CAROL), TWO_APPROVERS, frozenset({CAROL}))
    assert [type(event) for event in events] == [ProposalDecided]


def test_one_rejection_closes() -> None:
    assert decide(given((SUBMITTED, ONE)), no(), TWO_APPROVERS) == [
        REJECTED,
        ProposalResolved(proposal=ID, outcome=Outcome.REJECTED),
    ]


def test_the_same_command_again_is_quiet() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO), (CLOSED, TWO))
    assert decide(state, yes(TWO)) == []


@pytest.mark.parametrize("other", [no(), yes(by=CAROL), yes(digest=None), yes(digest="e" * 64)])
def test_a_command_that_says_something_else_than_before_is_refused(other: Ballot) -> None:
    for state in (given((SUBMITTED, ONE), (APPROVED, TWO)), given((SUBMITTED, ONE), (APPROVED, TWO), (CLOSED, TWO))):
        with pytest.raises(Refused) as caught:
            decide(state, other)
        assert caught.value.code == "command_reused"


def test_a_retry_is_quiet_where_the_bytes_that_it_bound_to_are_not_known_any_more() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO), (CLOSED, TWO))
    for stored, moved in (("", False), ("e" * 64, True)):
        said = proposal.decide(state, yes(), stored=stored, requirement=ONE_APPROVER, standing=frozenset(), moved=moved)
        assert said == []


def test_an_approved_proposal_cannot_be_rejected() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO), (CLOSED, TWO))
    refused("already_decided", lambda: decide(state, no(THREE, CAROL)))


def test_nobody_votes_twice() -> None:
    state = given((SUBMITTED, ONE), (APPROVED, TWO))
    refused("already_decided", lambda: decide(state, yes(THREE), TWO_APPROVERS))


def test_a_withdrawn_proposal_cannot_be_approved() -> None:
    state = given((SUBMITTED, ONE), (ProposalWithdrawn(proposal=ID), TWO))
    refused("withdrawn", lambda: decide(state, yes(THREE)))


def test_what_was_never_suggested_cannot_be_decided() -> None:
    refused("no_such_proposal", lambda: decide(given(), yes()))


def test_an_approval_binds_to_the_stored_bytes() -> None:
    refused("digest_mismatch", lambda: decide(given((SUBMITTED, ONE)), yes(digest="e" * 64)))
    refused("digest_missing", lambda: decide(given((SUBMITTED, ONE)), yes(digest=None)))


def test_bytes_that_are_gone_cannot_be_approved() -> None:
    state = given((SUBMITTED, ONE))
    refused(
        "content_missing",
        lambda: proposal.decide(state, yes(), stored="", requirement=ONE_APPROVER, standing=frozenset()),
    )


def test_a_rejection_says_why() -> None:
    refused("reason_missing", lambda: decide(given((SUBMITTED, ONE)), no(reason=None)))
    refused("note_missing", lambda: decide(given((SUBMITTED, ONE)), no(reason=Reason.OTHER)))


def test_nobody_approves_their_own_unless_the_policy_lets_them() -> None:
    refused("self_approval", lambda: decide(given((SUBMITTED, ONE)), yes(by=ALICE)))
    alone = Requirement(1, self_approval=True)
    assert decide(given((SUBMITTED, ONE)), yes(by=ALICE), alone)[-1] == CLOSED


def test_whoever_ran_the_importer_may_approve_what_it_proposed() -> None:
    imported = ProposalSubmitted(
        proposal=ID, kind=ProposalKind.OBSERVATION, origin=Origin.IMPORT, author=IMPORTER, runner=ALICE, text=TEXT
    )
    assert decide(given((imported, ONE)), yes(by=ALICE))[-1] == CLOSED


def test_an_author_takes_a_proposal_back_once() -> None:
    taken = ProposalWithdrawn(proposal=ID)
    assert proposal.withdraw(given((SUBMITTED, ONE)), ALICE) == [taken]
    assert proposal.withdraw(given((SUBMITTED, ONE), (taken, TWO)), ALICE) == []


def test_nobody_else_takes_it_back_and_a_closed_one_stays() -> None:
    refused("forbidden", lambda: proposal.withdraw(given((SUBMITTED, ONE)), BOB))
    state = given((SUBMITTED, ONE), (APPROVED, TWO), (CLOSED, TWO))
    refused("already_decided", lambda: proposal.withdraw(state, ALICE))


people = st.sampled_from([ALICE, BOB, CAROL, IMPORTER])
ballots = st.builds(
    Ballot,
    st.builds(CommandId, st.uuids(version=4)),
    people,
    st.sampled_from(list(Verdict)),
    st.sampled_from([DIGEST, "e" * 64, None]),
    st.sampled_from([Reason.WRONG, Reason.OTHER, None]),
)
acts = st.one_of(ballots, people, st.just("submit"))
requirements = st.builds(Requirement, st.integers(1, 3), st.booleans())


@for_all(st.lists(acts, max_size=12), requirements, st.frozensets(people))
def test_any_sequence_of_decisions_folds_and_a_decision_on_its_own_result_is_quiet(
    sequence: list[Ballot | PrincipalId | str], requirement: Requirement, standing: frozenset[PrincipalId]
) -> None:
    history: list[Fact] = []
    for act in sequence:
        command = act.command if isinstance(act, Ballot) else CommandId(uuid4())

        def run(state: State, act: Ballot | PrincipalId | str = act) -> list[Event]:
            if isinstance(act, Ballot):
                return decide(state, act, requirement, standing)
            return proposal.submit(state, SUBMITTED) if isinstance(act, str) else proposal.withdraw(state, act)

        try:
            events = run(proposal.fold(history))
        except Refused:
            continue
        history += [(event, command) for event in events]
        assert run(proposal.fold(history)) == []
    assert sum(isinstance(event, ProposalResolved) for event, _ in history) <= 1
