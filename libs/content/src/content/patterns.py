"""Linear-time patterns over bytes. Nothing that a person sends can make one of them slow."""

from collections.abc import Iterator
from typing import Protocol, cast

import re2

_OPTIONS = re2.Options()
_OPTIONS.encoding = re2.Options.Encoding.LATIN1  # a pattern sees single bytes, so that invalid UTF-8 hides nothing
_OPTIONS.log_errors = False


class Hit(Protocol):
    """One place where a pattern was found, in byte offsets."""

    def group(self, number: int = 0, /) -> bytes: ...

    def span(self, number: int = 0, /) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A compiled pattern; `groups` is how many parts it captures."""

    @property
    def groups(self) -> int: ...

    def search(self, text: bytes, pos: int = 0, endpos: int = 0, /) -> Hit | None: ...

    def finditer(self, text: bytes, /) -> Iterator[Hit]: ...


def compiled(text: str) -> Pattern:
    """The pattern `text` over bytes; a letter beyond ASCII stands for its UTF-8 bytes, so never inside a class."""
    return cast("Pattern", re2.compile(text.encode(), _OPTIONS))
