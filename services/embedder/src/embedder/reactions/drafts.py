"""Drafts are embedded while they wait for a decision, so that a promotion finds its vectors ready."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import asyncpg
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import APIError
from opentelemetry.trace import SpanKind

from chassis import log, telemetry
from content.errors import ContentMissing, ContentTampered
from content.keyring import UnknownKey
from contracts import codec
from contracts.catalogue import wire_type
from contracts.codec import Unreadable
from contracts.enums import PageAction
from contracts.errors import Unavailable
from contracts.ids import BrainId
from contracts.proposals import BuildPageWritten, PageDraft, ProposalSubmitted
from corpus.errors import Malformed
from embedder.embedding import Embedding
from embedder.models import ModelAnsweredWrongly, ModelRefused, ModelUnavailable, TextRefused
from embedder.reactions.parking import Parking
from eventlog.pull import Pull
from eventlog.signing import Verifier

DURABLE = "embedder-on-draft-v1"
STREAM = "EVT"
FETCH = 32
"""Messages worked on together: enough to fill the model's batches, few enough to be done in some ten seconds."""
DELAYS = (1.0, 4.0, 15.0, 60.0)
"""Seconds before a message that failed is delivered again; after the last of these tries it is parked."""

_PATIENCE = 2.0
_HEARTBEAT = 15.0
_LONGEST_PAUSE = 30.0
_FOLLOWED = frozenset(wire_type(shape) for shape in (ProposalSubmitted, BuildPageWritten))

_AWAY = (
    Unavailable,
    ModelUnavailable,
    ModelRefused,
    ModelAnsweredWrongly,
    UnknownKey,
    APIError,
    nats.errors.Error,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""What is no message's fault: the round waits and is tried again, and nothing is parked."""

_HOPELESS = (Unreadable, Malformed, ContentTampered)
"""What no further try can mend."""

_LOG = log.get(part="drafts")


class _Waiting(NamedTuple):
    message: Msg
    draft: PageDraft


class Drafts:
    """The reaction to submitted proposals and written pages of builds, for one brain."""

    def __init__(
        self,
        client: Client,
        brain: BrainId,
        verifier: Verifier,
        embedding: Embedding,
        parking: Parking,
        delays: Sequence[float] = DELAYS,
    ) -> None:
        self._client = client
        self._brain = brain
        self._verifier = verifier
        self._embedding = embedding
        self._parking = parking
        self._delays = delays
        self._trouble = "starting"

    def trouble(self) -> str:
        """Why drafts are not being embedded, "" where they are."""
        return self._trouble

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """React while the block runs. What is not finished at its end is handed back, to be delivered again.

        Should the reaction end by itself, by a fault of ours, then the block is cancelled and the fault raised.
        """
        async with asyncio.TaskGroup() as tasks:
            reacting = tasks.create_task(self._run())
            try:
                yield
            finally:
                reacting.cancel()

    async def _run(self) -> None:
        pause = 1.0
        while True:
            try:
                async with Pull(self._client, STREAM, DURABLE, FETCH) as pull:
                    try:
                        while True:
                            messages = await pull.next(_PATIENCE)
                            self._trouble, pause = "", 1.0
                            if messages:
                                await self._round(messages, pull)
                    finally:
                        await pull.hand_back()
            except (Unavailable, APIError, nats.errors.Error, OSError, TimeoutError) as error:
                self._report(error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _round(self, messages: Sequence[Msg], pull: Pull) -> None:
        async with _held(messages, pull):
            links = [dict(message.headers or {}) for message in messages]
            name = "embedder.embed_drafts"
            with telemetry.span(name, links=links, kind=SpanKind.CONSUMER, attributes={"messages": len(messages)}):
                pause = 1.0
                while True:
                    try:
                        await self._settle([message for message in messages if not message.is_acked])
                    except _AWAY as error:
                        self._report(error)
                        await asyncio.sleep(pause)
                        pause = min(2 * pause, _LONGEST_PAUSE)
                    else:
                        return

    async def _settle(self, messages: Sequence[Msg]) -> None:
        """Acknowledge, park or hand back every message. Raises what is in `_AWAY`."""
        waiting = []
        for message in messages:
            try:
                draft = self._read(message)
            except Unreadable:
                await self._parking.park(message, "unreadable")
                continue
            if draft is None:
                await message.ack()
            else:
                waiting.append(_Waiting(message, draft))
        if waiting:
            await self._embed(waiting)

    async def _embed(self, waiting: Sequence[_Waiting]) -> None:
        try:
            tally = await self._embedding.embed([each.draft for each in waiting])
        except _AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - one message's fault must not hold up the others
            if len(waiting) > 1:
                for each in waiting:
                    await self._embed([each])
                return
            await self._failed(waiting[0].message, error)
            return
        for each in waiting:
            await each.message.ack()
        _LOG.info("bodies_embedded", bodies=tally.bodies, computed=tally.computed, reused=tally.reused)

    async def _failed(self, message: Msg, error: Exception) -> None:
        tries = message.metadata.num_delivered or 1
        _LOG.warning("draft_failed", position=message.metadata.sequence.stream, tries=tries, exc_info=error)
        if tries > len(self._delays) or isinstance(error, _HOPELESS):
            await self._parking.park(message, _code(error))
        else:
            await message.nak(delay=self._delays[tries - 1])

    def _read(self, message: Msg) -> PageDraft | None:
        """The draft that a message speaks of, None where it speaks of none. Raises `Unreadable`."""
        if (kind := codec.type_of(message.headers)) and kind not in _FOLLOWED:
            return None
        recorded = codec.decode(message.metadata.sequence.stream, message.subject, message.data)
        if recorded.envelope.brain != self._brain:
            return None
        self._verifier.check(message.subject, recorded.envelope)
        fact = recorded.fact
        draft = fact.draft if isinstance(fact, ProposalSubmitted | BuildPageWritten) else None
        return None if draft is None or draft.action is PageAction.DEPRECATE else draft

    def _report(self, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        if reason != self._trouble:
            _LOG.error("drafts_held_up", reason=reason)
        self._trouble = reason


def _code(error: Exception) -> str:
    if isinstance(error, Malformed):
        return error.code
    for shape, code in (
        (ContentMissing, "content_missing"),
        (ContentTampered, "content_tampered"),
        (TextRefused, "text_refused"),
    ):
        if isinstance(error, shape):
            return code
    return "failed"


@asynccontextmanager
async def _held(messages: Sequence[Msg], pull: Pull) -> AsyncIterator[None]:
    """Tell the server that messages are being worked on; hand back at once what a cancellation leaves unfinished."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT)
            for message in (*messages, *pull.waiting):
                if not message.is_acked:
                    with suppress(nats.errors.Error):
                        await message.in_progress()

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        for message in messages:
            if not message.is_acked:
                with suppress(nats.errors.Error):
                    await message.nak()
