"""The model's thread: questions go first, failures arrive where they are awaited, the loop stays alive."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from embedder.models import ModelUnavailable, Vectors
from embedder.models.hashing import Hashing
from embedder.worker import working


class Slow(Hashing):
    """Notes what it is given, and waits at its first passages until it is let go."""

    def __init__(self) -> None:
        super().__init__(dim=8)
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.seen: list[str] = []

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        return [[place] for place in range(len(texts))]

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        self.go_on.wait(10)
        self.seen.append("passages")
        return np.ones((len(texts), self.dim), np.float32)

    def query(self, text: str) -> Vectors:
        self.seen.append("query")
        return np.ones(self.dim, np.float32)


class Broken(Slow):
    def query(self, text: str) -> Vectors:
        raise ModelUnavailable("gone for lunch")


async def test_a_question_waits_for_one_slice_and_not_for_all_of_them() -> None:
    model = Slow()
    async with working(lambda: model) as worker:
        passages = asyncio.create_task(worker.passages(["a passage", "another one", "and a third"]))
        await asyncio.to_thread(model.begun.wait, 10)
        question = asyncio.create_task(worker.query("where?"))
        await asyncio.sleep(0)
        model.go_on.set()
        await asyncio.gather(question, passages)
    assert model.seen == ["passages", "query", "passages", "passages"]


async def test_passages_come_back_in_their_order() -> None:
    async with working(Hashing) as worker:
        texts = ["word " * count for count in (50, 1, 20, 3)] + [""]
        assert np.array_equal(await worker.passages(texts), Hashing().passages(texts))
        assert (await worker.passages([])).shape == (0, 384)


async def test_a_models_failure_is_raised_to_whoever_asked() -> None:
    model = Broken()
    model.go_on.set()
    async with working(lambda: model) as worker:
        with pytest.raises(ModelUnavailable, match="lunch"):
            await worker.query("hello?")
        assert (await worker.passages(["still at work"])).shape == (1, 8)


async def test_a_question_nobody_waits_for_is_not_computed() -> None:
    model = Slow()
    async with working(lambda: model) as worker:
        passages = asyncio.create_task(worker.passages(["one"]))
        await asyncio.to_thread(model.begun.wait, 10)
        question = asyncio.create_task(worker.query("never mind"))
        await asyncio.sleep(0)
        question.cancel()
        await asyncio.sleep(0)
        model.go_on.set()
        await passages
        await worker.query("but this one")
    assert model.seen == ["passages", "query"]
