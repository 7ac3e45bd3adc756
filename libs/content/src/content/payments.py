"""Bank accounts, payment cards and birth numbers in running text: check digits, and a shape or a word that says so."""

from collections.abc import Iterator
from typing import NamedTuple

from content.numbers import IBAN_LENGTHS, is_card, is_fodselsnummer, is_iban, is_kontonummer
from content.patterns import Pattern, compiled
from content.reading import LOOSELY

_NEAR = 60  # bytes on each side of a number in which a word gives it its meaning (edges: checksums measured alone)
_CARD_WORD = compiled(r"(?i)card|kort|\bvisa|amex|american express|maestro|diners|\bcv[cv]|kreditt|credit|debit")
_BANK_WORD = compiled(r"(?i)konto(?:[^r]|$)|bank|betal|account\s+n|acct")
_BIRTH_WORD = compiled(
    r"(?i)f(?:ø|Ø|o|oe)dsels|personn(?:ummer|r)|\bfnr|\bd-?nummer|national id|identity number|"
    r"personal (?:id|number)|birth number"
)
_IBAN_WORD = compiled(r"(?i)\biban")
_IBAN_START = compiled(r"(?i)(?:\b|iban_|konto_)([A-Z]{2}[ .-]?[0-9]{2}[ .|-]?[A-Z0-9])")
_ACCOUNT_WORD = compiled(r"(?i)konto(?:[^r]|$)|account\s+n|acct")
_DIGITS = compiled(r"[0-9]+")
_LAST_WORDS = compiled(r"[A-Za-z\x80-\xff]+(?:[_.-][A-Za-z\x80-\xff]+){0,2}$")
_PREFIX = compiled(
    r"(?i)(?:(?:^|[_.-])(?:card|visa|amex|mastercard|maestro|diners|iban|acct|account|bank|fnr|personnr)|kort|konto)"
    r"(?:[_.-]?(?:no|nr|number|nummer|num))?$"
)
_SUFFIX = compiled(r"^\.[A-Za-z][A-Za-z0-9]{0,7}(?:[^A-Za-z0-9._/-]|$)")

# How cards, accounts and birth numbers are written in groups.
_SHAPES = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 2, 5), (6, 5)})
_BEGINNINGS = frozenset(shape[:count] for shape in _SHAPES for count in range(1, len(shape)))
_ELEVEN = 11
_CARD_LENGTHS = range(13, 20)
_WHOLE_LENGTHS = frozenset({_ELEVEN, *_CARD_LENGTHS})
_LOOSE = ord(LOOSELY)
_SEPARATORS = frozenset({*b" .-", _LOOSE})
_LONGEST_PREFIX = 24  # bytes of a word that a dash or an underscore joins to its number


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
    """Whether the last two groups stand one separator apart, and all but the loose ones of the window are the same."""
    before, last = window[-2], window[-1]
    if last.start - before.end != 1 or body[before.end] not in _SEPARATORS:
        return False
    return len({body[group.end] for group in window[:-1]} - {_LOOSE}) <= 1


def _meaning(body: bytes, window: list[_Group], shape: tuple[int, ...]) -> str | None:
    single = len(shape) == 1
    if shape not in _SHAPES and not (single and shape[0] in _WHOLE_LENGTHS):
        return None
    start, end = window[0].start, window[-1].end
    separators = {body[group.end] for group in window[:-1]}
    if not _stands_alone(body, start, end, in_path=separators in ({ord(" ")}, {ord("-")})):
        return None
    digits = b"".join(body[group.start : group.end] for group in window).decode()
    if len(digits) == _ELEVEN:
        return _meaning_of_eleven(body, digits, start, end, separators)
    if len(digits) in _CARD_LENGTHS and is_card(digits):
        grouped = separators in ({ord(" ")}, {ord("-")})
        return "card" if grouped or _near(_CARD_WORD, body, start, end) else None
    return None


def _meaning_of_eleven(body: bytes, digits: str, start: int, end: int, separators: set[int]) -> str | None:
    """A birth number is always a valid account number too, so it is tried first where a word speaks of one."""
    if is_fodselsnummer(digits) and _near(_BIRTH_WORD, body, start, end):
        return "fodselsnummer"
    word = _ACCOUNT_WORD if _LOOSE in separators else _BANK_WORD
    if is_kontonummer(digits) and (separators == {ord(".")} or _near(word, body, start, end)):
        return "kontonummer"
    return None


def _ibans(body: bytes) -> Iterator[Number]:
    for hit in _IBAN_START.finditer(body):
        start, _ = hit.span(1)
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


def _stands_alone(body: bytes, start: int, end: int, *, in_path: bool) -> bool:
    """Not a piece of an identifier, a decimal or a longer chain of digits; of a path only where it may be `in_path`."""
    if _is_word(_at(body, start - 1)) or _is_word(_at(body, end)):
        return False
    return _may_follow(body, start, in_path=in_path) and _may_precede(body, end, in_path=in_path)


def _may_follow(body: bytes, start: int, *, in_path: bool) -> bool:
    before = _at(body, start - 1)
    if before == ord("/"):
        return in_path
    if before == ord("_") and not _is_word(_at(body, start - 2)):
        return True  # emphasis begins
    return before not in b"_-.\\" or _follows_its_name(body, start - 1)


def _may_precede(body: bytes, end: int, *, in_path: bool) -> bool:
    after, next_one = _at(body, end), _at(body, end + 1)
    if after == ord("/"):
        return in_path
    if after == ord("_"):
        return not _is_word(next_one)  # emphasis ends
    return after != ord("\\") and not (after in b".-," and (_is_word(next_one) and not _is_suffix(body, end)))


def _follows_its_name(body: bytes, joint: int) -> bool:
    """Whether the word that a dash, an underscore or a dot joins to a number says what the number is."""
    if body[joint] == ord("\\"):
        return False
    word = body[max(0, joint - _LONGEST_PREFIX) : joint]
    name = _LAST_WORDS.search(word)
    return name is not None and _PREFIX.search(name.group()) is not None


def _is_suffix(body: bytes, end: int) -> bool:
    """Whether the dot at `end` begins the suffix of a file's name."""
    return body[end] == ord(".") and _SUFFIX.search(body[end : end + 12]) is not None


def _at(body: bytes, index: int) -> int:
    return body[index] if 0 <= index < len(body) else ord(" ")


def _near(word: Pattern, body: bytes, start: int, end: int) -> bool:
    return word.search(body[max(0, start - _NEAR) : end + _NEAR]) is not None
