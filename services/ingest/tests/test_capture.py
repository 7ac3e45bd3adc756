"""The life of one capture, decision by decision."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given as worlds
from hypothesis import strategies as st

from contracts.captures import Acl, CaptureAclChanged, CaptureRecorded, CaptureRefused, CaptureWithdrawn
from contracts.content import ContentRef
from contracts.enums import AuthorKind, Refusal, Region
from contracts.errors import Refused
from contracts.ids import BrainId, CaptureId, ContentId, PrincipalId
from ingest.domain.capture import (
    Changer,
    Event,
    Missing,
    Recorded,
    State,
    Withdrawn,
    capture_id,
    change_acl,
    evolve,
    fold,
    may_change,
    narrows,
    record,
    refuse,
    withdraw,
)

BRAIN = BrainId(UUID(int=1))
ID = CaptureId(UUID(int=2))
ALICE, BOB = PrincipalId(UUID(int=3)), PrincipalId(UUID(int=4))
EVERYONE, NOBODY, UNKNOWN = Acl(everyone=True), Acl(), Acl(known=False)
ONLY_ALICE, BOTH = Acl(principals=(ALICE,)), Acl(principals=(ALICE, BOB))

recorded = CaptureRecorded(
    capture=ID,
    body=ContentRef(ContentId(UUID(int=5)), "c" * 64),
    descriptor=ContentRef(ContentId(UUID(int=6)), "d" * 64),
    acl=EVERYONE,
    author=AuthorKind.PERSON,
    occurred_at=datetime(2026, 9, 2, tzinfo=UTC),
    region=Region.LOCAL,
)
refused = CaptureRefused(capture=ID, category=Refusal.CREDENTIAL)
withdrawn = CaptureWithdrawn(capture=ID)
for_alice = CaptureAclChanged(capture=ID, acl=ONLY_ALICE)


def test_something_new_can_be_recorded() -> None:
    assert record(fold([]), recorded) == [recorded]


def test_what_was_refused_can_be_recorded_once_the_rules_admit_it() -> None:
    assert record(fold([refused]), recorded) == [recorded]


def test_recording_twice_changes_nothing() -> None:
    assert record(fold([recorded]), recorded) == []


def test_what_was_withdrawn_is_not_recorded_again_under_its_id() -> None:
    assert record(fold([recorded, withdrawn]), recorded) == []


def test_something_new_can_be_refused() -> None:
    assert refuse(fold([]), ID, Refusal.CREDENTIAL) == [refused]


def test_refusing_twice_changes_nothing() -> None:
    assert refuse(fold([refused]), ID, Refusal.PATH) == []


def test_what_is_recorded_stays_recorded_when_it_is_refused_later() -> None:
    assert refuse(fold([recorded]), ID, Refusal.CREDENTIAL) == []


def test_a_recorded_capture_can_be_withdrawn() -> None:
    assert withdraw(fold([recorded]), ID) == [withdrawn]
    assert fold([recorded, withdrawn]) == Withdrawn(EVERYONE)


def test_withdrawing_twice_changes_nothing() -> None:
    assert withdraw(fold([recorded, withdrawn]), ID) == []


@pytest.mark.parametrize("history", [[], [refused]], ids=["missing", "refused"])
def test_what_was_never_kept_can_neither_be_withdrawn_nor_change_its_acl(history: list[Event]) -> None:
    with pytest.raises(Refused) as told:
        withdraw(fold(history), ID)
    assert told.value.code == "no_such_capture"
    with pytest.raises(Refused) as told:
        change_acl(fold(history), ID, ONLY_ALICE)
    assert told.value.code == "no_such_capture"


def test_an_acl_can_change() -> None:
    assert change_acl(fold([recorded]), ID, ONLY_ALICE) == [for_alice]
    assert fold([recorded, for_alice]) == Recorded(ONLY_ALICE)


def test_the_same_acl_again_changes_nothing() -> None:
    assert change_acl(fold([recorded, for_alice]), ID, ONLY_ALICE) == []


def test_a_withdrawn_capture_stays_withdrawn_when_its_acl_changes() -> None:
    assert fold([recorded, withdrawn, for_alice]) == Withdrawn(ONLY_ALICE)


@pytest.mark.parametrize(
    ("before", "after", "does"),
    [
        (EVERYONE, ONLY_ALICE, True),
        (EVERYONE, NOBODY, True),
        (EVERYONE, UNKNOWN, True),
        (BOTH, ONLY_ALICE, True),
        (ONLY_ALICE, Acl(principals=(BOB,)), True),
        (ONLY_ALICE, UNKNOWN, True),
        (ONLY_ALICE, BOTH, False),
        (ONLY_ALICE, EVERYONE, False),
        (EVERYONE, EVERYONE, False),
        (NOBODY, UNKNOWN, False),
        (UNKNOWN, ONLY_ALICE, False),
        (UNKNOWN, EVERYONE, False),
    ],
)
def test_an_acl_narrows_exactly_when_somebody_loses_sight(before: Acl, after: Acl, does: bool) -> None:
    assert narrows(before, after) is does


def test_bytes_that_come_back_after_others_are_another_capture() -> None:
    first = capture_id(BRAIN, "notes", "a.md", "1" * 64, None, ALICE)
    second = capture_id(BRAIN, "notes", "a.md", "2" * 64, first, ALICE)
    again = capture_id(BRAIN, "notes", "a.md", "1" * 64, second, ALICE)
    assert len({first, second, again}) == 3
    assert first == capture_id(BRAIN, "notes", "a.md", "1" * 64, None, ALICE)


def test_the_same_bytes_are_different_captures_in_different_places() -> None:
    places = [
        (BRAIN, "notes", "a.md"),
        (BRAIN, "notes", "b.md"),
        (BRAIN, "wiki", "a.md"),
        (BrainId(uuid4()), "notes", "a.md"),
    ]
    assert len({capture_id(*place, "1" * 64, None, ALICE) for place in places}) == 4


def test_the_same_bytes_of_two_people_are_different_captures() -> None:
    assert capture_id(BRAIN, "notes", "a.md", "1" * 64, None, ALICE) != capture_id(
        BRAIN, "notes", "a.md", "1" * 64, None, BOB
    )


@pytest.mark.parametrize(
    ("administers", "subjects", "acl", "may"),
    [
        (False, {BOB}, EVERYONE, False),
        (False, {BOB}, BOTH, False),
        (True, {BOB}, EVERYONE, True),
        (True, {BOB}, BOTH, True),
        (True, {BOB, ALICE}, ONLY_ALICE, True),  # as one admitted by a group is
        (True, {BOB}, ONLY_ALICE, False),
        (True, {BOB}, NOBODY, False),
        (True, {BOB}, UNKNOWN, False),
    ],
)
def test_what_somebody_else_filed_is_changed_only_by_an_administrator_whom_it_admits(
    administers: bool, subjects: set[PrincipalId], acl: Acl, may: bool
) -> None:
    assert may_change(Changer(BOB, frozenset(subjects), administers), ALICE, acl) is may


@pytest.mark.parametrize("acl", [EVERYONE, NOBODY, UNKNOWN, ONLY_ALICE])
def test_whoever_filed_a_capture_may_change_it_whomever_it_admits(acl: Acl) -> None:
    assert may_change(Changer(BOB, frozenset({BOB}), administers=False), BOB, acl)


ACLS = st.sampled_from([EVERYONE, NOBODY, UNKNOWN, ONLY_ALICE, BOTH])
STEPS = st.lists(st.tuples(st.sampled_from(["record", "refuse", "withdraw", "acl"]), ACLS), max_size=12)


def _decide(state: State, step: str, acl: Acl) -> list[Event]:
    try:
        match step:
            case "record":
                return record(state, recorded)
            case "refuse":
                return refuse(state, ID, Refusal.EMPTY)
            case "withdraw":
                return withdraw(state, ID)
            case _:
                return change_acl(state, ID, acl)
    except Refused:
        return []


@worlds(STEPS)
def test_any_sequence_of_decisions_folds_and_each_is_quiet_on_its_own_result(steps: list[tuple[str, Acl]]) -> None:
    state: State = Missing()
    history: list[Event] = []
    for step, acl in steps:
        said = _decide(state, step, acl)
        history += said
        for event in said:
            state = evolve(state, event)
        assert _decide(state, step, acl) == []
    assert fold(history) == state
