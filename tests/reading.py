"""What a person's agent sees: the official client of MCP, with a token of that person."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client

from houses import House


@dataclass(frozen=True, slots=True)
class Reader:
    """One session of the official client."""

    client: mcp.Client

    async def call(self, tool: str, **arguments: object) -> dict[str, object]:
        """The structured result of a call that has to work."""
        told = await self.client.call_tool(tool, dict(arguments))
        assert not told.is_error, told.content
        assert isinstance(told.structured_content, dict)
        return told.structured_content

    async def words(self, tool: str, **arguments: object) -> str:
        """Everything that a call tells, in words and in structure, as one text."""
        return (await self.client.call_tool(tool, dict(arguments))).model_dump_json()

    async def search(self, query: str, limit: int = 10) -> list[dict[str, object]]:
        """The hits for a query."""
        hits = (await self.call("search", query=query, limit=limit))["hits"]
        assert isinstance(hits, list)
        return hits

    async def paths(self, query: str, limit: int = 10) -> list[str]:
        """The paths of the hits for a query, in order."""
        return [str(hit["path"]) for hit in await self.search(query, limit)]

    async def page(self, path: str) -> dict[str, object]:
        """A page that the reader may see."""
        return await self.call("read_page", path=path)


@asynccontextmanager
async def reader(house: House, token: str, mode: str = "auto") -> AsyncIterator[Reader]:
    """Connect with a token, in one of the client's modes."""
    bearer = {"authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{house.ports.gateway}/api/mcp"
    async with (
        httpx2.AsyncClient(headers=bearer, trust_env=False, timeout=60) as http,
        mcp.Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield Reader(client)


def receipt(answer: dict[str, object]) -> dict[str, object]:
    """The receipt of a hit or page."""
    found = answer["receipt"]
    assert isinstance(found, dict)
    return found


def token(house: House, person: str, tier: str = "employee", *scopes: str) -> str:
    """A token that `person`, who is signed in here, issues for himself."""
    wanted = [word for scope in scopes or ("brain:read",) for word in ("--scope", scope)]
    issued = house.command("token", "issue", "--as", person, "--tier", tier, *wanted)
    assert issued.code == 0, issued.result
    return str(issued.result["token"])
