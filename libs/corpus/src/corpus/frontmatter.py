"""The YAML block at the head of a page, read so that nothing written there changes its meaning.

Plain words stay text (`NO`, `1.10`, `2026-09-02`); only whole numbers and null are told apart. Aliases, tags,
duplicate keys and deep nesting are refused, so the block can neither grow nor run anything.
"""

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec
import yaml

from corpus.errors import Malformed

MAX_BLOCK_BYTES = 16 * 1024
MAX_DEPTH = 16

_INT_TAG = "tag:yaml.org,2002:int"
_NULL_TAG = "tag:yaml.org,2002:null"
_STR_TAG = "tag:yaml.org,2002:str"
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")


class _Loader(yaml.SafeLoader):
    """PyYAML's pure-Python composer: the C one ignores `compose_node`."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {  # noqa: RUF012 - PyYAML's own slot
        **{first: [(_INT_TAG, _INT)] for first in "-0123456789"},
        **{first: [(_NULL_TAG, _NULL)] for first in ("", "~", "n", "N")},
    }
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # PyYAML's own signature
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped
        if isinstance(event, yaml.AliasEvent):
            raise _at("frontmatter_alias", "The frontmatter uses a YAML alias; write the value out.", event.start_mark)
        if self.depth >= MAX_DEPTH:
            what = f"The frontmatter is nested more than {MAX_DEPTH} levels deep."
            raise _at("frontmatter_too_deep", what, event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


class Pair(msgspec.Struct, frozen=True):
    """One top-level key of a block, with the character spans of its key and of all its lines."""

    key: str
    value: object
    node: yaml.Node
    key_span: tuple[int, int]
    lines: tuple[int, int]
    line: int
    column: int


class Block(msgspec.Struct, frozen=True):
    """The text between the two fences, and its keys in their order."""

    text: str
    indent: int
    pairs: tuple[Pair, ...]


def split(page: str) -> tuple[str, str, str, str] | None:
    """Opening fence, block, closing fence and body of a page's text; nothing where no block opens it or none closes."""
    opening, newline, _ = page.partition("\n")
    if opening.rstrip(" \t") != "---" or not newline:
        return None
    start = offset = len(opening) + 1
    while offset < len(page):
        end = page.find("\n", offset)
        end = len(page) if end < 0 else end + 1
        if page[offset:end].rstrip(" \t\n") == "---" and page[offset] == "-":
            return page[:start], page[start:offset], page[offset:end], page[end:]
        offset = end
    return None


def read(text: str) -> Block:
    """Parse a block's text. Lines in errors are those of the page, whose first line is the opening fence."""
    if len(text.encode()) > MAX_BLOCK_BYTES:
        raise Malformed("frontmatter_too_large", f"The frontmatter is larger than {MAX_BLOCK_BYTES // 1024} KB.", 1, 1)
    root = _compose(text)
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == _NULL_TAG):
        return Block(text, 0, ())
    if not isinstance(root, yaml.MappingNode):
        raise _at("frontmatter_not_a_mapping", "The frontmatter is not a list of keys and values.", root.start_mark)
    if root.flow_style:
        raise _at("frontmatter_in_braces", "Write the frontmatter's keys on lines of their own.", root.start_mark)
    return Block(text, root.start_mark.column, tuple(_pairs(text, root)))


def _compose(text: str) -> yaml.Node | None:
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        what = f"The frontmatter is not readable YAML: {_unquoted(error.problem or 'unexpected text')}."
        mark = error.problem_mark or error.context_mark
        raise (_at("frontmatter_syntax", what, mark) if mark else Malformed("frontmatter_syntax", what)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 2
        what = f"U+{ord(text[error.position]):04X} is not allowed in frontmatter."
        raise Malformed("frontmatter_character", what, line) from None
    except RecursionError:
        raise Malformed("frontmatter_too_deep", "The frontmatter is nested too deep.") from None
    except (ValueError, OverflowError):
        raise Malformed("frontmatter_syntax", "The frontmatter holds an escape that names no character.") from None


def _unquoted(problem: str) -> str:
    """PyYAML's problem texts quote names from the page; a refusal does not."""
    return re.sub(r"'[^']{2,}'|\"[^\"]{2,}\"", "a name", problem)


def _pairs(text: str, root: yaml.MappingNode) -> Iterator[Pair]:
    values = _mapping(root)
    starts = [text.rfind("\n", 0, key.start_mark.index) + 1 for key, _ in root.value]
    for number, (key, node) in enumerate(root.value):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        mark = key.start_mark
        span = (mark.index, key.end_mark.index)
        lines = (starts[number], _without_trailing_comments(text, starts[number], end, mark.column))
        yield Pair(key.value, values[key.value], node, span, lines, mark.line + 2, mark.column + 1)


def _without_trailing_comments(text: str, start: int, end: int, indent: int) -> int:
    """Where a key's own lines end: comments and blank lines before the next key belong to neither."""
    while end > start:
        last = text.rfind("\n", start, end - 1) + 1
        line = text[last:end].strip()
        outside = not line or (line.startswith("#") and len(text[last:end]) - len(text[last:end].lstrip()) <= indent)
        if last <= start or not outside:
            return end
        end = last
    return end


def _plain(node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return [_plain(entry) for entry in node.value]
    if isinstance(node, yaml.ScalarNode):
        if node.tag == _STR_TAG:
            return _storable(node)
        if node.tag == _INT_TAG and _INT.match(node.value):
            return int(node.value)
        if node.tag == _NULL_TAG and _NULL.match(node.value):
            return None
    return _refuse_tag(node)


def _storable(node: yaml.ScalarNode) -> str:
    """An escape can spell what no text column and no UTF-8 file can hold."""
    unstorable = _UNSTORABLE.search(node.value)
    if unstorable is not None:
        what = f"U+{ord(unstorable[0]):04X} is not allowed in frontmatter."
        raise _at("frontmatter_character", what, node.start_mark)
    return str(node.value)


def _refuse_tag(node: yaml.Node) -> NoReturn:
    raise _at("frontmatter_tag", "The frontmatter uses a YAML tag; write a plain value.", node.start_mark)


def _mapping(node: yaml.MappingNode) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not key.value:
            raise _at("frontmatter_key", "A key of the frontmatter is not a plain word.", key.start_mark)
        if key.tag not in (_STR_TAG, _INT_TAG, _NULL_TAG):
            _refuse_tag(key)
        _storable(key)
        if key.value in values:
            raise _at("frontmatter_duplicate_key", "A key of the frontmatter is written twice.", key.start_mark)
        values[key.value] = _plain(value)
    return values


def _at(code: str, what: str, mark: Any) -> Malformed:  # a PyYAML mark, which has no public type
    return Malformed(code, what, mark.line + 2, mark.column + 1)
