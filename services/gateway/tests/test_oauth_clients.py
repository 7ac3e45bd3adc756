"""The official client, all the way: it discovers, registers, sends a person to consent, and calls tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.exceptions import MCPError
from pydantic import AnyUrl

from contracts import approvals_messages, retrieval_messages
from contracts.ids import ProposalId
from gateway import app
from gateway.oauth.fetching import Fetcher
from gateway_world import House, settled
from loopback_https import authority, origin
from oauth_world import CALLBACK, Browser, browser, query
from servers import Database

pytestmark = pytest.mark.service

MODES = ["legacy", "auto", "2026-07-28"]
NOTHING = retrieval_messages.Hits(hits=(), trust="no_coverage", empty="no_match", degraded=(), position=9)
PROPOSAL = {"kind": "observation", "title": "The ceiling", "body": "It is 10 %, not 12 %."}


@dataclass
class Memory:
    """What the client remembers between runs."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Person:
    """Reads the page that the client opens, and presses a button."""

    browser: Browser
    asked: list[str] = field(default_factory=list)
    answer: dict[str, str] = field(default_factory=dict)

    async def opens(self, url: str) -> None:
        self.asked.append(url)
        self.answer = query(await self.browser.press(await self.browser.open(url), "allow"))

    async def returns(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self.answer["code"], state=self.answer["state"], iss=self.answer["iss"])


def provider(house: House, person: Person, memory: Memory, document: str | None = None) -> OAuthClientProvider:
    said = OAuthClientMetadata(client_name="Official", redirect_uris=[AnyUrl(CALLBACK)])
    return OAuthClientProvider(
        server_url=f"{house.address}/api/mcp",
        client_metadata=said,
        storage=memory,
        redirect_handler=person.opens,
        callback_handler=person.returns,
        client_metadata_url=document,
    )


@asynccontextmanager
async def connected(
    house: House, mode: str, person: Person, memory: Memory, document: str | None = None
) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(auth=provider(house, person, memory, document), trust_env=False, timeout=30) as http,
        Client(streamable_http_client(f"{house.address}/api/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_registers_is_allowed_and_calls(house: House, mode: str) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    async with browser(house, "alice") as opened:
        person, memory = Person(opened), Memory()
        async with connected(house, mode, person, memory) as client:
            assert "search" in {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "ceiling"})
            assert found.structured_content is not None
    assert len(person.asked) == 1
    assert memory.tokens is not None
    assert memory.tokens.refresh_token
    assert (memory.tokens.scope, memory.tokens.expires_in) == ("brain:read", 1800)


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_asks_for_more_when_a_tool_needs_it_and_goes_on(house: House, mode: str) -> None:
    filed = approvals_messages.Submitted(proposal=ProposalId(uuid4()), position=5, archived=True)
    await house.neighbour.answers(approvals_messages.SUBMIT_TEXT, filed)
    await house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    async with browser(house, "alice") as opened:
        person, memory = Person(opened), Memory()
        async with connected(house, mode, person, memory) as client:
            await client.call_tool("search", {"query": "ceiling"})
            for _ in range(2):
                written = await client.call_tool("write_inbox", PROPOSAL)
                assert written.structured_content is not None
                assert written.structured_content["inboxId"] == str(filed.proposal)
            await client.call_tool("search", {"query": "ceiling"})
    assert len(person.asked) == 2
    assert memory.tokens is not None
    assert memory.tokens.scope == "brain:read brain:propose"


async def test_the_official_client_refreshes_what_it_remembers_and_bothers_nobody(house: House) -> None:
    async with browser(house, "alice") as opened:
        person, memory = Person(opened), Memory()
        async with connected(house, "auto", person, memory) as client:
            await client.list_tools()
        assert memory.tokens is not None
        first = memory.tokens
        memory.tokens = first.model_copy(update={"expires_in": -1})
        async with connected(house, "auto", person, memory) as client:
            await client.list_tools()
    assert len(person.asked) == 1
    assert first.refresh_token is not None


async def test_the_official_client_connects_anew_after_the_person_ended_it(house: House) -> None:
    async with browser(house, "alice") as opened:
        person, memory = Person(opened), Memory()
        async with connected(house, "auto", person, memory) as client:
            await client.list_tools()
            async with house.client(await house.sign_in()) as console:
                for token in (await console.get("/api/v1/tokens")).json()["tokens"]:
                    if token["kind"] == "person":
                        await console.post("/api/v1/tokens/revoke", json={"token": token["id"]})
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("nothing", {})
    assert len(person.asked) == 2


async def test_the_official_client_is_known_by_the_address_of_its_document(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    vouched = authority(tmp_path, "app.example")

    async def look_up(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    def trusting() -> Fetcher:
        return Fetcher(look_up, lambda ip: ip == "127.0.0.1", vouched.trusted())

    monkeypatch.setattr(app, "Fetcher", trusting)
    async with origin(vouched) as served, settled(tmp_path, database) as house:
        await house.open()
        address = f"https://app.example:{served.port}/client.json"
        served.answers(
            msgspec.json.encode(
                {"client_id": address, "client_name": "Described", "redirect_uris": ["http://127.0.0.1/callback"]}
            )
        )
        async with browser(house, "alice") as opened:
            person, memory = Person(opened), Memory()
            async with connected(house, "auto", person, memory, address) as client:
                await client.list_tools()
            page = await opened.open(person.asked[0])
            assert memory.client is not None
            assert memory.client.client_id == address
            assert "described at <code>app.example</code>" in page.text
            assert "on this computer" in page.text
            assert len(served.asked) == 1
            evil = await opened.open(person.asked[0].replace("127.0.0.1%3A33333", "evil.example"))
            assert (evil.status_code, "location" in evil.headers) == (400, False)
