"""What embedder is asked over NATS."""

import msgspec

EMBED = "ask.embedder.embed"


class Embed(msgspec.Struct, frozen=True, kw_only=True):
    """Embed a query (not a passage)."""

    query: str


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    """`vector`: base64 of little-endian float16, unit length, `dim` values; `model`: never mix two."""

    model: str
    dim: int
    vector: str
