"""Bank accounts, payment cards and birth numbers in running text: check digits, and a shape or a word that says so."""

from collections.abc import Iterator
from typing import NamedTuple

from content.numbers import IBAN_LENGTHS, is_card, is_fodselsnummer, is_iban, is_kontonummer
from content.patterns import Pattern, compiled

_NEAR = 60  # bytes on each side of a number in which a word gives it its meaning (edges: checksums measured alone)
_CARD_WORD = compiled(r"(?i)card|kort|\bvisa|amex|american express|maestro|diners|\bcv[cv]|kreditt|credit|debit")
_BANK_WORD = compiled(r"(?i)konto(?:[^r]|$)|bank|betal|account\s+n|acct")
_BIRTH_WORD = compiled(
    r"(?i)f(?:ø|Ø|o|oe)dsels|personn(?:ummer|r)|\bfnr|\bd-?nummer|national id|identity number|"
    r"personal (?:id|number)|birth number"
)
_IBAN_WORD = compiled(r"(?i)\biban")
_IBAN_START = compiled(r"(?i)\b[A-Z]{2}[ .-]?[0-9]{2}[ .-]?[A-Z0-9]")
_DIGITS = compiled(r"[0-9]+")

# How cards, accounts and birth numbers are written in groups.
_SHAPES = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 2, 5), (6, 5)})
_BEGINNINGS = frozenset(shape[:count] for shape in _SHAPES for count in range(1, len(shape)))
_ELEVEN = 11
_CARD_LENGTHS = range(13, 20)
_WHOLE_LENGTHS = frozenset({_ELEVEN, *_CARD_LENGTHS})
_SEPARATORS = frozenset(b" .-")


class Number(NamedTuple):
    """A number that pays or names a person: the rule that knows it, and its byte offsets."""

    rule: str
    start: int
    end: int


class _Group(NamedTuple):
    start: int
    end: int


def find(body: bytes) -> Iterator[Number]:
    """Every IBAN, card, Norwegian account and birth number in `body` whose surroundings leave no doubt."""
    yield from _ibans(body)
    groups = [_Group(*hit.span()) for hit in _DIGITS.finditer(body)]
    for first, group in enumerate(groups):
        window = [group]
        shape: tuple[int, ...] = (group.end - group.start,)
        while True:
            rule = _meaning(body, window, shape)
            if rule is not None:
                yield Number(rule, window[0].start, window[-1].end)
            following = first + len(window)
            if shape not in _BEGINNINGS or following == len(groups):
                break
            window = groups[first : following + 1]
            shape = (*shape, window[-1].end - window[-1].start)
            if not _joined(body, window):
                break


def _joined(body: bytes, window: list[_Group]) -> bool:
    """Whether the last two groups stand one separator apart, and all separators of the window are the same."""
    before, last = window[-2], window[-1]
    separator = body[before.end]
    return last.start - before.end == 1 and separator in _SEPARATORS and separator == body[window[0].end]


def _meaning(body: bytes, window: list[_Group], shape: tuple[int, ...]) -> str | None:
    single = len(shape) == 1
    if shape not in _SHAPES and not (single and shape[0] in _WHOLE_LENGTHS):
        return None
    start, end = window[0].start, window[-1].end
    if not _stands_alone(body, start, end):
        return None
    digits = b"".join(body[group.start : group.end] for group in window).decode()
    if len(digits) == _ELEVEN:
        return _meaning_of_eleven(body, digits, start, end, dotted=not single and body[window[0].end] == ord("."))
    if len(digits) in _CARD_LENGTHS and is_card(digits):
        grouped = not single and body[window[0].end] != ord(".")
        return "card" if grouped or _near(_CARD_WORD, body, start, end) else None
    return None


def _meaning_of_eleven(body: bytes, digits: str, start: int, end: int, *, dotted: bool) -> str | None:
    """A birth number is always a valid account number too, so it is tried first where a word speaks of one."""
    if is_fodselsnummer(digits) and _near(_BIRTH_WORD, body, start, end):
        return "fodselsnummer"
    if is_kontonummer(digits) and (dotted or _near(_BANK_WORD, body, start, end)):
        return "kontonummer"
    return None


def _ibans(body: bytes) -> Iterator[Number]:
    for hit in _IBAN_START.finditer(body):
        start, _ = hit.span()
        length = IBAN_LENGTHS.get(body[start : start + 2].decode().upper())
        if length is None:
            continue
        end = _walk(body, start, length)
        if end is None:
            continue
        country = body[start : start + 2]
        compact = body[start:end].translate(None, bytes(_SEPARATORS)).decode()
        if country != country.upper() and not _near(_IBAN_WORD, body, start, end):
            continue
        if 2 * sum(letter.isdigit() for letter in compact) >= length and is_iban(compact.upper()):
            yield Number("iban", start, end)


def _walk(body: bytes, start: int, length: int) -> int | None:
    """Where `length` letters and digits from `start` end, single separators between them not counted."""
    place, seen = start, 0
    while place < len(body) and seen < length:
        if _is_word(body[place]):
            seen += 1
        elif body[place] not in _SEPARATORS or not _is_word(body[place - 1]):
            return None
        place += 1
    ends_here = place == len(body) or not _is_word(body[place])
    return place if seen == length and ends_here else None


def _is_word(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122  # noqa: PLR2004 - ASCII digits and letters


def _stands_alone(body: bytes, start: int, end: int) -> bool:
    """Not a piece of an identifier, a path, a decimal or a longer chain of digits."""
    before = body[start - 1] if start else ord(" ")
    after = body[end] if end < len(body) else ord(" ")
    if _is_word(before) or _is_word(after) or before in b"_/-.\\" or after in b"_/\\":
        return False
    return not (after in b".-," and end + 1 < len(body) and _is_word(body[end + 1]))


def _near(word: Pattern, body: bytes, start: int, end: int) -> bool:
    return word.search(body[max(0, start - _NEAR) : end + _NEAR]) is not None
