"""The way past a message that cannot be read: an operator's fact, which names exactly that one.

A quarantine is no order to skip: whoever can read the message reads it all the same. So one that an older release
needed never drops a fact from a newer one.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client

from contracts import codec, subjects
from contracts.envelope import Recorded
from contracts.errors import Refused
from contracts.ids import BrainId
from contracts.operations import LogQuarantined
from eventlog import leader
from eventlog.leader import Stored
from eventlog.signing import Forged

Read = Callable[[Stored], Recorded[msgspec.Struct]]

_WHY: Mapping[type[codec.Unreadable], str] = {
    Forged: "It is not signed by a service that may say it.",
    codec.UnknownFact: "This release does not know its type; a newer one may.",
    codec.FromTheFuture: "A newer release wrote it: deploy that one rather than skip it.",
}


@dataclass(frozen=True, slots=True)
class Unread:
    """A message that can be quarantined, and the position behind which its quarantine is appended to the history."""

    position: int
    after: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A position that is quarantined already: `said` is where, in EVT."""

    position: int
    said: int


def digest_of(stored: Stored) -> str:
    """By which an operator names the message he looked at: SHA-256 of its stored bytes, in hex."""
    return hashlib.sha256(stored.body).hexdigest()


async def quarantined(nc: Client, brain: BrainId, stream: str, read: Read) -> dict[int, int]:
    """The quarantined positions of a stream, each with the position in EVT that first says so.

    Raises `Unreadable` where the history of quarantines holds what `read` cannot read, unless that is quarantined
    itself.
    """
    told = await _told(nc, brain, read)
    for position, problem in told.broken.items():
        if ("EVT", position) not in told.said:
            raise problem
    return {position: said for (named, position), said in told.said.items() if named == stream}


@dataclass(frozen=True, slots=True)
class _Told:
    """A brain's history of quarantines: where each stream and position was quarantined first, and what is broken."""

    said: dict[tuple[str, int], int]
    broken: dict[int, codec.Unreadable]


async def _told(nc: Client, brain: BrainId, read: Read) -> _Told:
    told = _Told({}, {})
    history, position = subjects.log(brain), 0
    while (stored := await leader.first_after(nc, "EVT", history, position)) is not None:
        position = stored.position
        try:
            fact = read(stored).fact
        except codec.Unreadable as error:
            told.broken[position] = error
            continue
        if isinstance(fact, LogQuarantined):
            told.said.setdefault((fact.stream.value, fact.sequence), position)
    return told


async def examine(
    nc: Client, brain: BrainId, stream: str, position: int, digest: str | None, read: Read
) -> Unread | Skipped:
    """Whether the message at a position may be quarantined by one who names its digest.

    Raises `Refused` where there is no such message of this brain, where `read` can read it, and where the digest is
    missing or another's; `Unavailable` where the log does not answer.
    """
    last = await leader.last(nc, "EVT", subjects.log(brain))  # before all else, so that a race is a conflict
    where = f"{stream} {position}"
    stored = await leader.at(nc, stream, position)
    if stored is None:
        end = (await leader.extent(nc, stream)).last
        what = f"There is no message at this position; {stream} ends at {end}."
        raise Refused("no_such_message", what, where, "Take the position that the stopped reader names.")
    if stored.subject.split(".", 2)[1] != str(brain):
        what = "The message at this position belongs to another brain, which alone may quarantine it."
        raise Refused("message_of_another_brain", what, where, "Take the position that the stopped reader names.")
    said = (await _told(nc, brain, read)).said.get((stream, position), 0)
    if said:
        return Skipped(position, said)
    try:
        read(stored)
    except codec.Unreadable as error:
        _confirm(digest, stored, where, _WHY.get(type(error), "Its bytes are no fact of this release."))
        return Unread(position, last.position if last else 0)
    what = "The message at this position can be read, and only what cannot be read is quarantined."
    raise Refused("message_readable", what, where, "To take back what a fact did, decide anew; the log keeps it.")


def _confirm(digest: str | None, stored: Stored, where: str, why: str) -> None:
    shown = digest_of(stored)
    if digest is None:
        what = f"The message at this position cannot be read. {why} Nothing was quarantined yet."
        raise Refused("digest_needed", what, where, f"To quarantine it, repeat with --digest {shown}")
    if digest.lower() != shown:
        what = "The message at this position has another digest than the one that was named."
        raise Refused("digest_differs", what, where, f"Look again; the digest of its bytes is {shown}")
