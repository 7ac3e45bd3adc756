"""When a page's review is due. Pure: the instants are passed in."""

from datetime import datetime, timedelta

SNOOZE = timedelta(days=14)
"""How long a review rests that a person rejected. The page stays stale; only the reminder rests."""


def due(verified_at: datetime, review_days: int, snoozed_until: datetime | None) -> datetime:
    """When the next review is due: the end of the window, or of the rest where that is later."""
    end = verified_at + timedelta(days=review_days)
    return end if snoozed_until is None else max(end, snoozed_until)


def is_due(at: datetime, raised: datetime | None, now: datetime) -> bool:
    """Whether to raise the review due `at`: its time has come, and it was not raised before."""
    return now >= at and raised != at


def rest(rejected_at: datetime) -> datetime:
    """Until when a rejected review rests."""
    return rejected_at + SNOOZE
