"""Settings come from the environment, are read once into a frozen Struct, and never echo a secret."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec

from contracts.errors import CannotStart

T = TypeVar("T", bound=msgspec.Struct)


class Secret(str):
    """A text whose printed form is hidden; `reveal()` gives the plain value to a library that needs it."""

    __slots__ = ()

    def reveal(self) -> str:
        """The value itself."""
        return str.__str__(self)

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return "***"


class BadSettings(CannotStart):
    """The environment lacks settings or holds unusable ones. Names the variables, never their values."""

    def __init__(self, missing: tuple[str, ...], unusable: tuple[str, ...]) -> None:
        self.missing = missing
        self.unusable = unusable
        parts = []
        if missing:
            parts.append("set " + ", ".join(missing))
        if unusable:
            parts.append("correct " + ", ".join(unusable))
        self._wanted = "; ".join(parts)
        remedy = f"{self._wanted[:1].upper()}{self._wanted[1:]}."
        super().__init__("bad_settings", "Settings are missing or unusable.", "environment", remedy)

    def __str__(self) -> str:
        return self._wanted

    def __reduce__(self) -> "tuple[type[BadSettings], tuple[tuple[str, ...], tuple[str, ...]]]":  # type: ignore[override]  # other arguments than those of Refused
        return (BadSettings, (self.missing, self.unusable))


def read(shape: type[T], environ: Mapping[str, str]) -> T:
    """The settings of one process.

    Each field of `shape` is the variable of the same name in upper case. `NAME_FILE` names a file that holds the
    value instead (one trailing newline is dropped). An empty variable counts as unset. Raises `BadSettings` with
    every variable that is missing or unusable, all at once.
    """
    values: dict[str, object] = {}
    missing: list[str] = []
    unusable: list[str] = []
    for field in msgspec.structs.fields(shape):
        name = field.name.upper()
        try:
            text = _text(name, environ)
        except (OSError, ValueError):
            unusable.append(f"{name}_FILE")
            continue
        if text:
            try:
                values[field.name] = _value(text, field.type)
            except (ValueError, msgspec.ValidationError):
                unusable.append(name)
        elif field.required:
            missing.append(name)
    if missing or unusable:
        raise BadSettings(tuple(missing), tuple(unusable))
    return shape(**values)


def _text(name: str, environ: Mapping[str, str]) -> str:
    if text := environ.get(name, ""):
        return text
    if path := environ.get(f"{name}_FILE", ""):
        return Path(path).read_text(encoding="utf-8").removesuffix("\n")
    return ""


def _value(text: str, wanted: object) -> object:
    if wanted is Secret:
        return Secret(text)
    if wanted is Path:
        return Path(text)
    if wanted is UUID:
        return UUID(text)
    if wanted == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if wanted == Path | None:
        return Path(text)
    return msgspec.convert(text, wanted, strict=False)
