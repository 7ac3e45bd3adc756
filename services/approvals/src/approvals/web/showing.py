"""Text as a reviewer must see it: escaped, with everything that hides made visible, and what changed line by line."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from corpus.diff import line_diff

CONTEXT = 3
"""Unchanged lines shown around a change."""

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_PLAIN = frozenset({"\t", "\n"})
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u034f\u115f\u1160\u3164\uffa0]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a comparison. `kind`: same, gone, new, or skip, where `text` tells how many lines are left out."""

    kind: str
    before: int | None
    after: int | None
    text: Markup


def hides(character: str) -> bool:
    """Whether a character shows as nothing, as a space it is not, or turns the order of the others."""
    if character in _PLAIN or character == " ":
        return False
    category = unicodedata.category(character)
    return category in _HIDDEN or category == "Zs" or _SELECTORS.match(character) is not None


def visible(text: str) -> Markup:
    """The text escaped, each hiding character written as its code point, with its name to hover on."""
    parts: list[str] = []
    plain: list[str] = []
    for character in text:
        if not hides(character):
            plain.append(character)
            continue
        parts.append(str(escape("".join(plain))))
        plain.clear()
        code = f"U+{ord(character):04X}"
        name = unicodedata.name(character, "unnamed")
        parts.append(f'<span class="hidden" title="{escape(name)}">{code}</span>')
    parts.append(str(escape("".join(plain))))
    return Markup("".join(parts))  # noqa: S704 - every part above is escaped or a code point


def hidden(text: str) -> int:
    """How many hiding characters a text has."""
    return sum(hides(character) for character in text)


def lines(text: str) -> list[Line]:
    """A text by numbered lines."""
    return [Line("same", None, number, visible(line)) for number, line in enumerate(text.split("\n"), start=1)]


def comparison(old: str, new: str) -> list[Line]:
    """What changed, with a little of what did not around it."""
    return list(_compared(old.split("\n"), new))


def _compared(before: list[str], new: str) -> Iterator[Line]:
    hunks = line_diff("\n".join(before), new)
    at, shift = 0, 0
    for hunk in hunks:
        yield from _same(before, at, hunk.old_start, shift, first=at == 0)
        for number, text in enumerate(hunk.old, start=hunk.old_start + 1):
            yield Line("gone", number, None, visible(text))
        for number, text in enumerate(hunk.new, start=hunk.new_start + 1):
            yield Line("new", None, number, visible(text))
        at = hunk.old_start + len(hunk.old)
        shift = hunk.new_start + len(hunk.new) - at
    if hunks:
        yield from _same(before, at, len(before), shift, first=False, last=True)


def _same(before: list[str], start: int, end: int, shift: int, *, first: bool, last: bool = False) -> Iterator[Line]:
    """The unchanged lines between two changes: the last few of what is behind, the first few of what is ahead."""
    head = start if first else min(start + CONTEXT, end)
    tail = end if last else max(end - CONTEXT, head)
    shown = [*range(start, head), *range(tail, end)] if not last else list(range(start, head))
    left_out = (end - start) - len(shown)
    for number in shown:
        if left_out and number == (tail if not last else -1):
            yield _skip(left_out)
            left_out = 0
        yield Line("same", number + 1, number + 1 + shift, visible(before[number]))
    if left_out:
        yield _skip(left_out)


def _skip(count: int) -> Line:
    return Line("skip", None, None, Markup("{} unchanged {}").format(count, "line" if count == 1 else "lines"))
