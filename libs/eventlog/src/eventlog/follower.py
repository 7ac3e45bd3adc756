"""Following a stream in order: a durable pull consumer, a checkpoint in Postgres, and the guard between them.

One transaction holds a batch's rows and its checkpoint; the acknowledgement comes after the commit. Consumer acks can
be lost in a crash, so the checkpoint is what counts: at start, at a reconnect and after a rollback the consumer is
reset to the position behind it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import asyncpg
import msgspec
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import codec, subjects
from contracts.envelope import Recorded
from contracts.errors import Unavailable
from contracts.ids import BrainId
from eventlog import leader, quarantine
from eventlog.leader import Stored
from eventlog.pull import Pull

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

FETCH = 500
"""Messages asked for at a time; it takes what is there and never waits to fill."""
PATIENCE = 2.0
"""Seconds that a pull waits for the first message, which is also how late a reconnect is noticed."""

log = structlog.get_logger()


class Regressed(Exception):
    """The log is not the one that was read before: it went backwards, lost a message, or its epoch changed."""


class _Restart(Exception):
    """Begin again from the checkpoint."""


@dataclass(slots=True)
class Checkpoint:
    """The last position whose effects are committed, 0 at the beginning, and the id of the fact there."""

    position: int
    fact_id: str
    epoch: int


Consume = Callable[[Connection, Sequence[Stored]], Awaitable[None]]


class Follower:
    """Follows `stream` through the durable `name`; `consume` gets whole batches in order, inside one transaction."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId, name: str, stream: str, consume: Consume) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._consume = consume
        self.name = name
        self.stream = stream
        self.position = 0
        self._ledger = stream in {"EVT", "CAP"}
        self._trouble = "starting"
        self._moved = asyncio.Condition()
        self._note = subjects.checkpointed(name)
        self._checkpoint = Checkpoint(0, "", 1)
        self.quarantined: frozenset[int] = frozenset()

    def trouble(self) -> str:
        """Why this is not healthy, "" when it is."""
        return self._trouble

    def read(self, message: Stored) -> Recorded[msgspec.Struct]:
        """A stored message as a fact. Raises `Unreadable`."""
        return codec.decode(message.position, message.subject, message.body)

    def skips(self, message: Stored) -> bool:
        """Whether a message is passed over as quarantined; here it only says that its batch need not be whole."""
        return message.position in self.quarantined

    async def reached(self, position: int, timeout: float) -> bool:
        """Wait until the effects of `position` are committed; False after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout), self._moved:
                await self._moved.wait_for(lambda: self.position >= position)
        except TimeoutError:
            return False
        return True

    async def run(self) -> None:
        """Follow until cancelled. Trouble is logged, shown in `trouble()` and tried again; it never skips."""
        pause = 0.1
        while True:
            try:
                async with self._pool.acquire() as guard:
                    await self._alone(guard)
                    try:
                        await self._follow()
                    finally:
                        await guard.execute("select pg_advisory_unlock_all()")
            except _Restart:
                pause = 0.1
                continue
            except (Regressed, codec.Unreadable) as error:
                self._report(str(error) or type(error).__name__)
                pause = 1.0
            except (
                Unavailable,
                nats.errors.Error,
                asyncpg.PostgresError,
                asyncpg.InterfaceError,
                asyncpg.InternalClientError,
                OSError,
                TimeoutError,
            ) as error:
                self._report(f"{type(error).__name__}: {error}")
                pause = min(pause * 2, 2.0)
            await asyncio.sleep(pause)

    def _report(self, reason: str) -> None:
        if reason != self._trouble:
            log.error("projection_stopped", projection=self.name, position=self.position, reason=reason)
        self._trouble = reason

    async def _alone(self, guard: Connection) -> None:
        """One process at a time runs a projection: a session lock, freed with its connection."""
        while not await guard.fetchval(
            "select pg_try_advisory_lock(hashtextextended($1, 0))", f"{self._brain}/{self.name}"
        ):
            self._trouble = ""
            await asyncio.sleep(0.5)

    async def _follow(self) -> None:
        reconnects = self._nc.stats["reconnects"]
        self._checkpoint = await self._load()
        await self._advance(self._checkpoint.position)
        await self._guard()
        await self._reset()
        async with Pull(self._nc, self.stream, self.name, FETCH) as pull:
            self._trouble = ""
            waiting: list[tuple[Stored, Msg]] = []
            while True:
                if self._nc.stats["reconnects"] != reconnects or not self._nc.is_connected:
                    raise _Restart
                come = await pull.next(PATIENCE)
                waiting += [(stored_of(message), message) for message in come]
                whole = self._whole(waiting)
                if come and whole < len(waiting) < FETCH:
                    continue  # the rest of a decision is on its way: one transaction for all of it
                if whole:
                    await self._commit([stored for stored, _ in waiting[:whole]])
                    await waiting[whole - 1][1].ack()
                    waiting = waiting[whole:]

    def _whole(self, waiting: list[tuple[Stored, Msg]]) -> int:
        """How many of the waiting messages may be committed: never part of a decision; order and gaps are checked."""
        while waiting and waiting[0][0].position <= self._checkpoint.position:
            waiting.pop(0)
        expected = self._checkpoint.position
        for stored, _ in waiting:
            if stored.position <= expected or (self._ledger and stored.position != expected + 1):
                raise _Restart
            expected = stored.position
        if not waiting:
            return 0
        last = waiting[-1][0]
        if not self._ledger or self.skips(last):
            return len(waiting)
        try:
            batch = codec.decode_envelope(last.body).batch
        except codec.Unreadable:
            return len(waiting)
        return len(waiting) if batch is None or batch.n == batch.of else max(0, len(waiting) - batch.n)

    async def _commit(self, messages: Sequence[Stored]) -> None:
        last = messages[-1]
        async with self._pool.acquire() as db, db.transaction():
            await db.execute("select set_config('brain.id', $1, true)", str(self._brain))
            held = await db.fetchval(
                "select position from checkpoints where brain = $1 and projection = $2 for update",
                self._brain,
                self.name,
            )
            if held != self._checkpoint.position:
                raise _Restart
            await self._consume(db, messages)
            await db.execute(
                "update checkpoints set position = $3, fact_id = $4, updated_at = now()"
                " where brain = $1 and projection = $2",
                self._brain,
                self.name,
                last.position,
                last.id,
            )
        self._checkpoint = Checkpoint(last.position, last.id, self._checkpoint.epoch)
        await self._advance(last.position)
        await self._nc.publish(self._note, str(last.position).encode())

    async def _advance(self, position: int) -> None:
        async with self._moved:
            self.position = position
            self._moved.notify_all()

    async def _load(self) -> Checkpoint:
        async with self._pool.acquire() as db, db.transaction():
            await db.execute("select set_config('brain.id', $1, true)", str(self._brain))
            row = await db.fetchrow(
                "select position, fact_id, epoch from checkpoints where brain = $1 and projection = $2",
                self._brain,
                self.name,
            )
            if row is not None:
                return Checkpoint(row["position"], row["fact_id"], row["epoch"])
            epoch = (await leader.extent(self._nc, self.stream)).epoch
            await db.execute(
                "insert into checkpoints (brain, projection, stream, position, fact_id, epoch)"
                " values ($1, $2, $3, 0, '', $4)",
                self._brain,
                self.name,
                self.stream,
                epoch,
            )
            return Checkpoint(0, "", epoch)

    async def _guard(self) -> None:
        """The regression guard: the message at my checkpoint, read from the leader, must be the one I know."""
        reach = await leader.extent(self._nc, self.stream)
        mine = self._checkpoint
        if not self._ledger:
            return
        if reach.epoch != mine.epoch:
            raise Regressed(f"{self.stream} has epoch {reach.epoch}, this projection was built on {mine.epoch}")
        if reach.last < mine.position:
            raise Regressed(f"{self.stream} ends at {reach.last}, this projection has read up to {mine.position}")
        if reach.messages and reach.first > mine.position + 1:
            raise Regressed(f"{self.stream} begins at {reach.first}, this projection needs {mine.position + 1}")
        if mine.position:
            found = await leader.at(self._nc, self.stream, mine.position)
            if found is None or found.id != mine.fact_id:
                raise Regressed(f"{self.stream} holds another fact at {mine.position} than the one projected")
        if mine.position < reach.last and await leader.at(self._nc, self.stream, mine.position + 1) is None:
            raise Regressed(f"{self.stream} has lost the message at {mine.position + 1}")
        self.quarantined = frozenset(await quarantine.quarantined(self._nc, self._brain, self.stream, self.read))

    async def _reset(self) -> None:
        """Deliver from behind my checkpoint, whatever the consumer remembers."""
        body = msgspec.json.encode({"seq": self._checkpoint.position + 1})
        answer = await leader.request(self._nc, f"$JS.API.CONSUMER.RESET.{self.stream}.{self.name}", body)
        if b'"error"' in answer:
            raise Unavailable(f"the consumer {self.name} cannot be reset; is it provisioned?")


def stored_of(message: Msg) -> Stored:
    """A delivered message as a stored one."""
    at = message.metadata
    return Stored(message.subject, at.sequence.stream, at.timestamp, dict(message.headers or {}), message.data)
