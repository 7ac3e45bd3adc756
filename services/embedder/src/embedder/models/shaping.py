"""Texts made ready for a model, and vectors made ready for comparison."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from embedder.models.protocol import Vectors

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str, limit: int) -> str:
    """At most `limit` characters of a text, lone surrogates replaced, as no tokenizer can encode them."""
    return _LONE_SURROGATE.sub("\ufffd", text[:limit])


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Positions grouped so that neighbours in length are computed together, shortest first.

    A group costs its longest member times its size, padding included, and stays within `budget`
    tokens unless a single member is longer than that.
    """
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and lengths[position] * (len(group) + 1) > budget:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def unit(vectors: Vectors) -> Vectors:
    """The same directions with length one; a vector of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)
