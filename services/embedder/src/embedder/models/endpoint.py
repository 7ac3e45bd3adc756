"""Any server that speaks OpenAI's `/embeddings`: for those with better hardware than this machine's."""

import email.utils
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import httpx2
import msgspec
import numpy as np

from embedder.models.protocol import (
    ModelAnsweredWrongly,
    ModelRefused,
    ModelUnavailable,
    TextRefused,
    Vectors,
)
from embedder.models.shaping import batches_by_length, readable, unit

BATCH_TEXTS = 64
ATTEMPTS = 4
LONGEST_PAUSE = 30.0
"""Seconds: a server that asks for a longer pause is treated as unavailable, and the work is tried again later."""

_FIRST_PAUSE = 0.5
_MAX_CHARACTERS = 8_000  # so that even a text of one token a letter fits the usual 8,192 tokens
_SLICE = 64_000
"""Characters of one slice, the longest times their number."""
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TEXT_REFUSED = frozenset({400, 413, 422})
_OK = 200


class _Row(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    rows: list[_Row] = msgspec.field(name="data")


class Address(msgspec.Struct, frozen=True):
    """Where the model is and what it is called there. `url` ends before `/embeddings`."""

    url: str
    model: str
    dim: int
    key: str = ""
    timeout: float = 30.0

    def __repr__(self) -> str:
        return f"Address(url={self.url!r}, model={self.model!r}, dim={self.dim})"


class Endpoint:
    """Embeds over HTTP with bounded retries. Redirects are not followed, the environment's proxies not used."""

    def __init__(self, address: Address, pause: Callable[[float], None] = time.sleep) -> None:
        self.dim = address.dim
        self.model_id = f"endpoint/{address.model}/{address.dim}/1"
        self._address = address
        self._pause = pause
        headers = {"Authorization": f"Bearer {address.key}"} if address.key else {}
        self._client = httpx2.Client(headers=headers, timeout=address.timeout, trust_env=False)

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        return list(batches_by_length([len(text) for text in texts], _SLICE))

    def passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            group = texts[start : start + BATCH_TEXTS]
            vectors[start : start + len(group)] = self._embed(group)
        return vectors

    def query(self, text: str) -> Vectors:
        return np.asarray(self._embed([text])[0], np.float32)

    def close(self) -> None:
        """Give up the connections."""
        self._client.close()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        # An empty string is refused by most servers; a space is the nearest thing that has a vector.
        texts = [readable(text, _MAX_CHARACTERS) or " " for text in texts]
        body = {"model": self._address.model, "input": texts, "encoding_format": "float"}
        return self._understood(self._sent(msgspec.json.encode(body)), len(texts))

    def _sent(self, body: bytes) -> bytes:
        url = self._address.url.rstrip("/") + "/embeddings"
        reason = ""
        for attempt in range(ATTEMPTS):
            wait = _FIRST_PAUSE * 2**attempt
            try:
                response = self._client.post(url, content=body, headers={"Content-Type": "application/json"})
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol):
                raise ModelRefused(
                    f"the embedding endpoint's address {self._address.url} is no http(s) address"
                ) from None
            except httpx2.TransportError as error:
                reason = type(error).__name__
            else:
                if response.status_code == _OK:
                    return response.content
                reason = f"status {response.status_code}"
                if response.status_code in _TEXT_REFUSED:
                    raise TextRefused(self._explained(reason, "these texts are set aside; check the model's name too"))
                if response.status_code not in _RETRIED:
                    raise ModelRefused(self._explained(reason, "check its address, key and model name"))
                wait = _asked_pause(response.headers.get("Retry-After"), datetime.now(UTC), wait)
            if wait > LONGEST_PAUSE:
                break
            if attempt + 1 < ATTEMPTS:
                self._pause(wait)
        raise ModelUnavailable(self._explained(reason, "it is tried again later"))

    def _explained(self, reason: str, remedy: str) -> str:
        return f"the embedding endpoint {self._address.url} answered no vectors ({reason}); {remedy}"

    def _understood(self, content: bytes, count: int) -> Vectors:
        try:
            rows = msgspec.json.decode(content, type=_Answer).rows
        except msgspec.DecodeError:
            raise ModelAnsweredWrongly(self._explained("not an embeddings answer", "check its address")) from None
        rows.sort(key=lambda row: row.index)
        if [row.index for row in rows] != list(range(count)):
            reason = f"{len(rows)} vectors for {count} texts"
            raise ModelAnsweredWrongly(self._explained(reason, "check that it embeds every input"))
        if wrong := {len(row.embedding) for row in rows} - {self.dim}:
            reason = f"vectors of {min(wrong)} numbers instead of {self.dim}"
            raise ModelAnsweredWrongly(self._explained(reason, "set the dimension that this model has"))
        vectors = np.array([row.embedding for row in rows], np.float32)
        if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise ModelAnsweredWrongly(self._explained("a vector without a direction", "check the model"))
        return unit(vectors)


def _asked_pause(header: str | None, now: datetime, otherwise: float) -> float:
    """Seconds that a Retry-After header asks for, in either of its two forms, else our own pause."""
    if header is None:
        return otherwise
    if header.strip().isdigit():
        return float(header)
    try:
        until = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return otherwise
    if until.tzinfo is None:
        return otherwise
    return max(0.0, (until - now).total_seconds())
