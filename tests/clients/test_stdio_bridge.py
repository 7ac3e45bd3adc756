"""mcp-remote, as programs on a desktop start it: stdio on one side, the gateway on the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from clients.conftest import Ceiling
from clients.programs import BRIDGE, Desk
from clients.tools import CALLS, PROPOSAL, READ_TOOLS, Served, check
from conformance.suite import node

pytestmark = pytest.mark.system


@asynccontextmanager
async def bridged(desk: Desk, address: str) -> AsyncIterator[Client]:
    """The official Python client, which starts the bridge and ends it."""
    bridge = StdioServerParameters(command=node(), args=[str(BRIDGE), address], env=desk.environ, cwd=str(desk.folder))
    async with Client(stdio_client(bridge), mode="legacy") as client:
        yield client


async def test_it_is_allowed_once_and_remembers_it_when_it_starts_again(served: Served, desk: Desk) -> None:
    for _ in range(2):
        async with bridged(desk, served.address) as client:
            assert set(READ_TOOLS) <= {tool.name for tool in (await client.list_tools()).tools}
            for tool, arguments in CALLS.items():
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer
                check(tool, answer.structured_content, answer.model_dump_json())
    assert len(desk.person.asked) == 1


async def test_too_many_calls_are_told_with_the_wait_and_the_bridge_stays_usable(
    served: Served, desk: Desk, ceiling: Ceiling
) -> None:
    async with bridged(desk, served.address) as client:
        with ceiling("search", 1):
            told = ""
            for _ in range(3):  # a minute may turn on the way
                try:
                    await client.call_tool("search", CALLS["search"])
                except MCPError as error:
                    told = str(error)
            assert "Try again in " in told
            answer = await client.call_tool("read_page", CALLS["read_page"])
            check("read_page", answer.structured_content, answer.model_dump_json())


async def test_it_asks_its_person_for_more_when_a_tool_needs_it_and_goes_on(served: Served, desk: Desk) -> None:
    async with bridged(desk, served.address) as client:
        for _ in range(2):
            answer = await client.call_tool("write_inbox", PROPOSAL)
            assert answer.structured_content is not None, answer
            assert answer.structured_content["inboxId"]
        read = await client.call_tool("read_page", CALLS["read_page"])
        check("read_page", read.structured_content, read.model_dump_json())
    assert len(desk.person.asked) == 2
