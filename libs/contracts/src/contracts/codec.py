"""Facts to bytes and back. A fact of an older version is upcast at the door, so the house knows only today's shape."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from contracts.catalogue import BY_SHAPE, CATALOGUE
from contracts.envelope import Batch, Envelope, Recorded
from contracts.ids import BrainId, FactId, PrincipalId


class Unreadable(Exception):
    """A stored message that this release cannot read: the projector that needs it stops, loud."""


class UnknownFact(Unreadable):
    """The type is in no catalogue of this release."""


class FromTheFuture(Unreadable):
    """The version is newer than this release knows: deploy consumers before producers."""


def seal(
    fact: msgspec.Struct,
    *,
    id: FactId,  # noqa: A002 - the envelope's own word
    brain: BrainId,
    actor: PrincipalId,
    occurred_at: datetime,
    correlation: UUID,
    causation: FactId | None = None,
    batch: Batch | None = None,
) -> Envelope:
    """Put a fact in its envelope, unsigned. Raises `KeyError` for a shape that the catalogue does not list."""
    entry = BY_SHAPE[type(fact)]
    return Envelope(
        id=id,
        type=entry.name,
        v=entry.version,
        brain=brain,
        actor=actor,
        occurred_at=occurred_at,
        correlation=correlation,
        causation=causation,
        batch=batch,
        data=msgspec.Raw(msgspec.json.encode(fact)),
    )


def encode(envelope: Envelope) -> bytes:
    """One line of JSON."""
    return msgspec.json.encode(envelope)


_envelopes = msgspec.json.Decoder(Envelope)


def decode_envelope(body: bytes) -> Envelope:
    """The envelope alone. Raises `Unreadable`."""
    try:
        return _envelopes.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable(f"not an envelope: {error}") from error


def decode_fact(envelope: Envelope) -> msgspec.Struct:
    """Today's shape of the fact inside. Raises `UnknownFact`, `FromTheFuture` or `Unreadable`."""
    entry = CATALOGUE.get(envelope.type)
    if entry is None:
        raise UnknownFact(envelope.type)
    if envelope.v > entry.version:
        raise FromTheFuture(f"{envelope.type} v{envelope.v}, this release knows v{entry.version}")
    try:
        if envelope.v == entry.version:
            return msgspec.json.decode(envelope.data, type=entry.shape)
        older: dict[str, object] = msgspec.json.decode(envelope.data, type=dict[str, object])
        for upcast in entry.upcasts[envelope.v - 1 :]:
            older = upcast(older)
        return msgspec.convert(older, entry.shape)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"{envelope.type}: {error}") from error


def decode(position: int, subject: str, body: bytes) -> Recorded[msgspec.Struct]:
    """A stored message as a recorded fact. Raises `Unreadable`."""
    envelope = decode_envelope(body)
    return Recorded(position, subject, envelope, decode_fact(envelope))


def type_of(headers: Mapping[str, str] | None) -> str:
    """The wire type in the `Brain-Type` header, "" where there is none: enough to skip what one does not follow."""
    return (headers or {}).get(TYPE_HEADER, "")


TYPE_HEADER = "Brain-Type"
