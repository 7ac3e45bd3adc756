"""One thread in which the model computes, so that the event loop stays alive. Queries go before passages."""

import asyncio
import itertools
import queue
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from embedder.models import Model, Vectors

_STOP, _QUERY, _PASSAGES = range(3)


@dataclass(order=True, slots=True)
class _Job:
    urgency: int
    order: int
    compute: Callable[[], Vectors] = field(compare=False)
    answer: asyncio.Future[Vectors] | None = field(compare=False, default=None)


class Worker:
    """Hands texts to the model's thread. Raises whatever the model raises, where the vectors are awaited."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._order = itertools.count()
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)
        self._thread.start()

    async def query(self, text: str) -> Vectors:
        """The vector of a question: waits for the slice that is being computed, and for earlier questions."""
        return await self._submit(_QUERY, partial(self.model.query, text))

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors in the order of the texts, computed in the model's slices, which let questions pass between."""
        vectors = np.empty((len(texts), self.model.dim), np.float32)
        for places in await asyncio.to_thread(self.model.slices, texts):
            chosen = [texts[place] for place in places]
            vectors[places] = await self._submit(_PASSAGES, partial(self.model.passages, chosen))
        return vectors

    def _submit(self, urgency: int, compute: Callable[[], Vectors]) -> asyncio.Future[Vectors]:
        answer: asyncio.Future[Vectors] = self._loop.create_future()
        self._jobs.put(_Job(urgency, next(self._order), compute, answer))
        return answer

    def _run(self) -> None:
        while (job := self._jobs.get()).answer is not None:
            if job.answer.cancelled():
                continue
            try:
                vectors = job.compute()
            except Exception as error:  # noqa: BLE001 - it is raised where the vectors are awaited
                self._tell(job.answer, error)
            else:
                self._tell(job.answer, vectors)

    def _tell(self, answer: asyncio.Future[Vectors], outcome: Vectors | Exception) -> None:
        def settle() -> None:
            if answer.done():
                return
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        self._loop.call_soon_threadsafe(settle)

    async def stop(self) -> None:
        """End the thread after what it computes now; what still waits is never computed."""
        self._jobs.put(_Job(_STOP, next(self._order), lambda: np.empty(0, np.float32)))
        await asyncio.to_thread(self._thread.join)


@asynccontextmanager
async def working(load: Callable[[], Model]) -> AsyncIterator[Worker]:
    """A worker for the model that `load` gives; loading happens off the event loop too."""
    worker = Worker(await asyncio.to_thread(load))
    try:
        yield worker
    finally:
        await worker.stop()
