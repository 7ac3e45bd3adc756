"""What the write path refuses: credentials, cards, bank accounts and national ids; told by place, never by value."""

from bisect import bisect
from functools import cache
from typing import NamedTuple

from kingfisher_sdk import Scanner

from content import credentials, payments
from contracts.enums import Refusal

_CATEGORIES = {
    "iban": Refusal.BANK_ACCOUNT,
    "kontonummer": Refusal.BANK_ACCOUNT,
    "card": Refusal.PAYMENT_CARD,
    "fodselsnummer": Refusal.NATIONAL_ID,
}


class Match(NamedTuple):
    """Something that may not be stored: its category, its byte offsets in the body, and the rule that knew it."""

    category: Refusal
    start: int
    end: int
    rule: str


class Place(NamedTuple):
    """A position in a text as an editor shows it; both count from 1, the column in characters."""

    line: int
    column: int


@cache
def scanner() -> Scanner:
    """The one scanner of this process. Its rules load in 0.3 s, and in 3 s on a machine's first run."""
    return Scanner()


def find(body: bytes) -> list[Match]:
    """Everything in `body` that may not be stored, in order, without overlaps: the longer of two matches wins.

    Only the offline scan is used: nothing found is ever sent anywhere to be tried out.
    """
    found = [*_scanned(body)]
    found += [Match(Refusal.CREDENTIAL, start, end, rule) for rule, start, end in credentials.find(body)]
    found += [Match(_CATEGORIES[number.rule], number.start, number.end, number.rule) for number in payments.find(body)]
    return _apart(found)


def place(body: bytes, offset: int) -> Place:
    """The line and column of a byte offset."""
    before = body[:offset]
    line = before.count(b"\n")
    return Place(line + 1, len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1)


def _scanned(body: bytes) -> list[Match]:
    return [
        Match(Refusal.CREDENTIAL, finding.location["start_offset"], finding.location["end_offset"], finding.rule_id)
        for finding in scanner().scan(body)
        if finding.visible and not credentials.is_stand_in(finding.secret.encode())
    ]


def _apart(found: list[Match]) -> list[Match]:
    kept: list[Match] = []  # in order and without overlaps, so that only two neighbours can be in the way
    for match in sorted(found, key=lambda match: (match.start - match.end, match.start)):
        at = bisect(kept, match.start, key=lambda other: other.start)
        before_ends = kept[at - 1].end if at else 0
        after_starts = kept[at].start if at < len(kept) else match.end
        if before_ends <= match.start and match.end <= after_starts:
            kept.insert(at, match)
    return kept
