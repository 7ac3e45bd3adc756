"""The claims of a page, each with the captures it cites; and what a reader sees of captures he may not open."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import msgspec
from markdown_it.tree import SyntaxTreeNode

from corpus import references
from corpus.outline import Outline, outline, sections
from corpus.outline import footnotes as definitions
from corpus.sentences import sentence_ends

_CITED = re.compile(r"\[\^([^\[\]\s]+)\]")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_QUOTE_OR_LIST_MARK = re.compile(r"(?:\s|[-*+>]\s|\d{1,9}[.)]\s|\[[ xX]\]\s)*")


class Statement(msgspec.Struct, frozen=True):
    """One sentence, list item or table row, its span in the text, and the capture references it cites."""

    text: str
    start: int
    end: int
    heading: tuple[str, ...]
    sources: tuple[str, ...]


def statements(text: str) -> list[Statement]:
    """Every claim, in order. Headings, code, raw HTML, table headers and footnote definitions claim nothing."""
    parsed = outline(text)
    cited: dict[str, tuple[str, ...]] = {}
    blanked, line = "", 0
    for note in definitions(parsed):
        blanked += parsed.slice(line, note.first) + re.sub(r"[^\r\n]", " ", parsed.slice(note.first, note.end))
        line = note.end
        cited.setdefault(note.label, tuple(found.text for *_, found in references.find(note.text)))
    parsed = outline(blanked + parsed.slice(line, len(parsed.starts) - 1)) if cited else parsed
    found: list[Statement] = []
    for section in sections(parsed):
        for start, end in _spans(parsed, section.blocks):
            said = text[start:end]
            if _SAYS_SOMETHING.search(_CITED.sub("", said)):
                found.append(Statement(said, start, end, section.heading, _sources(said, cited)))
    return found


def coverage(claims: Iterable[Statement]) -> tuple[int, int]:
    """How many of the claims cite a capture, and how many there are."""
    sourced = [bool(claim.sources) for claim in claims]
    return sum(sourced), len(sourced)


def footnotes(text: str) -> dict[str, str]:
    """Footnote texts by label; of two with one label the first stands."""
    found: dict[str, str] = {}
    for note in definitions(outline(text)):
        found.setdefault(note.label, note.text)
    return found


def withhold(text: str, reference_to_label: Mapping[str, str]) -> str:
    """The text as seen by one who may not open some captures.

    `reference_to_label` gives the source type of each withheld reference. A footnote that names one keeps only its
    references, the withheld ones as "withheld (gdrive)"; its prose may tell of the capture and goes. A withheld
    reference anywhere else is replaced where it stands, whatever its spelling.
    """
    parsed = outline(text)
    written, line = "", 0
    for note in definitions(parsed):
        names = [found.text for *_, found in references.find(note.text)]
        if not any(name in reference_to_label for name in names):
            continue
        seen = dict.fromkeys(_withheld(name, reference_to_label) or name for name in names)
        written += parsed.slice(line, note.first) + f"[^{note.label}]: {', '.join(seen)}"
        line = note.end
        written += "\n" if parsed.slice(line - 1, line).endswith("\n") else ""
    return _replaced(written + parsed.slice(line, len(parsed.starts) - 1), reference_to_label)


def _withheld(reference: str, labels: Mapping[str, str]) -> str | None:
    label = labels.get(reference)
    return None if label is None else f"withheld ({label})"


def _replaced(text: str, labels: Mapping[str, str]) -> str:
    written, position = "", 0
    for start, end, reference in references.find(text):
        shown = _withheld(reference.text, labels)
        if shown is not None:
            written += text[position:start] + shown
            position = end
    return written + text[position:]


def _sources(said: str, cited: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    noted = [source for label in _CITED.findall(said) for source in cited.get(label, ())]
    return tuple(dict.fromkeys([*noted, *(found.text for *_, found in references.find(said))]))


def _spans(parsed: Outline, blocks: Iterable[SyntaxTreeNode]) -> Iterator[tuple[int, int]]:
    for node in blocks:
        if node.type == "paragraph" and node.map:
            start, end = parsed.starts[node.map[0]], parsed.starts[node.map[1]]
            whole = node.parent is not None and node.parent.type == "list_item"
            cuts = [] if whole else sentence_ends(parsed.text[start:end])
            bounds = [start, *(start + cut for cut in cuts), end]
            for low, high in pairwise(bounds):
                yield _trimmed(parsed.text, low, high)
        elif node.type == "tr" and node.map and node.parent is not None and node.parent.type == "tbody":
            yield _trimmed(parsed.text, parsed.starts[node.map[0]], parsed.starts[node.map[1]])
        elif node.type in ("bullet_list", "ordered_list", "list_item", "blockquote", "table", "tbody"):
            yield from _spans(parsed, node.children)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    marks = _QUOTE_OR_LIST_MARK.match(text, start, end)
    start = marks.end() if marks else start
    return start, start + len(text[start:end].rstrip())
