"""Limits and meter over HTTP: what clients of MCP and the console read, and what admins set and see."""

from uuid import uuid4

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from contracts import approvals_messages, retrieval_messages
from contracts import gateway_messages as messages
from contracts.enums import Role, Scope, Tier
from contracts.ids import ProposalId
from gateway.limits.rates import WRITE_REFUSED
from gateway.mcp import words
from gateway_world import House

pytestmark = pytest.mark.service

NOTHING = retrieval_messages.Hits(hits=(), trust="no_coverage", empty="no_match", degraded=(), position=9)


def call(tool: str, **arguments: object) -> dict[str, object]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


WRITE = call("write_inbox", kind="correction", title="The ceiling", body="It is 10 %, not 12 %.")
READ = call("search", query="ceiling")


async def setting(house: House, name: str, per_minute: int | None) -> None:
    async with house.client(await house.sign_in()) as http:
        answer = await http.post("/api/v1/limits/set", json={"name": name, "per_minute": per_minute})
        assert answer.status_code == 200, answer.text


async def until_refused(
    http: httpx2.AsyncClient, body: dict[str, object], admitted: int, **headers: str
) -> httpx2.Response:
    """Call until it is too much; a minute may turn on the way, once."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    for _ in range(2 * admitted + 1):
        answer = await http.post("/api/mcp", json=body, headers=named)
        if answer.status_code == 429:
            return answer
        assert answer.status_code == 200, answer.text
    raise AssertionError("nothing was refused")


async def test_too_many_calls_are_429_with_the_wait_in_header_body_and_words(own_house: House) -> None:
    await own_house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    await setting(own_house, "search", 2)
    async with own_house.client((await own_house.token()).secret) as http:
        refused = await until_refused(http, READ, 2)
        other = await http.post("/api/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": "search", "arguments": {"query": "ceiling"}, "_meta": meta}
        modern = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "search"}
        new = await until_refused(http, {**READ, "params": params}, 2, **modern)
    wait = int(refused.headers["retry-after"])
    error = refused.json()["error"]
    assert 1 <= wait <= 60
    assert refused.json()["id"] == 7
    assert error["code"] == 429
    assert error["data"] == {"retryAfter": wait, "requestId": refused.headers["x-request-id"]}
    assert f"Try again in {wait} s." in error["message"]
    assert refused.headers["mcp-protocol-version"] == "2025-06-18"
    assert other.status_code == 200
    assert (new.status_code, new.json()["error"]["code"]) == (429, 429)


async def test_the_official_client_stays_usable_after_a_refusal(own_house: House) -> None:
    await own_house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    await setting(own_house, "search", 1)
    bearer = {"authorization": f"Bearer {(await own_house.token()).secret}"}
    async with (
        httpx2.AsyncClient(headers=bearer, trust_env=False) as http,
        Client(streamable_http_client(f"{own_house.address}/api/mcp", http_client=http)) as client,
    ):
        told: MCPError | None = None
        for _ in range(3):  # a minute may turn between two of them
            try:
                await client.call_tool("search", {"query": "ceiling"})
            except MCPError as error:
                told = error
        assert told is not None
        assert told.error.code == 429
        assert told.error.data["retryAfter"] >= 1
        assert f"Try again in {told.error.data['retryAfter']} s." in told.error.message
        assert len((await client.list_tools()).tools) == 4


async def test_writes_beyond_the_limit_are_refused_verbatim_and_reach_nobody(own_house: House) -> None:
    filed = approvals_messages.Submitted(proposal=ProposalId(uuid4()), position=5, archived=True)
    await own_house.neighbour.answers(approvals_messages.SUBMIT_TEXT, filed)
    await setting(own_house, "token_writes", 2)
    async with own_house.client((await own_house.token(None, Scope.PROPOSE)).secret) as http:
        refused = await until_refused(http, WRITE, 2)
    registered = len(own_house.neighbour.asked)
    async with own_house.client((await own_house.token(None, Scope.PROPOSE)).secret) as http:
        assert (await http.post("/api/mcp", json=WRITE)).status_code == 200  # another token of the same person
        await setting(own_house, "brain_writes", 1)
        whole = await until_refused(http, WRITE, 2)
    assert 2 <= registered <= 4
    assert refused.json()["error"]["message"] == whole.json()["error"]["message"] == WRITE_REFUSED
    assert int(refused.headers["retry-after"]) == refused.json()["error"]["data"]["retryAfter"]


async def test_the_console_is_told_in_its_own_shape_and_other_people_are_not_slowed_down(own_house: House) -> None:
    await own_house.join("bob")
    bob = await own_house.sign_in("bob")
    await setting(own_house, "console", 3)
    async with own_house.client(bob) as http:
        answers = [await http.get("/api/v1/whoami") for _ in range(7)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    error, wait = refused.json()["error"], refused.headers["retry-after"]
    assert (error["code"], error["where"]) == ("rate_limited", "console")
    assert error["remedy"] == f"Try again in {wait} s."
    assert error["request_id"] == refused.headers["x-request-id"]
    async with own_house.client(await own_house.sign_in()) as http:
        assert (await http.get("/api/v1/whoami")).status_code == 200


async def test_a_flood_of_unknown_tokens_ends_at_the_address_and_health_is_never_limited(own_house: House) -> None:
    await setting(own_house, "address", 10)
    async with own_house.client("brain_" + "x" * 43) as http:
        statuses = [(await http.post("/api/mcp", json=READ)).status_code for _ in range(60)]
    assert set(statuses) == {401, 429}
    assert statuses.count(401) <= 20
    async with httpx2.AsyncClient(trust_env=False) as http:
        port = own_house.environ["HEALTH_PORT"]
        for page in ("livez", "readyz"):
            assert (await http.get(f"http://127.0.0.1:{port}/{page}")).status_code == 200
        metrics = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
    assert 'gateway_throttled_requests_total{limit="address"}' in metrics


async def test_what_a_caller_may_not_call_is_never_billed(own_house: House) -> None:
    await own_house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    async with own_house.client((await own_house.token()).secret) as http:
        for body in (READ, WRITE, call("no_such_tool"), call("search", query=7)):
            assert (await http.post("/api/mcp", json=body)).status_code == 200
        unknown = (await http.post("/api/mcp", json=call("no_such_tool"))).json()["error"]["message"]
        denied = (await http.post("/api/mcp", json=WRITE)).json()["result"]["content"][0]["text"]
    assert (unknown, denied) == ("Unknown tool: no_such_tool", words.FORBIDDEN_PROPOSE)
    async with own_house.client(await own_house.sign_in()) as http:
        (line,) = (await http.get("/api/v1/costs")).json()["costs"]
    assert (line["category"], line["billable"], line["calls"], line["refused"]) == ("tool_call", True, 2, 0)


async def test_only_admins_set_limits_and_see_costs(own_house: House) -> None:
    await own_house.join("carol", Role.ADMIN, Tier.EMPLOYEE)
    await own_house.join("dave")
    run = messages.RecordRun(run=uuid4(), principal=own_house.alice, tokens=900, acted=True)
    for _ in range(2):
        assert (await own_house.ask(messages.RECORD_RUN, run, messages.RunRecorded)).run == run.run
    async with own_house.client(await own_house.sign_in("carol")) as http:
        made = await http.post("/api/v1/limits/set", json={"name": "read", "per_minute": 77})
        lines = {line["name"]: line for line in made.json()["limits"]}
        assert (lines["read"]["per_minute"], lines["read"]["default"]) == (77, 6000)
        assert lines["read"]["changed_by"]
        assert (await http.get("/api/v1/limits")).json() == made.json()
        for wrong in ({"name": "nothing", "per_minute": 7}, {"name": "read", "per_minute": 0}):
            assert (await http.post("/api/v1/limits/set", json=wrong)).status_code == 422
        (cost,) = (await http.get("/api/v1/costs", params={"days": 1})).json()["costs"]
        assert (cost["category"], cost["calls"], cost["tokens"], cost["billable"]) == ("agent_run", 1, 900, True)
        assert (await http.get("/api/v1/costs", params={"days": 0})).status_code == 422
    async with own_house.client(await own_house.sign_in("dave")) as http:
        for path in ("/api/v1/limits", "/api/v1/costs"):
            assert (await http.get(path)).status_code == 403
        assert (await http.post("/api/v1/limits/set", json={"name": "read"})).status_code == 403
