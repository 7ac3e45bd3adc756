"""The texts of a request, checked at one place before anything is read or kept."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

from contracts.errors import Refused

T = TypeVar("T", bound=msgspec.Struct)


def checked(asked: T) -> T:
    """The request, if the database can hold each of its texts. Raises `character_refused` for U+0000 in any of them."""
    for place, text in _texts(asked, ""):
        position = text.find("\0")
        if position >= 0:
            raise Refused(
                "character_refused",
                f"U+0000 at position {position + 1} is in no text that is kept here.",
                place,
                "Send it without that character.",
            )
    return asked


def _texts(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Every text in a message, with its place: the names of fields, and the number of an entry from 1."""
    match value:
        case str():
            yield place, value
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from _texts(getattr(value, name), f"{place}.{name}" if place else name)
        case tuple() | list():
            for number, entry in enumerate(value, start=1):
                yield from _texts(entry, f"{place}[{number}]")
        case Mapping():
            for key, entry in value.items():
                yield from _texts(key, place)
                yield from _texts(entry, place)
        case _:
            pass
