"""The authored keys of a page: their shapes, their limits, and where in the page a wrong one stands."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Annotated

import msgspec
import yaml
from msgspec import Meta

from corpus import paths
from corpus.errors import Malformed
from corpus.frontmatter import Block, Pair
from corpus.references import parse_reference
from corpus.vocabulary import Access, ChangePolicy, Criticality, Knowledge, PageType, Reach, Verb

SYSTEM_KEYS = ("id", "status", "revision", "verified", "approved_by", "position")
MAX_TITLE = 200
MAX_SUMMARY = 300

Title = Annotated[str, Meta(min_length=1, max_length=MAX_TITLE)]
Word = Annotated[str, Meta(min_length=1, max_length=64)]

_DURATION = re.compile(r"P(?=\d)(?:(\d{1,3})Y)?(?:(\d{1,3})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?\Z")
_NODE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A typed edge to another page, named by its id or its path."""

    verb: Verb
    to: Title
    knowledge: Knowledge | None = None


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named value, exactly as written; `number` reads it where it is one."""

    name: Word
    value: Title
    unit: Word | None = None
    as_of: date | None = None
    source: str | None = None

    @property
    def number(self) -> Decimal | None:
        """The value as an exact decimal, or nothing where it is not a finite number."""
        try:
            number = Decimal(self.value)
        except InvalidOperation:
            return None
        return number if number.is_finite() else None


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """What an author says of a page. An absent `knowledge` means: a hypothesis unless a person proposes it."""

    type: PageType
    title: Title
    access: Access
    summary: Annotated[str, Meta(max_length=MAX_SUMMARY)] | None = None
    owner: Title | None = None
    change_policy: ChangePolicy = ChangePolicy.GATE
    sensitivity: Reach = Reach.ORDINARY
    category: Word | None = None
    domain: Word | None = None
    criticality: Criticality = Criticality.OPERATIONAL
    as_of: date | None = None
    review_after: str | None = None
    knowledge: Knowledge | None = None
    attributes: dict[str, object] = {}
    relations: list[Relation] = []
    figures: list[Figure] = []
    sources: list[str] = []
    id: str | None = None

    @property
    def review_days(self) -> int:
        """Days from verification until the page is stale: its own window, or its criticality's."""
        return self.criticality.review_days if self.review_after is None else days(self.review_after)


# The order in which missing keys are written.
AUTHORED_KEYS = (
    "type", "title", "summary", "owner", "change_policy", "access", "sensitivity", "category", "domain", "criticality",
    "as_of", "review_after", "knowledge", "attributes", "relations", "figures", "sources",
)  # fmt: skip
REQUIRED_KEYS = ("type", "title", "access")
_SHAPES = {field.name: field.type for field in msgspec.structs.fields(Front)}


def days(duration: str) -> int:
    """Days in an ISO 8601 duration of years (365), months (30), weeks and days, such as `P90D`; 1 to 36,500."""
    match = _DURATION.match(duration)
    total = sum(int(n or 0) * size for n, size in zip(match.groups(), (365, 30, 7, 1), strict=True)) if match else 0
    if not 1 <= total <= 36_500:  # noqa: PLR2004 - a hundred years: beyond it a review would never come
        raise Malformed("invalid_duration", "A duration is written as ISO 8601 in whole days, such as P90D.")
    return total


def read_value(pair: Pair) -> object:
    """The typed value of an authored key (or of `id`), or a refusal at its line."""
    value = pair.value if pair.key == "attributes" else _as_text(pair.value)
    try:
        typed = msgspec.convert(value, _SHAPES[pair.key])
        _CHECKS.get(pair.key, _check_words)(typed)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at ")
        node = _node_at(pair.node, place)
        what = f"`{pair.key}{place.strip('`').removeprefix('$')}` is not valid: {_reason(reason, pair.key, place)}."
        raise Malformed("invalid_key", what, node.start_mark.line + 2, node.start_mark.column + 1) from None
    except Malformed as malformed:
        what = f"`{pair.key}` is not valid: {malformed.what}"
        raise Malformed(malformed.code, what, pair.line, pair.column) from None
    return typed


def read_front(block: Block) -> tuple[Front, dict[str, object]]:
    """The authored keys of a block, and the unknown top-level ones as they are."""
    raw: dict[str, object] = {}
    unknown: dict[str, object] = {}
    for pair in block.pairs:
        if pair.key in _SHAPES:
            if pair.value is not None or pair.key in REQUIRED_KEYS:
                read_value(pair)
                raw[pair.key] = pair.value if pair.key == "attributes" else _as_text(pair.value)
        elif pair.key in SYSTEM_KEYS:
            what = f"`{pair.key}` is a fact of the brain and cannot be submitted; remove it."
            raise Malformed("system_key", what, pair.line, pair.column)
        else:
            unknown[pair.key] = pair.value
    for key in REQUIRED_KEYS:
        if key not in raw:
            raise Malformed(f"{key}_missing", f"The frontmatter has no `{key}`.", 1, 1)
    return msgspec.convert(raw, Front), unknown


def _as_text(value: object) -> object:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return [_as_text(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _as_text(entry) for key, entry in value.items()}
    return value


def _reason(reason: str, key: str, place: str) -> str:
    if not reason.startswith("Invalid enum value"):
        return re.sub(r"`([^`]*)`", r"\1", reason)
    kinds = {"relations": Knowledge if place.endswith("knowledge`") else Verb, "type": PageType, "access": Access,
             "change_policy": ChangePolicy, "sensitivity": Reach, "criticality": Criticality}  # fmt: skip
    return "it is one of " + ", ".join(word.value for word in kinds.get(key, Knowledge))


def _node_at(node: yaml.Node, place: str) -> yaml.Node:
    for index, name in re.findall(r"\[(\d+)\]|\.(\w+)", place):
        if index and isinstance(node, yaml.SequenceNode):
            node = node.value[int(index)]
        elif name and isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == name), node)
    return node


def _check_words(value: object) -> None:
    if isinstance(value, str) and (_UNSHOWABLE.search(value) or value != value.strip()):
        raise Malformed("invalid_text", "It holds a control character, a line break or outer spaces.")


def _check_summary(value: object) -> None:
    _check_words(" ".join(str(value or "").split()))


def _check_duration(value: object) -> None:
    days(str(value))


def _check_id(value: object) -> None:
    if not _NODE_ID.match(str(value)):
        raise Malformed("invalid_id", "An id has 1 to 64 letters, digits, hyphens and underscores.")


def _check_relations(value: object) -> None:
    for relation in msgspec.convert(value, list[Relation]):
        if not _NODE_ID.match(relation.to):
            paths.check(relation.to)


def _check_figures(value: object) -> None:
    for figure in msgspec.convert(value, list[Figure]):
        for words in (figure.name, figure.value, figure.unit):
            _check_words(words)
        if figure.source is not None:
            _check_sources([figure.source])


def _check_sources(value: object) -> None:
    for source in msgspec.convert(value, list[str]):
        if parse_reference(source) is None:
            raise Malformed("invalid_reference", "A source is written capture:<source>/<id>, percent-encoded.")


def _check_nothing(value: object) -> None:
    del value


_CHECKS: dict[str, Callable[[object], None]] = {
    "summary": _check_summary,
    "review_after": _check_duration,
    "id": _check_id,
    "relations": _check_relations,
    "figures": _check_figures,
    "sources": _check_sources,
    "attributes": _check_nothing,
}
