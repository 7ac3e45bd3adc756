"""Agents over REST and MCP: one operation by either door, the errors as they are published, and no other key."""

from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import pages_world
from contracts import approvals_messages, gateway_audit, retrieval_messages
from contracts.enums import Scope, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.ids import ProposalId
from gateway.rest import shapes
from gateway.rest.doors import Unfit, fitting
from gateway_world import House
from pages_world import NODE, VIEW

pytestmark = pytest.mark.service

HIT = pages_world.HITS.hits[0]
OLD = msgspec.structs.replace(HIT, text="Once 10 %.", trust="canon_stale")
HITS = retrieval_messages.Hits(hits=(HIT, OLD), trust="canon_stale", empty="", degraded=("vectors",), position=9)
NOTHING = retrieval_messages.Hits(hits=(), trust="no_coverage", empty="no_match", degraded=(), position=9)
OPEN = retrieval_messages.AllContested(
    contested=(
        retrieval_messages.Contested(
            path="topics/ceiling.md", id=NODE, title="Discount ceiling", reason="page_unresolved"
        ),
    ),
    more=False,
    empty="",
    position=9,
)
FILED = approvals_messages.Submitted(proposal=ProposalId(UUID(int=9)), position=12, archived=True)
UPDATE = {"entry": NODE, "title": "The ceiling", "body": "It is 10 %, not 12 %."}
CALLS: list[tuple[str, str, dict[str, Any] | None, str, dict[str, Any]]] = [
    ("POST", "/tools/query", {"question": "What is the ceiling?"}, "query", {"question": "What is the ceiling?"}),
    ("GET", "/tools/entries/topics/ceiling.md", None, "get_entry", {"entry": "topics/ceiling.md"}),
    ("GET", "/tools/conflicts?limit=5", None, "list_conflicts", {"limit": 5}),
    ("POST", "/tools/proposals", UPDATE, "propose_update", UPDATE),
]


async def everything_answers(house: House) -> None:
    for subject, reply in (
        (retrieval_messages.SEARCH, HITS),
        (retrieval_messages.READ_PAGE, VIEW),
        (retrieval_messages.CONTESTED, OPEN),
        (approvals_messages.SUBMIT_TEXT, FILED),
    ):
        await house.neighbour.answers(subject, reply)


async def key(house: House, *scopes: Scope) -> str:
    return (await house.token(None, *scopes, kind=TokenKind.AGENT)).secret


async def mcp(http: httpx2.AsyncClient, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    answer = await http.post("/api/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    result: dict[str, Any] = answer.json()["result"]
    return result


async def test_each_operation_gives_the_same_by_either_door_and_leaves_the_same_name(house: House) -> None:
    await everything_answers(house)
    async with house.client(await key(house, Scope.PROPOSE)) as http:
        for method, path, body, tool, arguments in CALLS:
            answer = await http.request(
                method, path, json=body, headers={"x-request-id": f"rest-{tool}".replace("_", "-")}
            )
            assert answer.status_code == 200, answer.text
            told = await mcp(http, tool, arguments)
            assert not told["isError"]
            assert told["structuredContent"] == answer.json()
            assert told["content"][0]["text"]
    async with house.client(await house.sign_in()) as http:
        rows = (await http.get(gateway_audit.AUDIT)).text.splitlines()
    left = {(row["door"], row["operation"]) for row in map(msgspec.json.decode, rows) if row["kind"] == "agent"}
    assert {(door, tool) for door in ("rest", "mcp") for *_, tool, _ in CALLS} <= left


async def test_an_answer_is_cited_passage_by_passage_and_says_what_did_not_serve(house: House) -> None:
    await everything_answers(house)
    async with house.client(await key(house)) as http:
        asked = {"question": "What is the ceiling?", "include_stream": True, "max_citations": 2}
        answer = (await http.post("/tools/query", json=asked)).json()
    assert answer["answer"] == "Up to 12 %. [1]\n\nOnce 10 %. [2]"
    assert answer["citations"][0] == {
        "number": 1,
        "id": NODE,
        "path": "topics/ceiling.md",
        "title": "Discount ceiling",
        "heading": ["Discount ceiling"],
        "trust": "canon_verified",
        "revision": 2,
        "digest": "a" * 64,
        "approver": "alice",
        "approved_at": "2026-09-02T12:00:00Z",
        "verified": "2026-09-02T12:00:00Z",
        "position": 9,
    }
    assert (answer["trust"], answer["degraded"]) == ("canon_stale", ["vectors", "stream"])
    assert answer["freshness"] == {"oldest_verified": "2026-09-02T12:00:00Z", "stale": 1}
    assert [each["reason"] for each in answer["conflicts"]] == ["page_unresolved"]


async def test_nothing_found_is_an_answer_that_says_why(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, NOTHING)
    async with house.client(await key(house)) as http:
        answer = await http.post("/tools/query", json={"question": "What is the ceiling?"})
    told = answer.json()
    assert answer.status_code == 200
    assert (told["answer"], told["trust"], told["empty"]) == (
        "No governed knowledge on this.",
        "no_coverage",
        "no_match",
    )
    assert told["citations"] == told["conflicts"] == []


async def test_while_anything_can_be_served_it_is_and_only_then_503(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.SEARCH, HITS)
    await house.neighbour.answers(retrieval_messages.CONTESTED, Unavailable("busy"))
    async with house.client(await key(house)) as http:
        served = await http.post("/tools/query", json={"question": "What is the ceiling?"})
        await house.neighbour.falls_silent()
        await house.neighbour.answers(retrieval_messages.SEARCH, Unavailable("busy", 3))
        gone = await http.post("/tools/query", json={"question": "What is the ceiling?"})
    assert (served.status_code, served.json()["degraded"]) == (200, ["vectors", "conflicts"])
    assert (gone.status_code, gone.headers["retry-after"]) == (503, "3")


async def test_only_a_living_key_of_an_agent_opens_the_door(house: House) -> None:
    await everything_answers(house)
    dead = await house.token(kind=TokenKind.AGENT)
    await house.revoke_token(dead)
    secrets = {"": 401, "brain_" + "x" * 43: 401, dead.secret: 401, await house.sign_in(): 401}
    secrets[(await house.token()).secret] = secrets[(await house.token(kind=TokenKind.CLIENT)).secret] = 403
    for secret, status in secrets.items():
        async with house.client(secret) as http:
            for method, path, body, _, _ in CALLS:
                assert (await http.request(method, path, json=body)).status_code == status
    assert house.neighbour.asked == []


async def test_what_is_hidden_and_what_there_is_not_is_the_same_404_and_proposes_nothing(house: House) -> None:
    await house.neighbour.answers(retrieval_messages.READ_PAGE, Refused("no_such_page", "None.", "path", "Find it."))
    await house.neighbour.answers(approvals_messages.SUBMIT_TEXT, FILED)
    async with house.client(await key(house, Scope.PROPOSE)) as http:
        read = await http.get("/tools/entries/" + quote("hr/pay.md", safe=""))
        proposed = await http.post("/tools/proposals", json=UPDATE)
    assert read.status_code == proposed.status_code == 404
    errors = [answer.json()["error"] for answer in (read, proposed)]
    assert {(each["code"], each["where"]) for each in errors} == {("no_such_page", "entry")}
    assert len(house.neighbour.asked) == 2


async def test_a_missing_scope_and_a_domain_beyond_the_key_are_403_whatever_there_is(house: House) -> None:
    await everything_answers(house)
    async with house.client(await house.sign_in()) as http:
        wanted = {"tier": "employee", "kind": "agent", "domains": ["pricing"]}
        bound = (await http.post("/api/v1/tokens/issue", json=wanted)).json()["secret"]
    async with house.client(bound) as http:
        proposed = await http.post("/tools/proposals", json=UPDATE)
        beyond = await http.post("/tools/query", json={"question": "Pay?", "domains": ["pricing", "hr"]})
        assert house.neighbour.asked == []
        within = await http.post("/tools/query", json={"question": "Pay?", "domains": ["pricing"]})
    assert (proposed.status_code, beyond.status_code, within.status_code) == (403, 403, 200)
    assert proposed.json()["error"]["what"].endswith("The proposal was NOT registered.")
    assert "hr" not in beyond.json()["error"]["what"].split()


async def test_every_field_that_does_not_fit_is_named_and_none_is_repeated(house: House) -> None:
    async with house.client(await key(house)) as http:
        wrong = {"question": "?", "max_citations": 99, "domains": [""], "canary-field": 1}
        answer = await http.post("/tools/query", json=wrong)
        for body in (b"", b"[]", b"{", b"\xff", b"[" * 100_000):
            assert (await http.post("/tools/query", content=body)).status_code == 422
        twice = await http.get("/tools/conflicts?limit=5&limit=6")
    error = answer.json()["error"]
    assert answer.status_code == twice.status_code == 422
    assert {each["field"] for each in error["fields"]} == {"body", "question", "max_citations", "domains"}
    assert "canary" not in answer.text


async def test_too_many_calls_are_429_with_the_wait(own_house: House) -> None:
    await everything_answers(own_house)
    async with own_house.client(await own_house.sign_in()) as http:
        assert (await http.post("/api/v1/limits/set", json={"name": "search", "per_minute": 1})).status_code == 200
    async with own_house.client(await key(own_house)) as http:
        answers = [await http.post("/tools/query", json={"question": "What?"}) for _ in range(3)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.json()["error"]["code"] == "rate_limited"


async def test_a_correction_waits_for_a_person_and_a_retry_proposes_it_once(house: House) -> None:
    await everything_answers(house)
    chosen = uuid4()
    async with house.client(await key(house, Scope.PROPOSE)) as http:
        told = (await http.post("/tools/proposals", json={**UPDATE, "command": str(chosen)})).json()
    sent = msgspec.json.decode(house.neighbour.asked[-1])
    assert str(chosen) in str(sent)
    assert NODE in str(sent)
    assert told == {
        "proposal": str(FILED.proposal),
        "kind": "correction",
        "status": "pending",
        "entry": NODE,
        "position": 12,
        "archived": True,
    }


async def described(house: House) -> dict[str, Any]:
    async with house.client() as http:
        answer = await http.get("/tools/openapi.json")
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def test_fields_fit_or_are_named_one_by_one() -> None:
    assert fitting({"limit": "7"}, shapes.ListConflicts, strict=False).limit == 7
    with pytest.raises(Unfit) as unfit:
        fitting({"limit": "7", "domains": [3]}, shapes.ListConflicts, strict=True)
    assert [each.field for each in unfit.value.fields] == ["domains", "limit"]


async def test_the_description_is_whole_and_names_each_operation_once(house: House) -> None:
    told = await described(house)
    assert told["openapi"] == "3.1.0"
    found = {each["operationId"]: each for path in told["paths"].values() for each in path.values()}
    assert set(found) == {tool for *_, tool, _ in CALLS}
    whole = msgspec.json.encode(told).decode()
    for each in found.values():
        assert set(each["responses"]) == {"200", "401", "403", "404", "413", "422", "429", "500", "503"}
        for response in each["responses"].values():
            Draft202012Validator.check_schema(response["content"]["application/json"]["schema"])
    for name in {part.split('"')[0] for part in whole.split('"#/components/schemas/')[1:]}:
        assert name in told["components"]["schemas"], name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda some: st.lists(some, max_size=3),
    max_leaves=5,
)
VALUES = {
    "question": st.text(max_size=30),
    "domains": st.lists(st.text(max_size=5), max_size=3),
    "include_stream": st.booleans(),
    "max_citations": st.integers(-2, 30),
    "entry": st.text(alphabet=st.characters(codec="utf-8"), max_size=30),
    "offset": st.integers(-2, 2**40),
    "limit": st.integers(-2, 200),
    "title": st.text(max_size=130),
    "body": st.text(max_size=40),
    "command": st.uuids().map(str),
}


async def drive(house: House, secret: str, told: dict[str, Any], sent: dict[str, dict[str, Any]]) -> None:
    """One request of every operation, made from the description; whatever comes is described there."""
    async with house.client(secret) as http:
        for path, methods in told["paths"].items():
            for method, operation in methods.items():
                values = sent[operation["operationId"]]
                if method == "post":
                    answer = await http.post(path, content=msgspec.json.encode(values))
                else:
                    entry = quote(str(values.pop("entry", "x")) or "x", safe="")
                    answer = await http.get(
                        path.replace("{entry}", entry), params={k: str(v) for k, v in values.items()}
                    )
                response = operation["responses"].get(str(answer.status_code))
                assert response is not None, (path, answer.status_code, answer.text)
                assert answer.status_code != 500, answer.text
                schema = {**response["content"]["application/json"]["schema"], "components": told["components"]}
                Draft202012Validator(schema).validate(answer.json())


def requests(told: dict[str, Any]) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """Values for each operation: of its own fields, some of the right kind and some of any."""
    each = {}
    for methods in told["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                names = list(operation["requestBody"]["content"]["application/json"]["schema"]["properties"])
            else:
                names = [parameter["name"] for parameter in operation["parameters"]]
            each[operation["operationId"]] = st.fixed_dictionaries({}, optional={n: VALUES[n] | JSON for n in names})
    return st.fixed_dictionaries(each)


async def test_whatever_is_sent_the_answer_is_one_that_is_described(house: House) -> None:
    await everything_answers(house)
    told, secret = await described(house), await key(house, Scope.PROPOSE)
    examples: list[dict[str, dict[str, Any]]] = []

    @settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(requests(told))
    def collect(sent: dict[str, dict[str, Any]]) -> None:
        examples.append(sent)

    collect()
    for sent in examples:
        await drive(house, secret, told, sent)
