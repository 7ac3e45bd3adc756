"""Given facts, when pages are written, submitted or landed, then these facts or this refusal."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from approvals.domain import build
from approvals.domain.build import Event, State
from contracts.content import ContentRef
from contracts.enums import Origin, PageAction
from contracts.errors import Refused
from contracts.ids import BuildId, ContentId, PageId, PrincipalId, ProposalId
from contracts.proposals import BuildAbandoned, BuildOpened, BuildPageWritten, BuildPromoted, BuildSubmitted, PageDraft

ID = BuildId(UUID(int=1))
IMPORTER, ALICE, MALLORY = (PrincipalId(UUID(int=n)) for n in range(2, 5))
OPENED = BuildOpened(build=ID, principal=IMPORTER, runner=ALICE, origin=Origin.IMPORT)
SUBMITTED = BuildSubmitted(build=ID, proposal=ProposalId(UUID(int=9)))
PATH = ContentRef(ContentId(uuid4()), "p")


def draft(number: int, version: int = 0) -> PageDraft:
    body = ContentRef(ContentId(UUID(int=1000 + 10 * number + version)), "b")
    return PageDraft(page=PageId(UUID(int=number)), action=PageAction.CREATE, base=0, body=body, path=PATH)


WRITTEN = BuildPageWritten(build=ID, draft=draft(1))


def refused(code: str, act: Callable[[], object]) -> None:
    with pytest.raises(Refused) as caught:
        act()
    assert caught.value.code == code


def test_a_build_is_opened_once() -> None:
    assert build.open_build(build.Missing(), OPENED) == [OPENED]
    assert build.open_build(build.fold([OPENED]), OPENED) == []
    other = BuildOpened(build=ID, principal=MALLORY, runner=MALLORY, origin=Origin.IMPORT)
    refused("build_exists", lambda: build.open_build(build.fold([OPENED]), other))


def test_a_page_written_again_is_replaced_and_the_same_write_is_quiet() -> None:
    state = build.fold([OPENED, WRITTEN])
    assert build.write(state, ID, IMPORTER, [draft(1)]) == []
    (again,) = build.write(state, ID, IMPORTER, [draft(1, version=1)])
    replaced = build.fold([OPENED, WRITTEN, again])
    assert isinstance(replaced, build.Open)
    assert dict(replaced.drafts) == {draft(1).page: draft(1, version=1)}


def test_a_build_of_somebody_else_answers_as_one_that_does_not_exist() -> None:
    with pytest.raises(Refused) as hidden:
        build.write(build.fold([OPENED]), ID, MALLORY, [draft(1)])
    with pytest.raises(Refused) as absent:
        build.write(build.Missing(), ID, MALLORY, [draft(1)])
    assert (hidden.value.code, hidden.value.what) == (absent.value.code, absent.value.what)


def test_a_build_holds_nine_hundred_pages_and_no_more() -> None:
    full = build.write(build.fold([OPENED]), ID, IMPORTER, [draft(n) for n in range(900)])
    assert len(full) == 900
    state = build.fold([OPENED, *full])
    refused("build_full", lambda: build.write(state, ID, IMPORTER, [draft(900)]))
    assert len(build.write(state, ID, IMPORTER, [draft(5, version=1)])) == 1


def test_a_submitted_build_is_closed_for_writing() -> None:
    state = build.fold([OPENED, WRITTEN, SUBMITTED])
    refused("build_closed", lambda: build.write(state, ID, IMPORTER, [draft(2)]))
    assert build.submit(state, IMPORTER, SUBMITTED) == []


def test_an_empty_build_is_not_submitted() -> None:
    refused("build_empty", lambda: build.submit(build.fold([OPENED]), IMPORTER, SUBMITTED))


def test_a_build_lands_or_never_does() -> None:
    state = build.fold([OPENED, WRITTEN, SUBMITTED])
    landed = BuildPromoted(build=ID, pages=1)
    assert build.promote(state, ID) == [landed]
    assert build.abandon(state, ID) == [BuildAbandoned(build=ID)]
    refused("build_closed", lambda: build.abandon(build.fold([OPENED, WRITTEN, SUBMITTED, landed]), ID))
    refused("build_closed", lambda: build.promote(build.fold([OPENED, WRITTEN]), ID))


acts = st.one_of(
    st.sampled_from(["open", "submit", "promote", "abandon"]),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=4),
)


@for_all(st.lists(acts, max_size=12))
def test_any_sequence_of_decisions_folds_and_a_decision_on_its_own_result_is_quiet(
    sequence: list[str | list[tuple[int, int]]],
) -> None:
    history: list[Event] = []
    for act in sequence:

        def run(state: State, act: str | list[tuple[int, int]] = act) -> list[Event]:
            match act:
                case "open":
                    return build.open_build(state, OPENED)
                case "submit":
                    return build.submit(state, IMPORTER, SUBMITTED)
                case "promote":
                    return build.promote(state, ID)
                case "abandon":
                    return build.abandon(state, ID)
                case _:
                    assert not isinstance(act, str)
                    return build.write(state, ID, IMPORTER, [draft(n, version) for n, version in act])

        try:
            events = run(build.fold(history))
        except Refused:
            continue
        history += events
        assert run(build.fold(history)) == []
    ends = sum(isinstance(event, (BuildPromoted, BuildAbandoned)) for event in history)
    assert ends <= 1
