"""Both generations of the official TypeScript client, through a person's consent in a browser."""

import pytest

from clients.conftest import Ceiling
from clients.programs import Desk, typescript
from clients.tools import CALLS, PROPOSAL, READ_TOOLS, Served, check

pytestmark = pytest.mark.system

GENERATIONS = [
    pytest.param("v1.mjs", "default", "2025-11-25", id="v1"),
    pytest.param("v2.mjs", "default", "2025-11-25", id="v2"),
    pytest.param("v2.mjs", "auto", "2026-07-28", id="v2-auto"),
]


@pytest.mark.parametrize(("script", "mode", "revision"), GENERATIONS)
async def test_it_is_allowed_once_and_every_tool_answers(
    served: Served, desk: Desk, script: str, mode: str, revision: str
) -> None:
    async with typescript(desk, script, served.address, mode) as client:
        assert client.connected.revision == revision
        assert set(READ_TOOLS) <= set(client.connected.tools)
        assert client.connected.scope == "brain:read"
        for tool, arguments in CALLS.items():
            answer = await client.answer(tool, arguments)
            check(tool, answer.structured_content, answer.words)
    (asked,) = desk.person.asked
    assert "TypeScript" in asked
    assert "127.0.0.1" in asked


@pytest.mark.parametrize("mode", ["default", "auto"])
async def test_it_asks_its_person_for_more_when_a_tool_needs_it_and_goes_on(
    served: Served, desk: Desk, mode: str
) -> None:
    async with typescript(desk, "v2.mjs", served.address, mode) as client:
        for _ in range(2):
            written = (await client.answer("write_inbox", PROPOSAL)).structured_content
            assert written is not None
            assert written["inboxId"]
        await client.answer("read_page", CALLS["read_page"])
    assert len(desk.person.asked) == 2
    assert "inbox" not in desk.person.asked[0]
    assert "inbox" in desk.person.asked[1]


async def test_the_first_generation_asks_for_more_once_it_has_nothing_to_refresh_and_is_usable_until_then(
    served: Served, desk: Desk
) -> None:
    """It answers a want of scope by refreshing what it holds, which gives the same scope, and says so."""
    async with typescript(desk, "v1.mjs", served.address, "default") as client:
        refused = (await client.call("write_inbox", PROPOSAL)).failed
        assert refused is not None
        assert (refused.kind, refused.code) == ("StreamableHTTPError", 403)
        assert len(desk.person.asked) == 1
        await client.answer("read_page", CALLS["read_page"])
        written = (await client.answer("write_inbox", PROPOSAL, forget=True)).structured_content
        assert written is not None
        assert written["inboxId"]
        await client.answer("read_page", CALLS["read_page"])
    assert len(desk.person.asked) == 2


@pytest.mark.parametrize(("script", "mode", "revision"), GENERATIONS)
async def test_too_many_calls_are_told_with_the_wait_and_the_client_stays_usable(
    served: Served, desk: Desk, ceiling: Ceiling, script: str, mode: str, revision: str
) -> None:
    async with typescript(desk, script, served.address, mode) as client:
        with ceiling("search", 1):
            lines = [await client.call("search", CALLS["search"]) for _ in range(3)]  # a minute may turn on the way
            refused = next(line.failed for line in lines if line.failed is not None)
            assert 429 in {refused.code, refused.status}, refused
            assert "Try again in " in refused.message
            await client.answer("read_page", CALLS["read_page"])
    assert len(desk.person.asked) == 1
