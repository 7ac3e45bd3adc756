"""The one place that appends. Never without an expectation; a retry recognises its own success."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from uuid import UUID, uuid4

import msgspec
import nats.errors
from nats.aio.client import Client

from contracts import codec
from contracts.envelope import Batch, Envelope, Recorded
from contracts.errors import Unavailable
from contracts.ids import BrainId, CommandId, FactId, PrincipalId, derived, fact_id
from eventlog import leader, telemetry
from eventlog.signing import Signer

BATCH_LIMIT = 1000
"""Messages in one atomic batch: the server's own limit (ADR-50)."""
BULK = 250
"""Facts a bulk append sends at a time: 25,000 facts/s, and decisions beside it wait 6 ms at most (p95)."""

_WRONG_LAST = frozenset({10071, 10164})
_DUPLICATE_IN_BATCH = 10201
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_NUMBER = re.compile(r"(\d+)\s*$")


class Conflict(Exception):
    """A history or gate has moved since it was folded: reload and decide again.

    `last` is its position now, 0 where that is unknown.
    """

    def __init__(self, subject: str, last: int) -> None:
        super().__init__(f"{subject} has moved")
        self.subject = subject
        self.last = last


@dataclass(frozen=True, slots=True)
class Append:
    """One decision's facts, in order, with what it was decided on.

    `expected` holds the last folded sequence of every history written (0: it must be new), and of each gate that
    must not have moved. `first` numbers the facts of one command that is appended in several decisions. `at`: when it
    happened, for a caller that keeps the same instant elsewhere; the log's clock where it is None.
    """

    command: CommandId
    actor: PrincipalId
    correlation: UUID
    facts: tuple[tuple[str, msgspec.Struct], ...]
    expected: Mapping[str, int]
    causation: FactId | None = None
    first: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Message:
    subject: str
    envelope: Envelope
    fact: msgspec.Struct
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return str(self.envelope.id)


class _Error(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Error | None = None


class _Wrong(Exception):
    """The server refused an expectation, or reported an id twice."""

    def __init__(self, error: _Error) -> None:
        super().__init__(error.description)
        found = _NUMBER.search(error.description)
        self.last = int(found.group(1)) if found and error.err_code in _WRONG_LAST else 0


class EventLog:
    """Appends to one ledger stream, as one service, for one brain."""

    def __init__(self, nc: Client, stream: str, brain: BrainId, signer: Signer, clock: Callable[[], datetime]) -> None:
        self._nc = nc
        self._stream = stream
        self._brain = brain
        self._signer = signer
        self._clock = clock

    async def append(self, decision: Append) -> int:
        """Append a decision whole, or not at all; returns the position of its last fact.

        Raises `Conflict` where something expected has moved, `Unavailable` where the log did not answer and the
        decision is not in it as far as can be known: the same command may be sent again.
        """
        messages = self._checked([decision])
        try:
            return await self._send(messages)
        except (_Wrong, Unavailable) as error:
            found = await self._own(decision, messages, error)
        end = found.position + len(messages) - 1
        last = await leader.at(self._nc, self._stream, end)
        if last is None or last.id != messages[-1].id:  # an earlier try said something else than this one would
            raise Conflict(found.subject, end)
        return end

    async def append_together(self, decisions: Sequence[Append]) -> list[list[Recorded[msgspec.Struct]]]:
        """Append independent decisions in one atomic batch, all or none; the facts of each as the log now holds them.

        No two of them write the same history, gates apart, on which they must expect the same. One sync to disk pays
        for all. Raises as `append` does, for all of them; but a success of an earlier try is a `Conflict` here, since
        that try may have taken others along: who reloads finds it.
        """
        messages = self._checked(decisions)
        try:
            last = await self._send(messages)
        except (_Wrong, Unavailable) as error:
            found = await self._own(decisions[0], messages, error)
            raise Conflict(found.subject, found.position) from error
        first = last - len(messages) + 1
        stored = (Recorded(first + n, one.subject, one.envelope, one.fact) for n, one in enumerate(messages))
        return [list(islice(stored, len(decision.facts))) for decision in decisions]

    async def append_many(self, decision: Append) -> int:
        """Append any number of facts in batches of 250, one in flight, each batch whole.

        A retry of the same command goes on where the first try stopped. Raises as `append` does; what was appended
        before the error stays.
        """
        expected = dict(decision.expected)
        position = 0
        for start in range(0, len(decision.facts), BULK):
            part = decision.facts[start : start + BULK]
            written = {subject for subject, _ in part}
            position = await self.append(
                replace(
                    decision,
                    facts=part,
                    expected={subject: expected[subject] for subject in written},
                    first=decision.first + start,
                )
            )
            for index, (subject, _) in enumerate(part):
                expected[subject] = position - len(part) + 1 + index
        return position

    def _messages(self, decisions: Sequence[Append], size: int) -> list[_Message]:
        batch = uuid4()  # a fresh one at each try: the server keeps a failed one in mind for ten seconds
        whole = derived(decisions[0].command, "batch", decisions[0].first)
        written = {subject for decision in decisions for subject, _ in decision.facts}
        seen, messages = dict[str, int](), list[_Message]()
        context = telemetry.inject()
        for decision in decisions:
            at = decision.at or self._clock()
            foreign = [subject for subject in decision.expected if subject not in written and subject not in seen]
            for index, (subject, fact) in enumerate(decision.facts):
                envelope = codec.seal(
                    fact,
                    id=fact_id(decision.command, decision.first + index),
                    brain=self._brain,
                    actor=decision.actor,
                    occurred_at=at,
                    correlation=decision.correlation,
                    causation=decision.causation,
                    batch=Batch(whole, len(messages) + 1, size) if size > 1 else None,
                )
                headers = {"Nats-Msg-Id": str(envelope.id), codec.TYPE_HEADER: envelope.type, **context}
                if subject not in seen:
                    headers[_EXPECTED] = str(_expectation(decision, subject, seen))
                elif foreign:
                    watched = foreign.pop()
                    headers[_EXPECTED] = str(_expectation(decision, watched, seen))
                    headers[f"{_EXPECTED}-Subject"] = watched
                if size > 1:
                    headers |= {"Nats-Batch-Id": batch.hex, "Nats-Batch-Sequence": str(len(messages) + 1)}
                signed = self._signer.sign(subject, envelope)
                messages.append(_Message(subject, signed, fact, headers, codec.encode(signed)))
            if foreign:
                raise ValueError(f"no fact of this decision can carry the expectation on {foreign}")
            for subject, expected in decision.expected.items():
                if seen.get(subject, expected) != expected:
                    raise ValueError(f"decisions of one batch expect different positions of {subject}")
        return messages

    def _checked(self, decisions: Sequence[Append]) -> list[_Message]:
        size = sum(len(decision.facts) for decision in decisions)
        if not 1 <= size <= BATCH_LIMIT or not all(decision.facts for decision in decisions):
            raise ValueError(f"a decision has facts, and a batch at most {BATCH_LIMIT}")
        return self._messages(decisions, size)

    async def _send(self, messages: Sequence[_Message]) -> int:
        """The position of the last. Raises `_Wrong` where it was refused, `Unavailable` where nobody knows."""
        try:
            return await (self._publish(messages[0]) if len(messages) == 1 else self._commit(messages))
        except (TimeoutError, nats.errors.Error, OSError) as error:
            raise Unavailable(f"the log did not acknowledge: {error!r}") from error

    async def _publish(self, message: _Message) -> int:
        answer = await self._nc.request(message.subject, message.body, timeout=5, headers=message.headers)
        return self._acknowledged(answer.data)

    async def _commit(self, messages: Sequence[_Message]) -> int:
        for message in messages[:-1]:
            await self._nc.publish(message.subject, message.body, headers=message.headers)
        final = messages[-1]
        headers = {**final.headers, "Nats-Batch-Commit": "1"}
        answer = await self._nc.request(final.subject, final.body, timeout=10, headers=headers)
        return self._acknowledged(answer.data)

    @staticmethod
    def _acknowledged(raw: bytes) -> int:
        ack = msgspec.json.decode(raw, type=_Ack)
        if ack.error is None:
            return ack.seq
        if ack.error.err_code in _WRONG_LAST or ack.error.err_code == _DUPLICATE_IN_BATCH:
            raise _Wrong(ack.error)
        raise Unavailable(f"the log refused: {ack.error.err_code} {ack.error.description}")

    async def _own(self, decision: Append, messages: Sequence[_Message], error: _Wrong | Unavailable) -> leader.Stored:
        """Ask the leader for the first fact after my expectation: mine means that an earlier try got through.

        Raises `Conflict` where it is somebody else's, and `Unavailable` where there is none and nothing was refused.
        """
        subject = messages[0].subject
        found = await leader.first_after(self._nc, self._stream, subject, decision.expected[subject])
        if found is not None and found.id == messages[0].id:
            return found
        if isinstance(error, _Wrong):
            raise Conflict(subject, error.last) from error
        if found is not None:
            raise Conflict(subject, found.position) from error
        raise error


def _expectation(decision: Append, subject: str, seen: dict[str, int]) -> int:
    if subject not in decision.expected:
        raise ValueError(f"never append without an expectation: {subject}")
    seen[subject] = decision.expected[subject]
    return seen[subject]
