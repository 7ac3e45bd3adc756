"""Vectors as they travel, and a bounded memory of those already known."""

import base64
from collections import OrderedDict
from collections.abc import Iterable

from embedder.models import Vectors

MOST_REMEMBERED = 60_000
"""About 60 MB at 384 numbers a vector: the chunks of some six thousand pages."""


def encode(vector: Vectors) -> str:
    """Base64 of little-endian float16: the way a vector is written in facts and replies."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


class Memory:
    """The vectors seen last, by vector key. A key names text, context, model and recipe: it is never stale."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> str | None:
        """The encoded vector of a key, which stays longer for having been asked for."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def remember(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Keep encoded vectors by their keys; the ones unused for longest make room."""
        for key, vector in pairs:
            self._known[key] = vector
            self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
