"""From the bytes of a page to its passages, and from passages with vectors to the facts that carry them. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from contracts.chunks import BodyEmbedded, EmbeddedChunk
from contracts.ids import ContentId
from corpus import chunks, page

FACT_SIZE = 400_000
"""Bytes of one fact at most: below the 512 KB that a message may have, with room for envelope and headers."""

_CHUNK_OVERHEAD = 64


class Passage(msgspec.Struct, frozen=True):
    """A passage of a page. `start`, `end`: characters into the Markdown; `text`: what the model is given."""

    key: str
    vector_key: str
    start: int
    end: int
    text: str


def passages_of(body: bytes, secret: bytes, model: str) -> list[Passage]:
    """The passages of a page in their order, keyed under the brain's `secret` for vectors of `model`.

    Raises `corpus.errors.Malformed` where the bytes are no page.
    """
    parsed = page.parse(body)
    title = parsed.front.title
    found = []
    for chunk in chunks.chunk(parsed.text):
        key = chunks.chunk_key(secret, chunk)
        vector_key = chunks.vector_key(secret, key, title, model)
        found.append(Passage(key, vector_key, chunk.start, chunk.end, chunks.context(title, chunk)))
    return found


def facts(
    body: ContentId, model: str, dim: int, passages: Sequence[Passage], vectors: Mapping[str, str], computed: int
) -> list[BodyEmbedded]:
    """The facts of one body: one, or several parts where one would be too large. The first part carries `computed`."""
    embedded = [
        EmbeddedChunk(each.key, each.vector_key, each.start, each.end, vectors[each.vector_key]) for each in passages
    ]
    parts = list(_parts(embedded))
    return [
        BodyEmbedded(
            body=body,
            model=model,
            dim=dim,
            chunker=chunks.CHUNKER,
            recipe=chunks.RECIPE,
            chunks=tuple(part),
            computed=computed if place == 1 else 0,
            n=place,
            of=len(parts),
        )
        for place, part in enumerate(parts, start=1)
    ]


def _parts(embedded: Sequence[EmbeddedChunk]) -> Iterator[list[EmbeddedChunk]]:
    part: list[EmbeddedChunk] = []
    size = 0
    for chunk in embedded:
        added = len(chunk.key) + len(chunk.vector_key) + len(chunk.vector) + _CHUNK_OVERHEAD
        if part and size + added > FACT_SIZE:
            yield part
            part, size = [], 0
        part.append(chunk)
        size += added
    yield part  # a page without a passage has one part with none: it is embedded all the same
