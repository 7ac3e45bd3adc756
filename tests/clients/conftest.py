"""One brain with one page, and one person at a browser, for every client."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

import inside
import reading
import story
from clients.person import Person, signed_in
from clients.programs import Desk, desk
from clients.tools import PAGE, Served
from houses import House


class Ceiling(Protocol):
    def __call__(self, name: str, per_minute: int) -> AbstractContextManager[None]: ...


@pytest_asyncio.fixture(scope="session", loop_scope="session", name="served")
async def a_brain_with_a_page(house: House, tmp_path_factory: pytest.TempPathFactory) -> Served:
    story.join(house, "client-reader")
    story.publish(house, story.write(tmp_path_factory.mktemp("clients") / "corpus", {PAGE.path: PAGE.text()}))
    async with inside.look(house) as within:
        await within.settled()
    return Served(f"http://127.0.0.1:{house.ports.gateway}/api/mcp", reading.token(house, "client-reader"))


@pytest_asyncio.fixture(scope="session", loop_scope="session", name="signed")
async def somebody_at_a_browser(house: House, served: Served) -> AsyncIterator[Person]:
    made = house.command("signin", "client-reader", "--link")
    assert made.code == 0, made.result
    async with signed_in(str(made.result["link"])) as person:
        yield person


@pytest.fixture(name="person")
def the_person_of_one_test(signed: Person) -> Person:
    """Nothing was asked yet."""
    return Person(signed.context)


@pytest_asyncio.fixture(loop_scope="session", name="desk")
async def the_desk_of_one_test(tmp_path: Path, person: Person) -> AsyncIterator[Desk]:
    async with desk(tmp_path, person) as made:
        yield made


@pytest.fixture(name="ceiling")
def limits_for_a_while(house: House) -> Ceiling:
    """Set a limit for the time of a block."""

    @contextmanager
    def ceiling(name: str, per_minute: int) -> Iterator[None]:
        done = house.command("limits", "set", name, str(per_minute), "--as", "alice")
        assert done.code == 0, done.result
        try:
            yield
        finally:
            done = house.command("limits", "set", name, "--as", "alice")
            assert done.code == 0, done.result

    return ceiling
