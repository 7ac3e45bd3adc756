"""Which characters a text may hold, asked of every request before it is served, whatever door it came by."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeVar

import msgspec

from contracts.errors import Refused

Q = TypeVar("Q", bound=msgspec.Struct)


def check(asked: msgspec.Struct) -> None:
    """Raise `Refused` (malformed) naming the first text that cannot be kept.

    PostgreSQL stores no U+0000, and half of a surrogate pair has no bytes in UTF-8.
    """
    for place in _unkept(asked, ""):
        raise Refused(
            "malformed",
            "A text holds U+0000 or half of a surrogate pair, which no text here may.",
            place.removeprefix("."),
            "Take the character out and send the request again.",
        )


def checked(serve: Callable[[Q], Awaitable[msgspec.Struct]]) -> Callable[[Q], Awaitable[msgspec.Struct]]:
    """`serve`, for requests whose texts can be kept."""

    async def serve_checked(asked: Q) -> msgspec.Struct:
        check(asked)
        return await serve(asked)

    return serve_checked


def _unkept(value: object, place: str) -> Iterator[str]:
    """The places of texts that cannot be kept, written as msgspec writes places."""
    match value:
        case str():
            if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value):
                yield place
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from _unkept(getattr(value, name), f"{place}.{name}")
        case Mapping():
            for key, inner in value.items():
                yield from _unkept(key, f"{place}[...]")
                yield from _unkept(inner, f"{place}[...]")
        case list() | tuple() | frozenset() | set():
            for index, inner in enumerate(value):
                yield from _unkept(inner, f"{place}[{index}]")
        case _:
            pass
