"""When a review is due."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from drift.domain import freshness

NOON = datetime(2026, 9, 2, 12, tzinfo=UTC)
instants = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - zone below


def test_a_review_is_due_when_the_window_has_passed() -> None:
    due = freshness.due(NOON, 90, None)
    assert due == NOON + timedelta(days=90)
    assert not freshness.is_due(due, None, due - timedelta(microseconds=1))
    assert freshness.is_due(due, None, due)


def test_a_review_is_raised_once_for_one_due_instant() -> None:
    due = freshness.due(NOON, 1, None)
    assert not freshness.is_due(due, due, due + timedelta(days=400))


def test_a_rejected_review_comes_back_after_a_fortnight() -> None:
    rejected = NOON + timedelta(days=91)
    again = freshness.due(NOON, 90, freshness.rest(rejected))
    assert again == rejected + timedelta(days=14)


@given(instants, st.integers(0, 4000), st.none() | instants, instants)
def test_a_rest_never_brings_a_review_forward(
    verified: datetime, days: int, rest: datetime | None, now: datetime
) -> None:
    due = freshness.due(verified, days, rest)
    assert due >= freshness.due(verified, days, None)
    assert freshness.is_due(due, None, now) == (now >= due)
