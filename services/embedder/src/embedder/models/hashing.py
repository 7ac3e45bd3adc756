"""A deterministic stand-in for tests: words are hashed onto signed axes. It knows no meaning."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from embedder.models.protocol import Vectors
from embedder.models.shaping import batches_by_length, readable, unit

MODEL_ID = "hashing/1"
_WORD = re.compile(r"\w+")
_MAX_CHARACTERS = 65_536
_SLICE = 100_000  # characters: a few milliseconds


class Hashing:
    """Texts with common words lie close; the same text always has the same vector."""

    model_id = MODEL_ID

    def __init__(self, dim: int = 384) -> None:
        self.dim = dim

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        return list(batches_by_length([len(text) for text in texts], _SLICE))

    def passages(self, texts: Sequence[str]) -> Vectors:
        rows = [self.query(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dim)

    def query(self, text: str) -> Vectors:
        vector = np.zeros(self.dim, np.float32)
        vector[0] = 1e-3
        for word in _WORD.findall(readable(text, _MAX_CHARACTERS).lower()):
            digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
            vector[(digest >> 1) % self.dim] += 1 if digest & 1 else -1
        return unit(vector)
