"""From facts to read models: ordered, whole decisions at a time, exactly once in effect."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client
from opentelemetry import trace

from contracts import codec
from contracts.catalogue import CATALOGUE
from contracts.envelope import Recorded
from contracts.ids import BrainId
from eventlog import telemetry
from eventlog.follower import Connection, Follower, Pool
from eventlog.leader import Stored
from eventlog.signing import Verifier

Apply = Callable[[Connection, Sequence[Recorded[msgspec.Struct]]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Projection:
    """A read model: its durable and checkpoint (`name`), the stream, the wire types it hears, what it does with them.

    `apply` runs inside one transaction with `brain.id` set; its rows are guarded by `source_seq`. Types that are not
    heard are skipped unread. A heard one that cannot be read or is not properly signed stops the projection,
    until an operator quarantines it.
    """

    name: str
    stream: str
    hears: frozenset[str]
    apply: Apply


class Projector(Follower):
    """Runs a projection. See `Follower` for `run`, `reached`, `position` and `trouble`."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId, projection: Projection, verifier: Verifier) -> None:
        super().__init__(nc, pool, brain, projection.name, projection.stream, self._apply)
        self._projection = projection
        self._verifier = verifier

    def read(self, message: Stored) -> Recorded[msgspec.Struct]:
        """A stored message as a verified fact. Raises `Unreadable`."""
        return read(message, self._verifier)

    def skips(self, message: Stored) -> bool:
        """Whether a message is quarantined and indeed cannot be read here: what can be read is never dropped."""
        if message.position not in self.quarantined:
            return False
        try:
            self.read(message)
        except codec.Unreadable:
            return True
        return False

    async def _apply(self, db: Connection, messages: Sequence[Stored]) -> None:
        heard = [message for message in messages if self._hears(message) and not self.skips(message)]
        if not heard:
            return
        with traced(f"{self.name} project", heard):
            await self._projection.apply(db, [self.read(message) for message in heard])

    def _hears(self, message: Stored) -> bool:
        """Of this brain, and of a type that is heard. An unknown type may concern anybody: it is read, and stops."""
        if message.subject.split(".", 2)[1] != str(self._brain):
            return False
        kind = message.headers.get(codec.TYPE_HEADER, "")
        return kind in self._projection.hears or kind not in CATALOGUE


def read(message: Stored, verifier: Verifier) -> Recorded[msgspec.Struct]:
    """A stored message as a verified fact. Raises `Unreadable` (and its kinds) otherwise."""
    try:
        recorded = codec.decode(message.position, message.subject, message.body)
        verifier.check(message.subject, recorded.envelope)
    except codec.Unreadable as error:
        raise type(error)(f"position {message.position} cannot be read: {error}") from error
    return recorded


@contextmanager
def traced(name: str, messages: Sequence[Stored]) -> Iterator[None]:
    """A batch whose facts were all said in one trace continues it; a mixed one links to each."""
    spans = [span for message in messages if (span := telemetry.context_of(message.headers)) is not None]
    one = len({span.trace_id for span in spans}) == 1
    parent = trace.set_span_in_context(trace.NonRecordingSpan(spans[0])) if one else None
    links = [] if one else [trace.Link(span) for span in spans[:128]]
    with telemetry.tracer.start_as_current_span(
        name, context=parent, links=links, kind=trace.SpanKind.CONSUMER
    ) as current:
        current.set_attribute("messaging.batch.message_count", len(messages))
        current.set_attribute("brain.stream.seq", messages[-1].position)
        yield
