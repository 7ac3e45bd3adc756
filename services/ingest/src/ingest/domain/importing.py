"""What becomes of one file of an import: nothing, a refusal, or a capture and the page that is proposed from it."""

import hashlib
import hmac
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from access.rule import PageClass
from contracts.captures import Acl
from contracts.enums import Access, Reach, Refusal
from contracts.ids import BrainId, CaptureId, PrincipalId
from corpus import frontmatter, page, paths
from corpus.errors import Malformed
from corpus.page import Page
from corpus.references import capture_reference
from ingest.domain.capture import capture_id

_CATEGORIES = {
    "not_utf8": Refusal.INVALID_UTF8,
    "nul_character": Refusal.UNREADABLE,
    "page_too_large": Refusal.TOO_LARGE,
    "invalid_reference": Refusal.PATH,
    "path_collision": Refusal.PATH_COLLISION,
    "path_empty": Refusal.PATH,
    "path_character": Refusal.PATH,
    "path_length": Refusal.PATH,
    "path_depth": Refusal.PATH,
    "path_segment_length": Refusal.PATH,
    "path_reserved": Refusal.PATH,
    "path_suffix": Refusal.PATH,
    "empty": Refusal.EMPTY,
    "forbidden": Refusal.FORBIDDEN,
}
"""What the page format calls a fault, as a category of refusal; whatever is not here is the frontmatter's."""


COLLISION = "Another file of the folder has the same page path."
SEALED = "`sensitivity: sealed` cannot be set by an import: two owners seal a page, by its path and digest."


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every file of an import.

    `by`: who imports. `names`: active members and groups, who alone can own a page. `may_suggest`: whether the person
    who imports may suggest a page of this class. `key`: the brain's key for digests of captures.
    """

    brain: BrainId
    by: PrincipalId
    source: str
    owner: str
    access: Access
    names: frozenset[str]
    may_suggest: Callable[[PageClass], bool]
    key: bytes


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was sent. `collides`: another file of the folder would get the same page path."""

    name: str
    body: bytes
    collides: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """The latest version of a file that is recorded.

    `awaits`: its page was composed and never proposed, or its proposal ended without it.
    """

    capture: CaptureId
    filed_by: PrincipalId
    supersedes: CaptureId | None
    acl: Acl
    withdrawn: bool = False
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The same bytes as in the latest version."""

    name: str
    capture: CaptureId


@dataclass(frozen=True, slots=True)
class NotKept:
    """Refused: nothing of the file is stored. `line` counts from 1, 0 where the fault has no line."""

    name: str
    capture: CaptureId
    category: Refusal
    line: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A capture and the page made of it. `recorded`: the capture stands already, only its page was never proposed.

    `facts`: how many facts the page's first promotion takes; one that says it is verified takes one more.
    """

    name: str
    capture: CaptureId
    supersedes: CaptureId | None
    reference: str
    body: bytes
    path: str
    page: bytes
    facts: int
    recorded: bool


Outcome: TypeAlias = Unchanged | NotKept | Kept


def judge(file: File, known: Known | None, terms: Terms) -> Outcome:
    """Decide on one file. What it says of itself is kept; what it leaves out comes from the terms."""
    digest = hmac.new(terms.key, file.body, hashlib.sha256).hexdigest()
    capture, stands = _identify(file.name, digest, known, terms)
    try:
        path = _path(file)
        if known is not None and stands and not known.awaits:
            return Unchanged(file.name, capture)
        reference = capture_reference(terms.source, file.name)
        composed = _compose(file, reference, terms)
        _check(path, composed, terms)
    except Malformed as fault:
        category = _CATEGORIES.get(fault.code, Refusal.FRONTMATTER)
        return NotKept(file.name, capture, category, fault.line or 0, fault.what)
    return Kept(
        file.name,
        capture,
        supersedes=None if known is None else (known.supersedes if stands else known.capture),
        reference=reference,
        body=file.body,
        path=path,
        page=composed.body,
        facts=2 if composed.front.knowledge is page.Knowledge.VERIFIED else 1,
        recorded=stands,
    )


def _identify(name: str, digest: str, known: Known | None, terms: Terms) -> tuple[CaptureId, bool]:
    """The file's capture, and whether that is the one which is known already."""
    if known is not None and not known.withdrawn:
        latest = capture_id(terms.brain, terms.source, name, digest, known.supersedes, known.filed_by)
        if latest == known.capture:
            return latest, True
    before = None if known is None else known.capture
    return capture_id(terms.brain, terms.source, name, digest, before, terms.by), False


def _path(file: File) -> str:
    if file.collides:
        raise Malformed("path_collision", COLLISION)
    return paths.propose(file.name)


def _compose(file: File, reference: str, terms: Terms) -> Page:
    defaults = {
        "type": page.PageType.TOPIC.value,
        "title": paths.title_of(file.name),
        "owner": terms.owner,
        "change_policy": page.ChangePolicy.GATE.value,
        "access": terms.access.value,
        "sources": [reference],
    }
    return page.parse(page.compose(_with_owner_of_ours(file.body, terms.names), defaults))


def _check(path: str, composed: Page, terms: Terms) -> None:
    if not composed.text.strip():
        raise Malformed("empty", "The file has no text.")
    if composed.front.sensitivity is page.Reach.SEALED:
        raise Malformed("forbidden", SEALED)
    if not terms.may_suggest(placed(path, composed)):
        raise Malformed("forbidden", "You may not suggest such a page at its path.")


def _with_owner_of_ours(body: bytes, names: frozenset[str]) -> bytes:
    """The file with an `owner` who is nobody here kept under another key: a page needs an owner who can be asked."""
    text = page.normalise(body).decode()
    parts = frontmatter.split(text)
    if parts is None or "owner" not in parts[1]:
        return body
    opening, block, closing, rest = parts
    try:
        pairs = frontmatter.read(block).pairs
    except Malformed:
        return body  # composing tells what is wrong, or takes the block for prose
    keys = {pair.key for pair in pairs}
    for pair in pairs:
        if pair.key == "owner" and not (isinstance(pair.value, str) and pair.value in names):
            free = next(name for name in _other_names() if name not in keys)
            start, end = pair.key_span
            block = block[:start] + free + block[end:]
            return (opening + block + closing + rest).encode()
    return body


def _other_names() -> Iterator[str]:
    yield "imported-owner"
    yield from (f"imported-owner-{number}" for number in itertools.count(2))


def placed(path: str, composed: Page) -> PageClass:
    """The class of a page, as the access rule judges it."""
    front = composed.front
    return PageClass(path, Access(front.access.value), Reach(front.sensitivity.value), front.category, front.domain)
