"""A brain of their own for faults that kill."""

from collections.abc import Awaitable, Callable, Iterator

import pytest

from breaking import Break, Faulty, people, under_load
from houses import build, running
from loads import Load
from verdicts import Verdict

Suffers = Callable[[Break], Awaitable[tuple[Verdict, Load]]]


@pytest.fixture(scope="module", name="faulty")
def brain_with_people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    with running(build(tmp_path_factory.mktemp("faults"), EMBEDDER_PROFILE="hashing")) as house:
        yield people(house)


@pytest.fixture(name="suffers")
def suffering(faulty: Faulty) -> Suffers:
    """Run the load on this brain while something breaks."""

    async def run(harm: Break) -> tuple[Verdict, Load]:
        return await under_load(faulty, harm)

    return run
