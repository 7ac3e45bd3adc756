"""Is the ledger whole? The archive's chain recomputed, and the stream compared with it, message by message."""

from dataclasses import dataclass, field

import nats.errors
from nats.aio.client import Client
from nats.js.api import ConsumerConfig, DeliverPolicy

from contracts import codec
from contracts.content import ContentRef
from contracts.ids import BrainId
from eventlog import leader
from eventlog.archive import GENESIS, Broken, chain, rows_of
from eventlog.follower import Connection
from eventlog.leader import Stored
from eventlog.references import content_of

PART = 500


@dataclass(slots=True)
class Verified:
    """`facts` archived of this stream, the chain's `head` (hex), how far stream and archive reach, what is broken.

    `named` are the bodies that facts speak of; whether they are there is the content store's to say.
    """

    stream: str
    facts: int = 0
    head: str = GENESIS.hex()
    archived: int = 0
    position: int = 0
    broken: list[Broken] = field(default_factory=list)
    named: list[ContentRef] = field(default_factory=list)


async def verify(nc: Client, db: Connection, brain: BrainId, stream: str) -> Verified:
    """Walk one ledger stream. Facts that are in the stream but not yet archived are not an error: they are younger.

    Raises `Unavailable` where the stream does not answer.
    """
    found = Verified(stream)
    reach = await leader.extent(nc, stream)
    found.position = reach.last
    previous = GENESIS
    subscription = await nc.jetstream().subscribe(
        f"{stream.lower()}.{brain}.>",
        stream=stream,
        ordered_consumer=True,
        config=ConsumerConfig(deliver_policy=DeliverPolicy.ALL),
    )
    try:
        while rows := await rows_of(db, brain, stream, found.archived, PART):
            for stored, hashed in rows:
                if chain(previous, stream, stored) != hashed:
                    found.broken.append(Broken(stream, stored.position, "the archive's chain does not hold here"))
                if stored.position > reach.last:
                    found.broken.append(Broken(stream, stored.position, "archived, but the stream ends before it"))
                else:
                    await _compare(subscription, stored, found)
                _collect(stored, found)
                previous, found.archived = hashed, stored.position
                found.facts += 1
    finally:
        await subscription.unsubscribe()
    found.head = previous.hex()
    return found


async def _compare(subscription: object, stored: Stored, found: Verified) -> None:
    try:
        message = await subscription.next_msg(timeout=5)  # type: ignore[attr-defined] # an ordered push subscription
    except (TimeoutError, nats.errors.TimeoutError):
        found.broken.append(Broken(found.stream, stored.position, "the stream does not hold this position"))
        return
    at = message.metadata.sequence.stream
    if at < stored.position:
        found.broken.append(Broken(found.stream, at, "the archive lacks this position"))
    elif at > stored.position or message.subject != stored.subject or message.data != stored.body:
        found.broken.append(Broken(found.stream, stored.position, "the stream holds something else than the archive"))


def _collect(stored: Stored, found: Verified) -> None:
    try:
        fact = codec.decode(stored.position, stored.subject, stored.body).fact
    except codec.Unreadable as error:
        found.broken.append(
            Broken(found.stream, stored.position, f"this release cannot read it: {type(error).__name__}")
        )
        return
    found.named.extend(content_of(fact))
