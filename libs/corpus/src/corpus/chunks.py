"""Passages of a text: cut at headings, then at the seams inside long sections, addressed by what they say."""

import hmac
import re
from collections.abc import Iterator

import msgspec
from markdown_it.tree import SyntaxTreeNode

from corpus.outline import Outline, Section, footnotes, outline, sections
from corpus.sentences import sentence_ends

CHUNKER = "1"
RECIPE = "title-heading-1"

# Vectors of about 200 words with their title found more than those of whole long sections; a remnant of up to 20
# more is better kept with what it continues.
TARGET_WORDS = 200
MAX_WORDS = 220
_LETTERS_A_WORD = 9  # so that text without spaces has a length too

_UNIT_SEPARATOR = "\x1f"
_RECORD_SEPARATOR = "\x1e"
_MARKER = re.compile(r"\[\^[^\[\]\s]+\]")


class Chunk(msgspec.Struct, frozen=True):
    """A passage: its headings from the top, its span in the text, and what it says.

    `body` is the span's text; where a table was cut between rows, the table's header stands before it.
    """

    heading: tuple[str, ...]
    start: int
    end: int
    body: str


class _Seam(msgspec.Struct, frozen=True):
    """A stretch that is never cut, and the table header it needs when it opens a chunk."""

    start: int
    end: int
    header: str = ""


def chunk(text: str) -> list[Chunk]:
    """The passages of a Markdown text, in order, none empty; every word outside headings is in exactly one."""
    parsed = outline(text)
    return [passage for section in sections(parsed) for passage in _packed(parsed, section)]


def chunk_key(key: bytes, passage: Chunk) -> str:
    """The passage's address under a brain's key: the same headings and prose give it again, and nobody else can."""
    said = _UNIT_SEPARATOR.join(passage.heading) + _RECORD_SEPARATOR + passage.body
    return hmac.new(key, said.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def vector_key(key: bytes, chunk_key: str, title: str, model: str) -> str:
    """The address of the passage's vector: its key and all that went into the vector beside the passage."""
    parts = _UNIT_SEPARATOR.join((chunk_key, CHUNKER, RECIPE, model, title))
    return hmac.new(key, parts.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def context(title: str, passage: Chunk) -> str:
    """What is embedded: title, headings, body; footnotes, which only name captures, are left out."""
    heading = passage.heading[1:] if passage.heading[:1] == (title,) else passage.heading
    return "\n".join(filter(None, (title, " > ".join(heading), _without_footnotes(passage.body).strip())))


def words(text: str) -> int:
    """The length of a text in words, as the limits above count them."""
    return max(len(text.split()), len(text) // _LETTERS_A_WORD)


def _without_footnotes(body: str) -> str:
    if "[^" not in body:
        return body
    parsed = outline(body)
    kept, line = "", 0
    for note in footnotes(parsed):
        kept += parsed.slice(line, note.first)
        line = note.end
    return _MARKER.sub("", kept + parsed.slice(line, len(parsed.starts) - 1))


def _packed(parsed: Outline, section: Section) -> Iterator[Chunk]:
    start, end = parsed.starts[section.first], parsed.starts[section.end]
    if words(parsed.text[start:end]) <= TARGET_WORDS:
        yield from _chunk_of(parsed.text, section, _Seam(start, end))
        return
    packs: list[_Seam] = []
    for seam in _seams(parsed, section.blocks, start, end):
        if packs and words(parsed.text[packs[-1].start : seam.end]) + words(packs[-1].header) <= TARGET_WORDS:
            packs[-1] = _Seam(packs[-1].start, seam.end, packs[-1].header)
        else:
            packs.append(seam)
    if len(packs) > 1 and words(parsed.text[packs[-2].start : end]) + words(packs[-2].header) <= MAX_WORDS:
        packs[-2:] = [_Seam(packs[-2].start, end, packs[-2].header)]
    for pack in packs:
        yield from _chunk_of(parsed.text, section, pack)


def _chunk_of(text: str, section: Section, pack: _Seam) -> Iterator[Chunk]:
    raw = text[pack.start : pack.end]
    if not raw.strip():
        return
    blank = len(raw) - len(raw.lstrip())
    start = pack.start + max(raw.rfind("\n", 0, blank) + 1, 0)
    end = pack.start + len(raw.rstrip())
    yield Chunk(section.heading, start, end, pack.header + text[start:end])


def _seams(parsed: Outline, blocks: tuple[SyntaxTreeNode, ...], start: int, end: int) -> Iterator[_Seam]:
    """Cut a stretch at its blocks, and blocks that are too long at their own seams."""
    opens = [parsed.starts[node.map[0]] for node in blocks if node.map]
    bounds = [start, *opens[1:], end] if opens else [start, end]
    mapped = [node for node in blocks if node.map]
    for number, low in enumerate(bounds[:-1]):
        high = bounds[number + 1]
        if words(parsed.text[low:high]) <= TARGET_WORDS:
            yield _Seam(low, high)
        elif number < len(mapped):
            yield from _inside(parsed, mapped[number], low, high)
        else:
            yield from _lines(parsed.text, low, high)


def _inside(parsed: Outline, node: SyntaxTreeNode, start: int, end: int) -> Iterator[_Seam]:
    if node.type == "table":
        yield from _rows(parsed, node, start, end)
    elif node.type == "paragraph":
        yield from _sentences(parsed.text, start, end)
    elif node.type in ("bullet_list", "ordered_list", "list_item", "blockquote"):
        yield from _seams(parsed, tuple(node.children), start, end)
    else:
        yield from _lines(parsed.text, start, end)


def _rows(parsed: Outline, table: SyntaxTreeNode, start: int, end: int) -> Iterator[_Seam]:
    first = table.map[0] if table.map else 0
    rows = [row.map[0] for part in table.children if part.type == "tbody" for row in part.children if row.map]
    header = parsed.slice(first, first + 2)
    header = header if words(header) <= TARGET_WORDS // 2 else ""
    opens = [start, *(parsed.starts[row] for row in rows[1:]), end]
    for number, low in enumerate(opens[:-1]):
        for seam in _sentences(parsed.text, low, opens[number + 1]):
            fits = seam.start > start and words(header) + words(parsed.text[seam.start : seam.end]) <= MAX_WORDS
            yield _Seam(seam.start, seam.end, header if fits else "")


def _lines(text: str, start: int, end: int) -> Iterator[_Seam]:
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        yield from _sentences(text, start, stop)
        start = stop


def _sentences(text: str, start: int, end: int) -> Iterator[_Seam]:
    """The stretch whole where it is short, else its sentences, else as many words as fit."""
    if not _is_long(text, start, end):
        yield _Seam(start, end)
        return
    for stop in [*(start + offset for offset in sentence_ends(text[start:end])), end]:
        while _is_long(text, start, stop):
            cut = _hard_cut(text, start)
            yield _Seam(start, cut)
            start = cut
        if start < stop:
            yield _Seam(start, stop)
        start = stop


def _is_long(text: str, start: int, stop: int) -> bool:
    return stop - start > TARGET_WORDS * _LETTERS_A_WORD or words(text[start:stop]) > TARGET_WORDS


def _hard_cut(text: str, start: int) -> int:
    window = text[start : start + TARGET_WORDS * _LETTERS_A_WORD]
    spaces = [match.end() for match in re.finditer(r"\s+", window)]
    return start + (spaces[min(len(spaces), TARGET_WORDS) - 1] if spaces else len(window))
