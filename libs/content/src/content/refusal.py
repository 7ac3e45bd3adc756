"""What the write path refuses: credentials, cards, bank accounts and national ids; told by place, never by value."""

from bisect import bisect
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from kingfisher_sdk import Scanner

from content import credentials, front, payments, reading
from content.reading import Reading
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

    Its very bytes are scanned, and what a reader makes of them: its characters as they are seen, the groups of its
    numbers drawn together, and the values of its frontmatter decoded. What only a reading shows is told at the bytes
    that it was read from. Only the offline scan is used: nothing found is ever sent anywhere to be tried out.
    """
    found = [*_credentials(body), *_numbers(body)]
    text = body.decode("utf-8", "surrogateescape")
    read = [*_read(text, [])]
    block = front.decoded(text)
    if block is not None:
        values = _bytes(block.text)
        scanned = [*_credentials(values), *_numbers(values)]
        read += [*_traced(values, scanned, [block]), *_read(block.text, [block])]
    found += _placed(body, text, read)
    return _apart(found)


def places(body: bytes, offsets: list[int]) -> list[Place]:
    """The line and column of each of some ascending byte offsets, in one pass."""
    found, line, begins, done = [], 1, 0, 0
    for offset in offsets:
        if breaks := body.count(b"\n", done, offset):
            line += breaks
            begins = body.rfind(b"\n", done, offset) + 1
        done = offset
        found.append(Place(line, len(body[begins:offset].decode("utf-8", "replace")) + 1))
    return found


def _credentials(body: bytes) -> Iterator[Match]:
    for finding in scanner().scan(body):
        if finding.visible and not credentials.is_stand_in(finding.secret.encode()):
            place = finding.location
            yield Match(Refusal.CREDENTIAL, place["start_offset"], place["end_offset"], finding.rule_id)
    for rule, start, end in credentials.find(body):
        yield Match(Refusal.CREDENTIAL, start, end, rule)


def _numbers(body: bytes) -> Iterator[Match]:
    for number in payments.find(body):
        yield Match(_CATEGORIES[number.rule], number.start, number.end, number.rule)


def _read(text: str, through: list[Reading]) -> Iterator[Match]:
    """What only the readings of `text` show, in characters of what `through` was read from."""
    seen = reading.seen(text)
    if seen is not None:
        text, through = seen.text, [seen, *through]
        body = _bytes(text)
        yield from _traced(body, [*_credentials(body)], through)
    joined = reading.joined(text)
    if joined is not None:
        text, through = joined.text, [joined, *through]
    if seen is not None or joined is not None:
        body = _bytes(text)
        yield from _traced(body, [*_numbers(body)], through)


def _traced(body: bytes, found: list[Match], through: list[Reading]) -> Iterator[Match]:
    """Matches in bytes of a reading as matches in characters of the text behind it."""
    characters = _characters(body, [edge for match in found for edge in (match.start, match.end)])
    for match in found:
        start, end = characters[match.start], characters[match.end]
        for each in through:
            start, end = each.origin(start, end)
        yield match._replace(start=start, end=end)


def _placed(body: bytes, text: str, found: list[Match]) -> Iterator[Match]:
    """Matches in characters of `text` as matches in bytes of `body`."""
    if len(body) == len(text):
        yield from found
        return
    offsets, done, at = {}, 0, 0
    for index in sorted({edge for match in found for edge in (match.start, match.end)}):
        at += len(_bytes(text[done:index]))
        done = index
        offsets[index] = at
    for match in found:
        yield match._replace(start=offsets[match.start], end=offsets[match.end])


def _characters(body: bytes, offsets: list[int]) -> dict[int, int]:
    """How many characters stand before each byte offset of `body`."""
    counted, done, at = {}, 0, 0
    for offset in sorted(set(offsets)):
        at += len(body[done:offset].decode("utf-8", "surrogateescape"))
        done = offset
        counted[offset] = at
    return counted


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _apart(found: list[Match]) -> list[Match]:
    kept: list[Match] = []  # in order and without overlaps, so that only two neighbours can be in the way
    for match in sorted(found, key=lambda match: (match.start - match.end, match.start)):
        at = bisect(kept, match.start, key=lambda other: other.start)
        before_ends = kept[at - 1].end if at else 0
        after_starts = kept[at].start if at < len(kept) else match.end
        if before_ends <= match.start and match.end <= after_starts:
            kept.insert(at, match)
    return kept
