"""Which bodies a fact speaks of."""

from collections.abc import Iterator

import msgspec

from contracts.content import ContentRef


def content_of(value: object) -> Iterator[ContentRef]:
    """Every reference to content inside a fact, however deep."""
    if isinstance(value, ContentRef):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from content_of(getattr(value, name))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from content_of(part)
