"""A page: parsed strictly when given, composed by the importer, laid over with the brain's facts for export."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime

import msgspec

from corpus.errors import Malformed
from corpus.front import (
    AUTHORED_KEYS,
    MAX_SUMMARY,
    MAX_TITLE,
    REQUIRED_KEYS,
    SYSTEM_KEYS,
    Figure,
    Front,
    Relation,
    days,
    read_front,
    read_value,
)
from corpus.frontmatter import Block, Pair, read, split
from corpus.normal import MAX_PAGE_BYTES, normalise
from corpus.outline import heading_text, outline, plain
from corpus.vocabulary import Access, ChangePolicy, Criticality, Knowledge, PageType, Reach, Verb

__all__ = [
    "AUTHORED_KEYS", "MAX_PAGE_BYTES", "SYSTEM_KEYS", "Access", "ChangePolicy", "Criticality", "Figure", "Front",
    "Knowledge", "Page", "PageType", "Reach", "Relation", "Verb", "compose", "days", "normalise", "parse", "project",
    "strip", "summary",
]  # fmt: skip

_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*\Z")
_YAML_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")

_SIGHT: dict[str, type[Access] | type[Reach]] = {"access": Access, "sensitivity": Reach}


class Page(msgspec.Struct, frozen=True):
    """A page's typed front, its Markdown body and the line on which that starts, and the bytes they came from."""

    front: Front
    text: str
    body_line: int
    unknown: dict[str, object]
    body: bytes


def parse(body: bytes) -> Page:
    """Read a page, or refuse it with the place of the first fault. `Page.body` is the normalised form."""
    body = normalise(body)
    parts = split(body.decode())
    if parts is None:
        raise Malformed("frontmatter_missing", "The page does not open with frontmatter between two --- lines.", 1, 1)
    front, unknown = read_front(read(parts[1]))
    body_line = parts[1].count("\n") + 3
    return Page(front, parts[3], body_line, unknown, body)


def summary(page: Page) -> str:
    """The page's own summary, else its first paragraph as plain words, cut at 300 characters."""
    if page.front.summary:
        return page.front.summary
    for node in outline(page.text).root.children:
        words = plain(node.children[0].content) if node.type == "paragraph" and node.children else ""
        if words:
            return words if len(words) <= MAX_SUMMARY else words[: MAX_SUMMARY - 1].rsplit(" ", 1)[0] + "…"
    return ""


def compose(body: bytes, defaults: Mapping[str, object]) -> bytes:
    """A file as a page: its own lines kept, system keys dropped, missing authored keys added from `defaults`.

    A key of the file that bears one of our names with a value that is not ours is kept as `imported-<key>`, but for
    the keys that say who may see the page: those are refused (`sight_unclear`). The title
    is the file's own, else its first top heading, else the default. A file that is a page already and bears an id is an
    export, and is only stripped. Refuses what `parse` refuses of the outcome.
    """
    text = normalise(body).decode()
    opening, block, closing, rest = _parts(text)
    kept = _kept(block)
    head = _rewritten(block, kept)
    present = {key for key, name in kept.items() if name == key}
    if present.issuperset(REQUIRED_KEYS) and any(pair.key == "id" for pair in block.pairs):
        return parse(strip(body)).body
    wanted = {**defaults, "title": _first_heading(rest) or defaults.get("title")}
    for key in AUTHORED_KEYS:
        if key not in present and wanted.get(key) is not None:
            head += " " * block.indent + f"{key}: {_yaml(wanted[key])}\n"
    return parse((opening + head + closing + rest).encode()).body


def strip(body: bytes) -> bytes:
    """A page's bytes without system keys, `id` among them: what an export and its import have in common."""
    opening, block, closing, rest = _parts(normalise(body).decode())
    kept = {pair.key: pair.key for pair in block.pairs if pair.key not in SYSTEM_KEYS}
    return (opening + _rewritten(block, kept) + closing + rest).encode()


def project(page: Page, system: Mapping[str, object]) -> bytes:
    """The authored bytes with the brain's facts laid over, in the fixed order of the system keys."""
    opening, block, closing, rest = _parts(strip(page.body).decode())
    indent = " " * block.indent
    facts = (f"{indent}{key}: {_yaml(system[key])}\n" for key in SYSTEM_KEYS if system.get(key) is not None)
    return (opening + block.text + "".join(facts) + closing + rest).encode()


def _parts(text: str) -> tuple[str, Block, str, str]:
    """Fences, block and body; a file that has none, or only a rule with prose under it, gets an empty block."""
    parts = split(text)
    try:
        block = read(parts[1]) if parts else None
    except Malformed as malformed:
        if malformed.code != "frontmatter_not_a_mapping":
            raise
        block = None
    if parts is None or block is None:
        return "---\n", Block("", 0, ()), "---\n", text
    return parts[0], block, parts[2], parts[3]


def _kept(block: Block) -> dict[str, str]:
    """The keys that stay, each with the name it stays under."""
    names = {pair.key for pair in block.pairs}
    kept: dict[str, str] = {}
    for pair in block.pairs:
        if pair.key in SYSTEM_KEYS:
            continue
        _check_sight(pair)
        kept[pair.key] = pair.key
        if pair.key in AUTHORED_KEYS and not _is_ours(pair):
            kept[pair.key] = next(name for name in _imported_names(pair.key) if name not in names)
            names.add(kept[pair.key])
    return kept


def _check_sight(pair: Pair) -> None:
    """Refuse a file whose word on who may see it is not understood: a default could show it to too many."""
    meant = pair.key.strip().lower()
    if meant in _SIGHT and (pair.key != meant or not _is_ours(pair)):
        words = ", ".join(word.value for word in _SIGHT[meant])
        what = f"`{meant}` says who may see the page: write the key like this, and one of {words}."
        raise Malformed("sight_unclear", what, pair.line, 1)


def _is_ours(pair: Pair) -> bool:
    try:
        read_value(pair)
    except Malformed:
        return False
    return pair.value is not None


def _imported_names(key: str) -> Iterator[str]:
    yield f"imported-{key}"
    number = 2
    while True:
        yield f"imported-{key}-{number}"
        number += 1


def _rewritten(block: Block, kept: Mapping[str, str]) -> str:
    written, position = "", 0
    for pair in block.pairs:
        written += block.text[position : pair.lines[0]]
        position = pair.lines[1]
        if pair.key in kept:
            name = kept[pair.key]
            key_start, key_end = pair.key_span
            key = block.text[key_start:key_end] if name == pair.key else name
            written += block.text[pair.lines[0] : key_start] + key + block.text[key_end : pair.lines[1]]
    return written + block.text[position:]


def _first_heading(text: str) -> str:
    for node in outline(text).root.children:
        if node.type == "heading" and node.tag == "h1":
            return heading_text(node)[:MAX_TITLE].strip()
    return ""


def _yaml(value: object) -> str:
    """A value on one line of YAML that `frontmatter.read` gives back unchanged."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, str) and _PLAIN_WORD.match(value) and value.lower() not in ("null", "n", "no", "y", "yes"):
        return str(value)
    encoded = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    return _YAML_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04X}", encoded)
