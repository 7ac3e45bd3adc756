"""Acting on facts: many at a time, idempotent by fact id, tried a bounded number of times, then parked."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import codec
from contracts.envelope import Recorded
from contracts.errors import Unavailable
from eventlog.follower import PATIENCE, stored_of
from eventlog.projector import read, traced
from eventlog.pull import Pull
from eventlog.signing import Verifier

log = structlog.get_logger()

React = Callable[[Sequence[Recorded[msgspec.Struct]]], Awaitable[None]]


class Parked(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a reaction gave up on: where it stands, how often it was tried, which kind of error was last."""

    durable: str
    stream: str
    position: int
    tries: int
    error: str


@dataclass(slots=True)
class Reaction:
    """Reacts to the facts of a durable whose types it `hears`.

    A batch that fails is tried one by one; one that fails `tries` times goes to `parked` (a subject of PARKED).
    `Unavailable` is not held against a message: it is delivered again until the outside answers.
    """

    nc: Client
    durable: str
    stream: str
    hears: frozenset[str]
    react: React
    verifier: Verifier
    parked: str
    batch: int = 64
    tries: int = 5
    heartbeat: float = 15.0
    _trouble: str = "starting"

    def trouble(self) -> str:
        """Why this is not healthy, "" when it is."""
        return self._trouble

    async def run(self) -> None:
        """React until cancelled."""
        while True:
            try:
                await self._follow()
            except (Unavailable, nats.errors.Error, OSError, TimeoutError) as error:
                self._trouble = f"{type(error).__name__}: {error}"
                log.warning("reaction_interrupted", durable=self.durable, reason=self._trouble)
                await asyncio.sleep(0.5)

    async def _follow(self) -> None:
        """React until the connection to the bus is a new one."""
        reconnects = self.nc.stats["reconnects"]
        async with Pull(self.nc, self.stream, self.durable, self.batch) as pull:
            await self.nc.jetstream().consumer_info(self.stream, self.durable)
            self._trouble = ""
            try:
                while self.nc.stats["reconnects"] == reconnects:
                    await self._together(await pull.next(PATIENCE), pull)
            finally:
                await pull.hand_back()

    async def _together(self, messages: Sequence[Msg], pull: Pull) -> None:
        heard = [m for m in messages if codec.type_of(m.headers) in self.hears]
        for message in messages:
            if message not in heard:
                await message.ack()
        if not heard:
            return
        if await self._attempt(heard, pull) is None:
            return
        for message in heard:
            error = await self._attempt([message], pull)
            if error is not None:
                await self._again(message, error)

    async def _attempt(self, messages: Sequence[Msg], pull: Pull) -> Exception | None:
        """React to these; acknowledged on success, else the error comes back."""
        beat = asyncio.create_task(self._beat(messages, pull))
        try:
            stored = [stored_of(message) for message in messages]
            with traced(f"{self.durable} process", stored):
                await self.react([read(message, self.verifier) for message in stored])
        except Exception as error:  # noqa: BLE001 - whatever it is, the message must be tried again or parked
            return error
        finally:
            beat.cancel()
        for message in messages:
            await message.ack()
        return None

    async def _beat(self, messages: Sequence[Msg], pull: Pull) -> None:
        while True:
            await asyncio.sleep(self.heartbeat)
            for message in (*messages, *pull.waiting):
                await message.in_progress()

    async def _again(self, message: Msg, error: Exception) -> None:
        at = message.metadata
        log.warning("reaction_failed", durable=self.durable, position=at.sequence.stream, error=type(error).__name__)
        if isinstance(error, Unavailable) or at.num_delivered < self.tries:
            await message.nak(delay=min(2.0**at.num_delivered, 60.0))
            return
        kept = Parked(
            durable=self.durable,
            stream=self.stream,
            position=at.sequence.stream,
            tries=at.num_delivered,
            error=type(error).__name__,
        )
        headers = {"Nats-Msg-Id": f"{self.durable}/{at.sequence.stream}"}
        await self.nc.jetstream().publish(self.parked, msgspec.json.encode(kept), headers=headers)
        await message.ack()
