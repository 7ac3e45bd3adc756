"""Embeds the bodies of drafts: only vectors that are known nowhere are computed, and CHK hears of every body once."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from chassis import metrics, postgres
from content.store import ContentStore
from contracts.content import ContentRef
from contracts.ids import BrainId, ContentId
from contracts.proposals import PageDraft
from embedder import passages, vectors
from embedder.chunk_stream import ChunkStream, stands
from embedder.passages import Passage
from embedder.vectors import Memory
from embedder.worker import Worker

_BODIES = metrics.counter("embedder_bodies_total", "bodies whose passages were published")
_VECTORS = metrics.counter("embedder_vectors_total", "vectors published, by where they came from", "origin")


class Tally(msgspec.Struct, frozen=True):
    """What a round came to: bodies published, vectors computed for them, vectors that were known already."""

    bodies: int
    computed: int
    reused: int


class Embedding:
    """One brain's bodies, with one model. `secret` keys the chunks."""

    def __init__(
        self,
        pool: postgres.Pool,
        brain: BrainId,
        store: ContentStore,
        secret: bytes,
        worker: Worker,
        stream: ChunkStream,
        memory: Memory,
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._store = store
        self._secret = secret
        self._worker = worker
        self._stream = stream
        self._memory = memory

    async def embed(self, drafts: Sequence[PageDraft]) -> Tally:
        """Publish the passages of every draft whose body does not stand in CHK yet. Doing it twice changes nothing.

        Raises `Malformed`, `ContentMissing` or `ContentTampered` for a body that cannot be embedded, a `ModelError`
        where the model gives no vectors, and `Unavailable` where the log does not answer.
        """
        fresh = await self._fresh({draft.body.id: draft for draft in drafts})
        if not fresh:
            return Tally(0, 0, 0)
        bodies = await self._bodies([draft.body for draft in fresh.values()])
        planned = await asyncio.to_thread(self._planned, bodies)
        await self._recall(fresh.values(), planned)
        found, new = await self._vectors(planned)
        tally = await self._publish(planned, found, new)
        _BODIES.add(amount=tally.bodies)
        _VECTORS.add("computed", amount=tally.computed)
        _VECTORS.add("reused", amount=tally.reused)
        return tally

    async def _fresh(self, drafts: Mapping[ContentId, PageDraft]) -> dict[ContentId, PageDraft]:
        standing = await asyncio.gather(*map(self._stream.standing, drafts))
        model = self._worker.model.model_id
        pairs = zip(drafts.items(), standing, strict=True)
        return {body: draft for (body, draft), found in pairs if not stands(found.fact, model)}

    async def _bodies(self, refs: Sequence[ContentRef]) -> dict[ContentId, bytes]:
        async with postgres.transaction(self._pool, self._brain, readonly=True) as db:
            return await self._store.get(db, self._brain, refs)

    def _planned(self, bodies: Mapping[ContentId, bytes]) -> dict[ContentId, list[Passage]]:
        model = self._worker.model.model_id
        return {body: passages.passages_of(text, self._secret, model) for body, text in bodies.items()}

    async def _recall(self, drafts: Iterable[PageDraft], planned: Mapping[ContentId, Sequence[Passage]]) -> None:
        """Where the memory lacks something, look into what CHK holds about the revision that was edited."""
        for draft in drafts:
            lacking = any(self._memory.get(each.vector_key) is None for each in planned[draft.body.id])
            if lacking and draft.previous is not None:
                await self._stream.recall(draft.previous.id, self._memory)

    async def _vectors(self, planned: Mapping[ContentId, Sequence[Passage]]) -> tuple[dict[str, str], set[str]]:
        """Every vector that is needed, by its key, and the keys of those that had to be computed."""
        texts = {each.vector_key: each.text for body in planned.values() for each in body}
        found = {key: vector for key in texts if (vector := self._memory.get(key)) is not None}
        missing = [key for key in texts if key not in found]
        if missing:
            rows = await self._worker.passages([texts[key] for key in missing])
            computed = {key: vectors.encode(row) for key, row in zip(missing, rows, strict=True)}
            self._memory.remember(computed.items())
            found |= computed
        return found, set(missing)

    async def _publish(
        self, planned: Mapping[ContentId, Sequence[Passage]], found: Mapping[str, str], new: set[str]
    ) -> Tally:
        model, uncounted, total = self._worker.model, set(new), 0
        said = {}
        for body, its in planned.items():
            mine = {each.vector_key for each in its} & uncounted
            uncounted -= mine
            said[body] = passages.facts(body, model.model_id, model.dim, its, found, computed=len(mine))
            total += len(its)
        await self._stream.publish(said)
        return Tally(len(said), len(new), total - len(new))
