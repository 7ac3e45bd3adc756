"""The endpoint on a real bus and database: the official client, and requests by hand."""

import itertools
from uuid import uuid4

import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import pages_world
from contracts import approvals_messages, retrieval_messages
from contracts import gateway_messages as messages
from contracts.enums import Scope, Tier, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.ids import ProposalId
from contracts.replies import Accepted
from gateway.mcp import words
from gateway_world import House, command
from pages_world import NODE, VIEW

pytestmark = pytest.mark.service

HITS = msgspec.structs.replace(pages_world.HITS, degraded=("vectors",))
NOTHING = retrieval_messages.Hits(hits=(), trust="no_coverage", empty="no_match", degraded=(), position=9)


def rpc(method: str, call_id: int = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_official_client_lists_searches_and_reads_in_every_mode(house: House, mode: str) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, HITS)
    await house.neighbour.answers(retrieval_messages.READ_PAGE, VIEW)
    await house.neighbour.answers(
        retrieval_messages.FIND_PAGE, retrieval_messages.PageHits(pages=(), empty="nothing_granted", position=9)
    )
    issued = await house.token()
    bearer = {"authorization": f"Bearer {issued.secret}"}
    async with (
        httpx2.AsyncClient(headers=bearer, trust_env=False) as http,
        Client(streamable_http_client(f"{house.address}/api/mcp", http_client=http), mode=mode) as client,
    ):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["find_page", "read_page", "search", "write_inbox"]
        assert [tool.annotations.read_only_hint for tool in tools if tool.annotations] == [True, True, True, False]
        bounds = [tool.input_schema["properties"]["query"]["maxLength"] for tool in (tools[0], tools[2])]
        assert bounds == [2000, 2000]  # what retrieval answers
        found = await client.call_tool("search", {"query": "discount"})
        assert found.structured_content == msgspec.json.decode(msgspec.json.encode(HITS))
        assert f"[{NODE}]" in str(found.content[0])
        read = await client.call_tool("read_page", {"path": "topics/ceiling.md", "offset": 50_000})
        assert read.structured_content is not None
        assert (len(read.structured_content["text"]), read.structured_content["next_offset"]) == (10_000, None)
        nothing = await client.call_tool("find_page", {"query": "discount"})
        assert "nothing_granted" in str(nothing.content[0])
        with pytest.raises(MCPError, match="Unknown tool: nothing"):
            await client.call_tool("nothing", {})
    asked = msgspec.json.decode(house.neighbour.asked[0], type=retrieval_messages.Search)
    assert (asked.asker.principal, asked.asker.token) == (house.alice, issued.token)
    assert asked.position >= issued.position


async def test_what_came_from_the_corpus_stands_only_in_results(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, HITS)
    async with house.client((await house.token()).secret) as http:
        before = (await http.post("/api/mcp", json=rpc("tools/list"))).json()["result"]
        await http.post("/api/mcp", json=rpc("tools/call", name="search", arguments={"query": "ceiling"}))
        after = (await http.post("/api/mcp", json=rpc("tools/list"))).json()["result"]
    assert before == after
    assert len(msgspec.json.encode(before)) < 8 * 1024


async def test_an_unknown_node_and_an_unknown_path_are_told_apart_from_nothing(house: House) -> None:
    await house.neighbour.answers(
        retrieval_messages.READ_PAGE, Refused("no_such_page", "No such page is visible.", "path", "Search for it.")
    )
    async with house.client((await house.token()).secret) as http:
        node = await http.post("/api/mcp", json=rpc("tools/call", name="read_page", arguments={"path": NODE}))
        path = await http.post("/api/mcp", json=rpc("tools/call", name="read_page", arguments={"path": "a.md"}))
    assert node.json()["result"]["content"][0]["text"] == f"No node with id [{NODE}] was found."
    assert path.json()["result"]["content"][0]["text"] == "No such page is visible. Search for it."


async def test_a_proposal_is_registered_with_a_receipt_or_forbidden_in_the_documents_words(house: House) -> None:
    proposal = ProposalId(uuid4())
    await house.neighbour.answers(
        approvals_messages.SUBMIT_TEXT, approvals_messages.Submitted(proposal=proposal, position=5, archived=True)
    )
    arguments = {
        "kind": "correction",
        "title": "The ceiling",
        "body": "It is 10 %, not 12 %.",
        "relatedNodeIds": [NODE],
    }
    call = rpc("tools/call", name="write_inbox", arguments=arguments)
    async with house.client((await house.token(None, Scope.PROPOSE)).secret) as http:
        receipt = (await http.post("/api/mcp", json=call)).json()["result"]
        short = rpc("tools/call", name="write_inbox", arguments={**arguments, "title": "ab"})
        too_short = (await http.post("/api/mcp", json=short)).json()["result"]
    assert receipt["structuredContent"] == {
        "inboxId": str(proposal),
        "kind": "correction",
        "status": "pending",
        "position": 5,
        "archived": True,
    }
    assert too_short["isError"] is True
    async with house.client((await house.token()).secret) as http:
        denied = (await http.post("/api/mcp", json=call)).json()["result"]
    assert denied == {"content": [{"type": "text", "text": words.FORBIDDEN_PROPOSE}], "isError": True}
    (only,) = house.neighbour.asked
    submitted = msgspec.json.decode(only, type=approvals_messages.SubmitText)
    assert (submitted.author, submitted.nodes) == (house.alice, (NODE,))


async def test_a_refused_proposal_says_that_nothing_was_registered(house: House) -> None:
    await house.neighbour.answers(approvals_messages.SUBMIT_TEXT, Refused("credential", "It holds a credential."))
    call = rpc("tools/call", name="write_inbox", arguments={"kind": "observation", "title": "abc", "body": "x" * 10})
    async with house.client((await house.token(None, Scope.PROPOSE)).secret) as http:
        told = (await http.post("/api/mcp", json=call)).json()["result"]
    assert told["isError"] is True
    assert told["content"][0]["text"] == "It holds a credential. The proposal was NOT registered."


async def test_a_silent_neighbour_is_503_with_a_time_to_try_again(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, Unavailable("the index is behind", 2))
    async with house.client((await house.token()).secret) as http:
        answer = await http.post("/api/mcp", json=rpc("tools/call", name="search", arguments={"query": "ceiling"}))
        absent = await http.post("/api/mcp", json=rpc("tools/call", name="find_page", arguments={"query": "ceiling"}))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json()["error"]["code"] == 503
    assert absent.status_code == 503


# who may come in, and how


CREDENTIALS = [None, "Bearer", "Bearer brain_unknown", "Basic abc", "Bearer brain_" + "x" * 5000]


async def test_without_a_living_token_every_method_is_401_in_the_documents_words(house: House) -> None:
    for method, credential in itertools.product(["GET", "POST", "DELETE", "PUT"], CREDENTIALS):
        headers = {} if credential is None else {"authorization": credential}
        async with house.client(**headers) as http:
            answer = await http.request(method, "/api/mcp", headers={"mcp-protocol-version": "2025-11-25"})
        challenge = answer.headers["www-authenticate"]
        assert answer.status_code == 401
        where = f'scope="brain:read", resource_metadata="{house.address}/.well-known/oauth-protected-resource/api/mcp"'
        assert challenge.startswith('Bearer error="invalid_token", ' if credential else "Bearer scope=")
        assert challenge.endswith(where)
        assert answer.json()["error"]["message"] == words.UNAUTHORIZED
        assert answer.headers["mcp-protocol-version"] == "2025-11-25"
        assert answer.json()["error"]["data"]["requestId"] == answer.headers["x-request-id"]


async def test_dead_and_foreign_tokens_are_answered_alike(house: House) -> None:
    bobs = [await house.token(await house.join("carol")), await house.token()]
    await house.revoke_token(bobs[1])
    carol = messages.RemoveMember(command=command(), by=house.alice, name="carol")
    await house.ask(messages.REMOVE_MEMBER, carol, Accepted)
    secrets = [*(issued.secret for issued in bobs), await house.sign_in(), "brain_" + "a" * 43]
    answers = []
    for secret in secrets:
        async with house.client(secret) as http:
            answer = await http.post("/api/mcp", json=rpc("tools/list"), headers={"x-request-id": "same-request"})
            answers.append((answer.status_code, answer.content, answer.headers["www-authenticate"]))
    assert len(set(answers)) == 1
    assert answers[0][0] == 401


async def test_with_a_token_only_post_is_served(house: House) -> None:
    async with house.client((await house.token()).secret) as http:
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD"):
            answer = await http.request(method, "/api/mcp")
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            assert answer.headers["x-request-id"]


async def test_every_answer_echoes_the_revision_and_names_its_request(house: House) -> None:
    async with house.client((await house.token()).secret) as http:
        for version, echoed in (("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-06-18")):
            headers = {"mcp-protocol-version": version, "x-request-id": "given-by-the-caller"}
            answer = await http.post("/api/mcp", json=rpc("ping"), headers=headers)
            assert answer.headers["mcp-protocol-version"] == echoed
            assert answer.headers["x-request-id"] == "given-by-the-caller"
        slashed = await http.post("/api/mcp/", json=rpc("ping"))
        assert (slashed.status_code, slashed.json()["result"]) == (200, {})
        lost = await http.get("/nowhere", headers={"x-request-id": "bad id\tx"})
        assert lost.status_code == 404
        assert lost.headers["x-request-id"] not in {"", "bad id\tx"}


async def test_no_accept_header_is_refused(house: House) -> None:
    async with house.client((await house.token()).secret) as http:
        for accept in ("application/json", "*/*", "text/event-stream", ""):
            answer = await http.post("/api/mcp", json=rpc("ping"), headers={"accept": accept})
            assert answer.status_code == 200


TYPES = [
    ("application/json", 200),
    ("application/json; charset=utf-8", 200),
    ('Application/JSON;Charset="UTF-8"', 200),
    ("application/json; charset=latin-1", 415),
    ("application/json5", 415),
    ("application/xml", 415),
    ("text/plain", 415),
    ("text/plain; application/json", 415),
    ("", 415),
    (None, 415),
]


async def test_a_body_is_read_only_where_its_type_is_json(house: House) -> None:
    ping = msgspec.json.encode(rpc("ping"))
    async with house.client((await house.token()).secret) as http:
        for kind, status in TYPES:
            headers = {} if kind is None else {"content-type": kind}
            answer = await http.post("/api/mcp", content=ping, headers=headers)
            assert answer.status_code == status, kind
            if status == 415:
                assert answer.json()["error"]["message"] == words.NOT_JSON
                assert answer.json()["error"]["data"]["requestId"] == answer.headers["x-request-id"]
        twice = [("content-type", "application/json"), ("content-type", "text/plain")]
        assert (await http.post("/api/mcp", content=ping, headers=twice)).status_code == 415
    async with house.client() as http:
        assert (await http.post("/api/mcp", content=ping, headers={"content-type": "text/plain"})).status_code == 401


async def test_oversized_and_malformed_bodies_are_refused_and_the_service_lives_on(house: House) -> None:
    async with house.client((await house.token()).secret, **{"content-type": "application/json"}) as http:
        large = await http.post("/api/mcp", content=b'{"a":"' + b"x" * (1024 * 1024) + b'"}')
        broken = await http.post("/api/mcp", content=b"{" * 100_000)
        fine = await http.post("/api/mcp", json=rpc("ping"))
    assert [large.status_code, broken.status_code, fine.status_code] == [413, 400, 200]
    assert (large.json()["error"]["code"], broken.json()["error"]["code"]) == (-32600, -32700)


async def test_pages_of_other_sites_and_other_host_names_are_refused(house: House) -> None:
    async with house.client((await house.token()).secret) as http:
        evil = await http.post("/api/mcp", json=rpc("ping"), headers={"origin": "https://evil.example"})
        rebound = await http.post("/api/mcp", json=rpc("ping"), headers={"host": "evil.example"})
        own = await http.post("/api/mcp", json=rpc("ping"), headers={"origin": house.web})
        before = await http.options("/api/mcp", headers={"origin": house.web, "authorization": ""})
    assert [evil.status_code, rebound.status_code, own.status_code, before.status_code] == [403, 403, 200, 204]
    assert evil.headers["x-request-id"]
    assert "access-control-allow-origin" not in evil.headers
    assert own.headers["access-control-allow-origin"] == house.web
    assert "mcp-name" in before.headers["access-control-allow-headers"]


async def test_a_client_token_opens_mcp_and_no_token_but_a_sign_in_opens_the_console(house: House) -> None:
    client = await house.token(kind=TokenKind.CLIENT, tier=Tier.ADMIN)
    async with house.client(client.secret) as http:
        assert (await http.post("/api/mcp", json=rpc("ping"))).status_code == 200
        refused = await http.get("/api/v1/whoami")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "not_signed_in")
