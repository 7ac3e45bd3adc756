"""The official Inspector at a command line: with a token that was made by hand, and through a person's consent."""

import msgspec
import pytest

from clients.conftest import Ceiling
from clients.programs import INSPECTOR, Answer, Desk, Ended
from clients.tools import CALLS, PROPOSAL, READ_TOOLS, Served, check

pytestmark = pytest.mark.system

ERAS = ["legacy", "modern"]


class Listed(msgspec.Struct):
    name: str


class Tools(msgspec.Struct):
    tools: list[Listed]


class Listing(msgspec.Struct):
    result: Tools


class Called(msgspec.Struct):
    result: Answer


async def inspect(desk: Desk, served: Served, era: str, *words: str) -> Ended:
    """Run one method; its result is one JSON object on stdout."""
    place = ("--cli", served.address, "--transport", "http", "--protocol-era", era)
    return await desk.run(str(INSPECTOR), *place, *words, "--format", "json", "-q")


async def call(desk: Desk, served: Served, era: str, tool: str, arguments: dict[str, object], *words: str) -> Ended:
    pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    return await inspect(desk, served, era, "--method", "tools/call", "--tool-name", tool, *pairs, *words)


def checked(ended: Ended, tool: str) -> None:
    """A call that has to work, and to show the page."""
    assert ended.code == 0, ended
    answer = msgspec.json.decode(ended.told, type=Called).result
    check(tool, answer.structured_content, answer.words)


def bearer(served: Served) -> tuple[str, str]:
    return "--header", f"Authorization: Bearer {served.token}"


@pytest.mark.parametrize("era", ERAS)
async def test_it_lists_and_calls_with_a_token(served: Served, desk: Desk, era: str) -> None:
    listed = await inspect(desk, served, era, "--method", "tools/list", *bearer(served))
    assert listed.code == 0, listed
    assert set(READ_TOOLS) <= {tool.name for tool in msgspec.json.decode(listed.told, type=Listing).result.tools}
    for tool, arguments in CALLS.items():
        ended = await call(desk, served, era, tool, arguments, *bearer(served))
        checked(ended, tool)
    assert desk.person.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_it_is_allowed_once_and_remembers_it(served: Served, desk: Desk, era: str) -> None:
    for tool, arguments in CALLS.items():
        ended = await call(desk, served, era, tool, arguments)
        checked(ended, tool)
    assert len(desk.person.asked) == 1


async def test_too_many_calls_are_told_with_the_wait(served: Served, desk: Desk, ceiling: Ceiling) -> None:
    with ceiling("search", 1):
        runs = [await call(desk, served, "modern", "search", CALLS["search"], *bearer(served)) for _ in range(3)]
    refused = next(run for run in runs if run.code != 0)
    assert "Try again in " in refused.told + refused.said


async def test_a_token_that_lacks_a_scope_is_told_which(served: Served, desk: Desk) -> None:
    ended = await call(desk, served, "modern", "write_inbox", PROPOSAL, *bearer(served))
    assert "brain:propose" in ended.told, ended
    assert ended.code != 0


async def test_what_needs_more_than_was_allowed_ends_and_the_next_call_works(served: Served, desk: Desk) -> None:
    """It refreshes what it holds where it should ask its person, gives up, and starts anew with the next call."""
    refused = await call(desk, served, "legacy", "write_inbox", PROPOSAL)
    assert (refused.code, refused.told) == (1, ""), refused
    checked(await call(desk, served, "legacy", "read_page", CALLS["read_page"]), "read_page")


async def test_who_logs_in_again_is_asked_again(served: Served, desk: Desk) -> None:
    for words in ((), ("--relogin",)):
        checked(await call(desk, served, "legacy", "read_page", CALLS["read_page"], *words), "read_page")
    assert len(desk.person.asked) == 2
