"""Pages as resources, and what every tool of the product answers in every revision."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceLink, TextResourceContents
from mcp_types.methods import validate_server_result

from contracts import approvals_messages, retrieval_messages
from contracts.enums import Scope
from contracts.errors import Refused, Unavailable
from contracts.ids import ProposalId
from gateway.mcp import resources
from gateway.mcp.protocol import JSON, LEGACY, MODERN, SUPPORTED
from gateway_world import House
from mcp_wire import written
from pages_world import FOUND, HITS, NODE, VIEW

pytestmark = pytest.mark.service

MISSING = Refused("no_such_page", "There is no page here that you can see.", "path", "Find it with find_page.")
URI = "brain://page/topics/ceiling.md"
CALLS: dict[str, dict[str, JSON]] = {
    "find_page": {"query": "ceiling"},
    "read_page": {"path": "topics/ceiling.md"},
    "search": {"query": "ceiling"},
    "write_inbox": {"kind": "observation", "title": "abc", "body": "x" * 10},
}


@given(st.text(min_size=1, max_size=300).filter(lambda path: "\0" not in path))
def test_the_resource_of_a_page_leads_back_to_its_path(path: str) -> None:
    asked = resources.asked(resources.uri(path))
    assert asked is not None
    assert (asked.path, asked.offset) == (path, 0)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "brain://page/",
        "brain://page",
        "brain://other/a.md",
        "BRAIN://page/a.md",
        "https://page/a.md",
        "brain://page/a.md#b",
        "brain://page/a.md?offset=-1",
        "brain://page/a.md?offset=x",
        "brain://page/a.md?offset=",
        "brain://page/a.md?at=1",
        "brain://page/a.md?path=1",
        "brain://page/%ff",
        "brain://page/%00",
        "brain://page/" + "a" * 301,
    ],
)
def test_an_address_of_no_page_asks_for_nothing(uri: str) -> None:
    assert resources.asked(uri) is None


def test_a_long_text_is_read_on_from_an_offset() -> None:
    asked = resources.asked("brain://page/a%20b/c.md?offset=50000")
    assert asked is not None
    assert (asked.path, asked.offset) == ("a b/c.md", 50_000)


async def answering(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, HITS)
    await house.neighbour.answers(retrieval_messages.FIND_PAGE, FOUND)
    await house.neighbour.answers(retrieval_messages.READ_PAGE, VIEW)
    submitted = approvals_messages.Submitted(proposal=ProposalId(VIEW.receipt.page), position=5, archived=True)
    await house.neighbour.answers(approvals_messages.SUBMIT_TEXT, submitted)


async def post(house: House, secret: str, method: str, params: dict[str, JSON], revision: str) -> dict[str, Any]:
    body, headers = written(method, params, revision, {})
    async with house.client(secret) as http:
        answer = await http.post("/api/mcp", content=body, headers=headers)
    read: dict[str, Any] = msgspec.json.decode(answer.content)
    return read


@pytest.mark.parametrize("revision", SUPPORTED)
async def test_every_result_of_every_tool_is_one_of_the_official_types_with_content(
    house: House, revision: str
) -> None:
    await answering(house)
    secret = (await house.token(None, Scope.READ, Scope.PROPOSE)).secret
    listed = (await post(house, secret, "tools/list", {}, revision))["result"]
    assert [tool["name"] for tool in listed["tools"]] == list(CALLS)
    for name, arguments in CALLS.items():
        for given_arguments, failed in ((arguments, False), ({}, True)):
            params: dict[str, JSON] = {"name": name, "arguments": given_arguments}
            result = (await post(house, secret, "tools/call", params, revision))["result"]
            validate_server_result("tools/call", revision, result)
            assert result["content"][0]["type"] == "text"
            assert (result["isError"], "structuredContent" in result) == (failed, not failed)
    for method in ("resources/list", "resources/templates/list", "resources/read", "server/discover", "initialize"):
        if (method == "initialize" and revision == MODERN) or (method == "server/discover" and revision != MODERN):
            continue
        params = {"uri": URI} if method == "resources/read" else {}
        params |= {"protocolVersion": revision} if method == "initialize" else {}
        result = (await post(house, secret, method, params, revision))["result"]
        validate_server_result(method, revision, result)


@pytest.mark.parametrize("revision", SUPPORTED)
async def test_results_link_to_the_pages_they_name_where_the_revision_knows_links(house: House, revision: str) -> None:
    await answering(house)
    secret = (await house.token()).secret
    for name in ("find_page", "read_page", "search"):
        params: dict[str, JSON] = {"name": name, "arguments": CALLS[name]}
        content = (await post(house, secret, "tools/call", params, revision))["result"]["content"]
        links = [block["uri"] for block in content if block["type"] == "resource_link"]
        assert links == ([] if revision == "2025-03-26" else [URI])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_reads_what_a_link_leads_to(house: House, mode: str) -> None:
    await answering(house)
    issued = await house.token()
    async with (
        house.client(issued.secret) as http,
        Client(streamable_http_client(f"{house.address}/api/mcp", http_client=http), mode=mode) as client,
    ):
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "brain://page/{+path}"
        assert (await client.list_resources()).resources == []
        found = await client.call_tool("search", {"query": "ceiling"})
        link = found.content[1]
        assert isinstance(link, ResourceLink)
        (read,) = (await client.read_resource(str(link.uri))).contents
        (rest,) = (await client.read_resource(f"{URI}?offset=50000")).contents
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("brain://other/topics/ceiling.md")
    assert isinstance(read, TextResourceContents)
    assert isinstance(rest, TextResourceContents)
    assert (read.uri, read.mime_type) == (URI, "text/markdown")
    assert read.text.startswith(f"[{NODE}] Discount ceiling")
    assert "canon_verified" in read.text
    assert len(rest.text) < 12_000
    asked = msgspec.json.decode(house.neighbour.asked[1], type=retrieval_messages.ReadPage)
    assert (asked.asker.principal, asked.asker.token, asked.path) == (house.alice, issued.token, "topics/ceiling.md")


@pytest.mark.parametrize("revision", [MODERN, LEGACY[0]])
async def test_a_hidden_page_a_missing_one_and_no_page_at_all_are_the_same_bytes(house: House, revision: str) -> None:
    await house.neighbour.answers(retrieval_messages.READ_PAGE, MISSING)
    secret = (await house.token()).secret
    answers = set()
    for uri in (
        "brain://page/a.md",
        f"brain://page/{NODE}",
        "brain://nothing",
        "https://example.com/",
        "brain://page/%ff",
    ):
        body, headers = written("resources/read", {"uri": uri}, revision, {})
        async with house.client(secret, **{"x-request-id": "same-request"}) as http:
            answer = await http.post("/api/mcp", content=body, headers=headers)
        answers.add((answer.status_code, answer.content.replace(uri.encode(), b"URI")))
    ((status, told),) = answers
    assert status == (400 if revision == MODERN else 200)
    assert msgspec.json.decode(told)["error"]["code"] == (-32602 if revision == MODERN else -32002)


async def test_a_page_that_cannot_be_read_now_is_503(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.READ_PAGE, Unavailable("the index is behind", 2))
    body, headers = written("resources/read", {"uri": URI}, MODERN, {})
    async with house.client((await house.token()).secret) as http:
        answer = await http.post("/api/mcp", content=body, headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


async def test_nothing_that_was_read_may_be_kept(house: House) -> None:
    await answering(house)
    read = await post(house, (await house.token()).secret, "resources/read", {"uri": URI}, MODERN)
    assert (read["result"]["ttlMs"], read["result"]["cacheScope"]) == (0, "private")
