"""What goes into the content store, and where a scan found something in it."""

from enum import Enum

import msgspec

from contracts.enums import Refusal
from contracts.ids import ContentId


class Slot(Enum):
    """What a body is to the fact that refers to it. A refusal names it: its author knows what to edit."""

    PAGE = "page"
    CAPTURE = "capture"
    PATH = "path"
    TITLE = "title"
    NAME = "name"
    SCOPE = "scope"
    REASON = "reason"
    NOTE = "note"
    TAG = "tag"
    SOURCE = "source"
    CURSOR = "cursor"
    SETTING = "setting"
    TEXT = "text"


class Put(msgspec.Struct, frozen=True):
    """One body to be stored under an id that follows from its command, so that a retry stores it once."""

    id: ContentId
    body: bytes
    slot: Slot


class Finding(msgspec.Struct, frozen=True):
    """Where a body holds what may not be stored. `index` is its place in what was put; line and column count from 1."""

    index: int
    category: Refusal
    line: int
    column: int
    rule: str
