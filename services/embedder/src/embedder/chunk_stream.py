"""CHK as this service sees it: what stands there about a body, and the one place that appends to it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nats.aio.client import Client

from contracts import codec, subjects
from contracts.chunks import BodyEmbedded
from contracts.errors import Unavailable
from contracts.ids import BrainId, CommandId, ContentId, derived, service_principal
from corpus.chunks import CHUNKER, RECIPE
from embedder.vectors import Memory
from eventlog import leader
from eventlog.log import Append, Conflict, EventLog
from eventlog.signing import Verifier

STREAM = "CHK"
FACTS_AT_ONCE = 250
TAIL = 5_000
"""Messages replayed at a start, a body or a part of one each: about as many vectors as the memory holds."""

_TRIES = 5


class Standing(NamedTuple):
    """What CHK holds last about a body: its position (0 for nothing), and the fact."""

    position: int
    fact: BodyEmbedded | None


class ChunkStream:
    """Reads CHK from its leader and appends to it, for one brain."""

    def __init__(self, client: Client, brain: BrainId, log: EventLog, verifier: Verifier) -> None:
        self._client = client
        self._brain = brain
        self._log = log
        self._verifier = verifier

    async def standing(self, body: ContentId) -> Standing:
        """The last fact about a body. Raises `Unavailable`, or `Unreadable` where a fact is not one of ours."""
        stored = await leader.last(self._client, STREAM, subjects.chunks(self._brain, body))
        return Standing(0, None) if stored is None else Standing(stored.position, self._read(stored))

    async def recall(self, body: ContentId, memory: Memory) -> None:
        """Remember the vectors of every fact about a body."""
        await self._remember(subjects.chunks(self._brain, body), 0, memory)

    async def warm(self, memory: Memory) -> None:
        """Remember the vectors of the stream's tail, so that a restart computes nothing twice."""
        extent = await leader.extent(self._client, STREAM)
        await self._remember(f"chk.{self._brain}.body.*", max(0, extent.last - TAIL), memory)

    async def publish(self, bodies: Mapping[ContentId, Sequence[BodyEmbedded]]) -> None:
        """Append the facts of bodies, all parts of a body in one batch; a body that someone else appended is left out.

        Raises `Unavailable` where the log does not take them; sending them again is safe.
        """
        waiting = dict(bodies)
        while waiting:
            chosen: dict[ContentId, Sequence[BodyEmbedded]] = {}
            count = 0
            for body, facts in waiting.items():
                if chosen and count + len(facts) > FACTS_AT_ONCE:
                    break
                chosen[body] = facts
                count += len(facts)
            await self._append(chosen)
            for body in chosen:
                del waiting[body]

    async def _append(self, bodies: Mapping[ContentId, Sequence[BodyEmbedded]]) -> None:
        for _ in range(_TRIES):
            standing = dict(zip(bodies, await asyncio.gather(*map(self.standing, bodies)), strict=True))
            fresh = {body: facts for body, facts in bodies.items() if not stands(standing[body].fact, facts[0].model)}
            if not fresh:
                return
            try:
                await self._log.append(self._decision(fresh, {body: standing[body].position for body in fresh}))
            except Conflict:
                continue
            return
        raise Unavailable("others keep appending to the same bodies")

    def _decision(self, bodies: Mapping[ContentId, Sequence[BodyEmbedded]], after: Mapping[ContentId, int]) -> Append:
        said = [(subjects.chunks(self._brain, body), fact) for body, facts in bodies.items() for fact in facts]
        names = [f"{body}@{after[body]}" for body in bodies]
        first = said[0][1]
        command = CommandId(derived(self._brain, "embed", first.model, first.chunker, first.recipe, *names))
        return Append(
            command=command,
            actor=service_principal(self._brain, "embedder"),
            correlation=command,
            facts=tuple(said),
            expected={subjects.chunks(self._brain, body): position for body, position in after.items()},
        )

    async def _remember(self, subject: str, after: int, memory: Memory) -> None:
        position = after
        while (stored := await leader.first_after(self._client, STREAM, subject, position)) is not None:
            memory.remember((chunk.vector_key, chunk.vector) for chunk in self._read(stored).chunks)
            position = stored.position

    def _read(self, stored: leader.Stored) -> BodyEmbedded:
        recorded = codec.decode(stored.position, stored.subject, stored.body)
        self._verifier.check(stored.subject, recorded.envelope)
        if not isinstance(recorded.fact, BodyEmbedded):
            raise codec.Unreadable(f"{recorded.envelope.type} does not belong in {STREAM}")
        return recorded.fact


def stands(found: BodyEmbedded | None, model: str) -> bool:
    """Whether a body has been embedded by this model, with today's chunker and recipe, already."""
    return found is not None and (found.model, found.chunker, found.recipe) == (model, CHUNKER, RECIPE)
