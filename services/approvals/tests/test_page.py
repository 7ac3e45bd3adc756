"""Given facts, when a page is promoted, verified or ended, then these facts or this refusal."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from approvals.domain import page
from approvals.domain.page import Event, Landing, State
from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, PageAction, Reach
from contracts.errors import Refused
from contracts.ids import ContentId, PageId, PrincipalId, ProposalId
from contracts.proposals import PageDeprecated, PageDraft, PagePromoted, PageVerified, PageWentStale

NOW = datetime(2026, 9, 2, tzinfo=UTC)
ID = PageId(UUID(int=1))
BOB = PrincipalId(UUID(int=2))
FIRST, SECOND = ProposalId(UUID(int=3)), ProposalId(UUID(int=4))
DRAFT = PageDraft(
    page=ID,
    action=PageAction.CREATE,
    base=0,
    body=ContentRef(ContentId(uuid4()), "b"),
    path=ContentRef(ContentId(uuid4()), "p"),
)
LANDING = Landing(BOB, Access.DEPARTMENT, Reach.ORDINARY, Knowledge.VERIFIED, 90)


def promote(state: State, draft: PageDraft = DRAFT, landing: Landing = LANDING, of: ProposalId = FIRST) -> list[Event]:
    return page.promote(state, draft, landing, proposal=of, approver=BOB, now=NOW)


def deprecate(state: State, draft: PageDraft, of: ProposalId = SECOND) -> list[Event]:
    return page.deprecate(state, draft, proposal=of, approver=BOB)


def edit(base: int) -> PageDraft:
    return msgspec.structs.replace(DRAFT, base=base, action=PageAction.EDIT)


def refused(code: str, act: Callable[[], object]) -> None:
    with pytest.raises(Refused) as caught:
        act()
    assert caught.value.code == code


LIVE = tuple(promote(page.Missing()))


def test_a_first_promotion_that_claims_to_be_verified_is() -> None:
    promoted, verified = LIVE
    assert isinstance(promoted, PagePromoted)
    assert (promoted.revision, promoted.approver) == (1, BOB)
    assert verified == PageVerified(page=ID, revision=1, by=BOB, at=NOW)


@pytest.mark.parametrize("knowledge", [Knowledge.HYPOTHESIS, Knowledge.UNRESOLVED])
def test_a_first_promotion_that_claims_less_is_not(knowledge: Knowledge) -> None:
    assert len(promote(page.Missing(), landing=replace(LANDING, knowledge=knowledge))) == 1


def test_an_edit_is_the_next_revision_and_verifies_nothing() -> None:
    events = promote(page.fold(LIVE), edit(1), of=SECOND)
    assert [type(event) for event in events] == [PagePromoted]
    state = page.fold([*LIVE, *events])
    assert isinstance(state, page.Live)
    assert (state.revision, state.verified_at) == (2, NOW)


def test_a_draft_against_another_revision_is_refused() -> None:
    refused("base_moved", lambda: promote(page.fold(LIVE), DRAFT, of=SECOND))
    refused("base_moved", lambda: promote(page.fold(LIVE), edit(2), of=SECOND))
    refused("base_moved", lambda: promote(page.Missing(), edit(1)))


def test_a_page_that_ended_cannot_be_edited_nor_ended_again() -> None:
    ended = page.fold([*LIVE, *deprecate(page.fold(LIVE), edit(1))])
    refused("base_moved", lambda: promote(ended, edit(1)))
    refused("base_moved", lambda: deprecate(ended, edit(1), FIRST))


def test_a_page_ends_once() -> None:
    events = deprecate(page.fold(LIVE), edit(1))
    assert events == [PageDeprecated(page=ID, revision=1, proposal=SECOND, approver=BOB)]
    assert deprecate(page.fold([*LIVE, *events]), edit(1)) == []


def test_verifying_starts_the_window_again_and_ends_staleness() -> None:
    stale = page.go_stale(page.fold(LIVE), ID, NOW)
    assert stale == [PageWentStale(page=ID, due=NOW)]
    assert page.go_stale(page.fold([*LIVE, *stale]), ID, NOW) == []
    later = NOW + timedelta(days=1)
    verified = page.verify(page.fold([*LIVE, *stale]), ID, by=BOB, now=later)
    state = page.fold([*LIVE, *stale, *verified])
    assert isinstance(state, page.Live)
    assert (state.verified_at, state.stale_since) == (later, None)


def test_what_is_not_live_cannot_be_verified_or_go_stale() -> None:
    refused("no_such_page", lambda: page.verify(page.Missing(), ID, by=BOB, now=NOW))
    refused("no_such_page", lambda: page.go_stale(page.Missing(), ID, NOW))


acts = st.tuples(
    st.sampled_from(["promote", "deprecate", "verify", "stale"]),
    st.integers(0, 3),
    st.sampled_from([ProposalId(UUID(int=n)) for n in range(3, 9)]),
    st.sampled_from(list(Knowledge)),
)


@for_all(st.lists(acts, max_size=12))
def test_any_sequence_of_decisions_folds_and_a_decision_on_its_own_result_is_quiet(
    sequence: list[tuple[str, int, ProposalId, Knowledge]],
) -> None:
    history: list[Event] = []
    for number, (act, base, of, knowledge) in enumerate(sequence):
        at = NOW + timedelta(hours=number)

        def run(state: State) -> list[Event]:
            match act:  # noqa: B023 - run within the iteration that it was made in
                case "promote":
                    return promote(state, edit(base), replace(LANDING, knowledge=knowledge), of)  # noqa: B023
                case "deprecate":
                    return deprecate(state, edit(base), of)  # noqa: B023
                case "verify":
                    return page.verify(state, ID, by=BOB, now=at)  # noqa: B023
                case _:
                    return page.go_stale(state, ID, at)  # noqa: B023

        try:
            events = run(page.fold(history))
        except Refused:
            continue
        history += events
        assert run(page.fold(history)) == []
    revisions = [event.revision for event in history if isinstance(event, PagePromoted)]
    assert revisions == list(range(1, len(revisions) + 1))
