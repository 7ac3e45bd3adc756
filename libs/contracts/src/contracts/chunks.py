"""What embedder says into CHK: derived, keyed, without a word of the text."""

import msgspec

from contracts.ids import ContentId


class EmbeddedChunk(msgspec.Struct, frozen=True):
    """A passage of a body. `start`, `end`: characters into the Markdown after the front matter.

    `key`: HMAC of heading path and body; `vector_key`: HMAC of key, context, model, chunker and recipe;
    `vector`: base64 of little-endian float16, `dim` values.
    """

    key: str
    vector_key: str
    start: int
    end: int
    vector: str


class BodyEmbedded(msgspec.Struct, frozen=True, kw_only=True):
    """The passages of one body (part `n` from 1, `of` so many). `computed`: how many vectors were not known before."""

    body: ContentId
    model: str
    dim: int
    chunker: str
    recipe: str
    chunks: tuple[EmbeddedChunk, ...]
    computed: int = 0
    n: int = 1
    of: int = 1


Event = BodyEmbedded
