"""What a field of a closed set takes, for whoever sent another word."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import inspect

_FIELD = re.compile(r"Invalid enum value .* - at `\$\.(\w+)(?:\[\d+\])?`\Z", re.DOTALL)


def allowed(error: msgspec.ValidationError, shape: type[msgspec.Struct]) -> str:
    """The words that the field of `shape` takes, with commas; "" where `error` is about something else."""
    found = _FIELD.match(str(error))
    if found is None:
        return ""
    told = inspect.type_info(shape)
    fields = told.fields if isinstance(told, inspect.StructType) else ()
    return ", ".join(word for field in fields if field.encode_name == found[1] for word in _words(field.type))


def _words(kind: inspect.Type) -> Iterator[str]:
    match kind:
        case inspect.LiteralType():
            yield from map(str, kind.values)
        case inspect.EnumType():
            yield from (str(member.value) for member in kind.cls)
        case inspect.Metadata():
            yield from _words(kind.type)
        case inspect.UnionType():
            for part in kind.types:
                yield from _words(part)
        case inspect.VarTupleType() | inspect.ListType():
            yield from _words(kind.item_type)
        case _:
            pass
