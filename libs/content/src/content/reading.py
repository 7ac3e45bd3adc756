"""A text as a person reads it: what is invisible left out, look-alikes as what they look like, entities decoded.

Every reading knows where each of its characters stands in the text that it was made from.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_OPAQUE = frozenset({"Cs", "Co", "Cn"})  # surrogates, private use, unassigned
_SEEN_AS = {"\N{MINUS SIGN}": "-", "\N{BRAILLE PATTERN BLANK}": " "}
_KIND_SEEN_AS = {"Zs": " ", "Zl": "\n", "Zp": "\n", "Pd": "-"}
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # fillers and joiners that are no format characters
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x180E))  # of a glyph's variant

_INLINE = "a|b|strong|i|em|u|s|mark|code|span|sup|sub|wbr|small|font|kbd|del|ins|nobr"
_TAG = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]{{0,200}})?/?>|<!--[^<>]{{0,200}}?-->", re.IGNORECASE)
_CELL = re.compile(r"(?:\s*</?(?:td|th)(?:\s[^<>]{0,200})?>)+\s*", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_GAP = r"(?:[ \t*_~`\\|.\-\n>]|<[^<>\n]{1,210}>){1,48}"
_BETWEEN = re.compile(rf"[0-9A-Z](?![ .-][0-9A-Za-z])({_GAP})(?=[0-9A-Za-z])")
_MARKS = re.compile(r"[*~`\\]")
_QUOTED_BREAK = re.compile(r" *\n[ >]*")
_LOOSE = re.compile(r" {0,2}[-.] {0,2}")
_CELLS = re.compile(r" *\| *")

LOOSELY = "|"
"""What stands in a reading between groups that only a word nearby can make one number: cells, columns, lines."""


class Piece(NamedTuple):
    """A piece of a reading, and the characters of the source that it was `copied` from or stands for."""

    text: str
    start: int
    end: int
    copied: bool = False


class Reading:
    """A text made of pieces of another, in order."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        texts: list[str] = []
        self._starts: list[int] = []
        self._pieces: list[Piece] = []
        length = 0
        for piece in pieces:
            if piece.text:
                texts.append(piece.text)
                self._starts.append(length)
                self._pieces.append(piece)
                length += len(piece.text)
        self.text = "".join(texts)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the source that those from `start` to `end` of this reading were made from."""
        return self._origin(start)[0], self._origin(end - 1)[1]

    def _origin(self, at: int) -> tuple[int, int]:
        index = bisect_right(self._starts, at) - 1
        piece = self._pieces[index]
        if not piece.copied:
            return piece.start, piece.end
        place = piece.start + at - self._starts[index]
        return place, place + 1


def seen(text: str) -> Reading | None:
    """`text` with its characters as they are seen, None where they are written so already.

    Characters without a width are left out; digits of all scripts, full-width letters, blanks and dashes become
    ASCII (Unicode's compatibility forms, NFKC); HTML entities are decoded.
    """
    folded = {} if text.isascii() else {each: short for each in set(text) if (short := _folded(each)) != each}
    classes = [f"[{re.escape(''.join(folded))}]"] if folded else []
    if "&" in text:
        classes.append(_ENTITY)
    if not classes:
        return None
    shape = re.compile("|".join(classes))
    return _rewritten(
        text, (Piece(folded.get(found[0]) or _decoded(found[0]), *found.span()) for found in shape.finditer(text))
    )


def joined(text: str) -> Reading | None:
    """`text` with what stands between two groups of a number as one separator, None where that changes nothing.

    Emphasis, backslashes and inline tags are dropped and two blanks are one. Cells of a table, columns, a dash between
    blanks, an underscore and the end of a line become `LOOSELY`.
    """
    return _rewritten(text, _gaps(text))


def _rewritten(text: str, pieces: Iterable[Piece]) -> Reading | None:
    changes = [piece for piece in pieces if piece.text != text[piece.start : piece.end]]
    return Reading(_pieces(text, changes)) if changes else None


def _pieces(text: str, changes: list[Piece]) -> Iterator[Piece]:
    done = 0
    for change in changes:
        yield Piece(text[done : change.start], done, change.start, copied=True)
        yield change
        done = change.end
    yield Piece(text[done:], done, len(text), copied=True)


def _decoded(part: str) -> str:
    if not part.startswith("&"):
        return ""
    return "".join(_folded(each) for each in html.unescape(part))


def _folded(character: str) -> str:
    """What is seen of one character: nothing, a blank, a dash, its plain form, or itself."""
    kind = unicodedata.category(character)
    if character.isascii() or kind in _OPAQUE:
        return character
    if kind == "Cf" or character in _UNSEEN or any(ord(character) in each for each in _SELECTORS):
        return ""
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    plain = _SEEN_AS.get(character) or _KIND_SEEN_AS.get(kind) or unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() else character


def _gaps(text: str) -> Iterator[Piece]:
    for found in _BETWEEN.finditer(text):
        start, end = found.span(1)
        if text[start - 1].isdigit() or text[end].isdigit():
            yield Piece(_separator(found[1]), start, end)


def _separator(gap: str) -> str:
    """One separator for a gap that a number may have inside, else the gap itself."""
    plain = _BREAK.sub("\n", _CELL.sub("|", _TAG.sub("", gap))) if "<" in gap else gap
    plain = _MARKS.sub("", plain).replace("\t", "   ")
    if plain == "_":
        return LOOSELY
    plain = plain.replace("_", "")
    if plain in ("", " ", "-", "."):
        return plain
    if plain == "  ":
        return " "
    loose = plain.isspace() and "\n" not in plain
    if loose or any(shape.fullmatch(plain) for shape in (_QUOTED_BREAK, _LOOSE, _CELLS)):
        return LOOSELY
    return gap
