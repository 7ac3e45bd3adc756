"""The chain over the audit: pure. A seal covers the bytes of a minute's rows and, through the seal before, all rows."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import msgspec

START = bytes(32)
"""What the first seal has before it."""

_COLUMNS = (
    "id",
    "minute",
    "at",
    "request_id",
    "door",
    "operation",
    "outcome",
    "writes",
    "principal",
    "token",
    "kind",
    "arguments",
    "concerned",
    "results",
    "trust",
    "position",
    "requests",
)


def line(row: Mapping[str, object]) -> bytes:
    """The canonical bytes of a row: its columns in order as one line of JSON, instants in UTC."""
    return msgspec.json.encode([_written(row[column]) for column in _COLUMNS]) + b"\n"


def _written(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return str(value) if isinstance(value, UUID) else value


@dataclass(slots=True)
class Minute:
    """The rows of one minute, as they are read in order."""

    at: datetime
    first: int = 0
    last: int = 0
    counted: int = 0
    rows: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def add(self, row: Mapping[str, object]) -> None:
        """The next row."""
        number = row["id"]
        assert isinstance(number, int)
        self.first, self.last = self.first or number, number
        self.counted += 1
        self.rows.update(line(row))

    def hash(self, previous: bytes) -> bytes:
        """What its seal says, where `previous` is the seal before: SHA-256."""
        bounds = [_written(self.at), self.first, self.last, self.counted]
        return hashlib.sha256(previous + msgspec.json.encode(bounds) + b"\n" + self.rows.digest()).digest()


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal as it is stored."""

    minute: datetime
    first_id: int
    last_id: int
    counted: int
    previous: bytes
    hash: bytes
    signature: bytes


def signed(hashed: bytes) -> bytes:
    """What is signed of a seal: nothing else that this key signs begins like it."""
    return b"company-brain audit seal\n" + hashed


def problem(seal: Seal, found: Minute, previous: bytes, *, genuine: bool) -> str | None:
    """What is wrong with a minute, None where nothing is. `genuine`: the signature of the seal verifies."""
    if not genuine:
        return "seal_changed"
    if found.counted != seal.counted:
        return "row_missing" if found.counted < seal.counted else "row_added"
    if found.hash(seal.previous) != seal.hash:
        return "row_changed"
    return "seal_missing" if seal.previous != previous else None
