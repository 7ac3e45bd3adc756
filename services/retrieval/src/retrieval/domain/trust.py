"""How far a page may be relied on at an instant. Nothing is stored: a page goes stale by itself."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from contracts.enums import Knowledge

VERIFIED = "canon_verified"
STALE = "canon_stale"
NO_COVERAGE = "no_coverage"


def review_by(verified: datetime | None, review_days: int) -> datetime | None:
    """When the page's window closes, None where nobody ever verified it."""
    return None if verified is None else verified + timedelta(days=review_days)


def trust(knowledge: Knowledge, verified: datetime | None, review_days: int, now: datetime) -> str:
    """`canon_verified` while knowledge is verified and its window is open, else `canon_stale`."""
    due = review_by(verified, review_days)
    held = knowledge is Knowledge.VERIFIED and due is not None and now < due
    return VERIFIED if held else STALE


def weakest(labels: Iterable[str]) -> str:
    """What an answer that rests on all of these is worth; `no_coverage` where it rests on nothing."""
    found = set(labels)
    if not found:
        return NO_COVERAGE
    return VERIFIED if found == {VERIFIED} else STALE
