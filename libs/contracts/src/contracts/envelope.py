"""The envelope of a fact: one JSON line is the whole fact, in the log, in the archive and in a golden file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

import msgspec

from contracts.ids import BrainId, FactId, PrincipalId

F_co = TypeVar("F_co", covariant=True, bound=msgspec.Struct)


class Batch(msgspec.Struct, frozen=True):
    """Which part of one decision a fact is: the `n`-th (from 1) `of` so many, of the batch `id`."""

    id: UUID
    n: int
    of: int


class Signature(msgspec.Struct, frozen=True):
    """Ed25519 over `signed_text`, by a service's own key; base64."""

    by: str
    value: str


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a fact but where it stands. `occurred_at` informs; only positions order."""

    id: FactId
    type: str
    v: int
    brain: BrainId
    actor: PrincipalId
    occurred_at: datetime
    correlation: UUID
    causation: FactId | None = None
    batch: Batch | None = None
    sig: Signature | None = None
    data: msgspec.Raw


@dataclass(frozen=True, slots=True)
class Recorded(Generic[F_co]):
    """A fact as read from a stream: its position there, its subject, its envelope and today's shape of it."""

    position: int
    subject: str
    envelope: Envelope
    fact: F_co


def signed_text(subject: str, envelope: Envelope) -> bytes:
    """The bytes that a signature covers: everything but the signature itself, and the subject."""
    return subject.encode() + b"\n" + msgspec.json.encode(msgspec.structs.replace(envelope, sig=None))
