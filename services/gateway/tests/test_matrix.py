"""Who gets what answer: every tool, resource, route and endpoint by every credential that there is, written out.

A tool or route without a line here fails.
"""

import gc
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import asyncpg
import httpx2
import msgspec
import pytest
import pytest_asyncio
from litestar import Litestar
from nats.aio.client import Client

from contracts import approvals_messages, ingest_messages, retrieval_messages
from contracts import gateway_messages as messages
from contracts.enums import Permission, PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused
from contracts.ids import PrincipalId, ProposalId
from contracts.replies import Accepted
from gateway import one_time
from gateway.mcp import words
from gateway.mcp.protocol import JSON, LEGACY, MODERN
from gateway.mcp.tools import Tools
from gateway.seen import Seen
from gateway_world import House, command
from mcp_wire import a_viewer, written
from oauth_world import Application, application, browser
from pages_world import FOUND, HITS, PATH, VIEW

pytestmark = pytest.mark.service

KINDS = "person person+ client client+ agent agent+ oauth oauth+"
"""Living tokens of members: for himself, a client or an agent, or behind the access token of an application.

`+`: with brain:propose.
"""
TOOLS = {
    "find_page": "ok ok ok ok unknown unknown ok ok",
    "read_page": "ok ok ok ok unknown unknown ok ok",
    "search": "ok ok ok ok unknown unknown ok ok",
    "write_inbox": "denied ok denied ok unknown unknown insufficient_scope ok",
    "query": "unknown unknown unknown unknown ok ok unknown unknown",
    "get_entry": "unknown unknown unknown unknown ok ok unknown unknown",
    "list_conflicts": "unknown unknown unknown unknown ok ok unknown unknown",
    "propose_update": "unknown unknown unknown unknown denied ok unknown unknown",
    "no_such_tool": "unknown " * 8,
}
"""What a call of each tool comes to, by kind."""
ARGUMENTS: dict[str, dict[str, JSON]] = {
    "find_page": {"query": "ceiling"},
    "read_page": {"path": PATH},
    "search": {"query": "ceiling"},
    "write_inbox": {"kind": "observation", "title": "abc", "body": "x" * 10},
    "query": {"question": "ceiling"},
    "get_entry": {"entry": PATH},
    "list_conflicts": {},
    "propose_update": {"entry": PATH, "title": "abc", "body": "x" * 10},
    "no_such_tool": {},
}
METHODS: dict[tuple[str, str], tuple[dict[str, JSON], str]] = {
    ("tools/list", "both"): ({}, "ok ok ok ok ok ok ok ok"),
    ("resources/list", "both"): ({}, "ok ok ok ok no_method no_method ok ok"),
    ("resources/templates/list", "both"): ({}, "ok ok ok ok no_method no_method ok ok"),
    ("resources/read", "both"): ({"uri": f"brain://page/{PATH}"}, "ok ok ok ok no_method no_method ok ok"),
    ("server/discover", MODERN): ({}, "ok ok ok ok ok ok ok ok"),
    ("initialize", LEGACY[0]): ({"protocolVersion": LEGACY[0]}, "ok ok ok ok ok ok ok ok"),
    ("ping", LEGACY[0]): ({}, "ok ok ok ok ok ok ok ok"),
    ("prompts/list", "both"): ({}, "no_method " * 8),
    ("nothing/there", "both"): ({}, "no_method " * 8),
}

ROLES = "member manager admin owner"
NOWHERE = "00000000-0000-4000-8000-000000000000"
_OPTIONS = {"source": "notes", "owner": "alice"}
_IMPORT: dict[str, object] = {"import_id": NOWHERE, "options": _OPTIONS}
ROUTES: dict[str, tuple[str, dict[str, object], str]] = {
    "/api/v1/whoami": ("GET", {}, "200 200 200 200"),
    "/api/v1/members": ("GET", {}, "200 200 200 200"),
    "/api/v1/members/add": ("POST", {"name": "new-ROLE"}, "403 403 200 200"),
    "/api/v1/members/remove": ("POST", {"name": "nobody"}, "403 403 404 404"),
    "/api/v1/members/role": ("POST", {"name": "nobody", "role": "member", "tier": "employee"}, "403 403 404 404"),
    "/api/v1/groups": ("GET", {}, "403 403 200 200"),
    "/api/v1/groups/set": ("POST", {"name": "team-ROLE", "members": []}, "403 403 200 200"),
    "/api/v1/grants": ("GET", {"subject": "alice"}, "403 403 200 200"),
    "/api/v1/grants/add": ("POST", {"subject": "nobody", "permission": "read", "scope": "**"}, "403 403 404 404"),
    "/api/v1/grants/revoke": ("POST", {"subject": "nobody", "permission": "read", "scope": "**"}, "403 403 404 404"),
    "/api/v1/tokens": ("GET", {}, "200 200 200 200"),
    "/api/v1/tokens/issue": ("POST", {"tier": "employee"}, "200 200 200 200"),
    "/api/v1/tokens/revoke": ("POST", {"token": NOWHERE}, "404 404 404 404"),
    "/api/v1/why": ("GET", {"person": "nobody", "path": "a.md"}, "403 403 404 404"),
    "/api/v1/proposals": ("GET", {}, "200 200 200 200"),
    "/api/v1/proposal": ("GET", {"proposal": NOWHERE}, "404 404 404 404"),
    "/api/v1/proposals/approve": ("POST", {"proposal": NOWHERE, "digest": "0" * 64}, "404 404 404 404"),
    "/api/v1/proposals/reject": ("POST", {"proposal": NOWHERE, "reason": "wrong"}, "404 404 404 404"),
    "/api/v1/proposals/withdraw": ("POST", {"proposal": NOWHERE}, "404 404 404 404"),
    "/api/v1/import/part": ("POST", {**_IMPORT, "part": 1, "files": []}, "403 403 403 403"),
    "/api/v1/import/finish": ("POST", _IMPORT, "403 403 403 403"),
    "/api/v1/limits": ("GET", {}, "403 403 200 200"),
    "/api/v1/limits/set": ("POST", {"name": "ask"}, "403 403 200 200"),
    "/api/v1/costs": ("GET", {}, "403 403 200 200"),
    "/api/v1/audit": ("GET", {}, "403 403 200 200"),
    "/api/v1/audit/verify": ("GET", {}, "403 403 200 200"),
    "/api/v1/trace": ("GET", {"request": "never-was-one"}, "404 404 404 404"),
}
"""Method and request of each console route, and what its answer is by role; imports are refused by the neighbour."""

REST: dict[str, tuple[str, dict[str, JSON], str]] = {
    "/tools/query": ("POST", ARGUMENTS["query"], "403 403 403 403 200 200 401 401"),
    "/tools/entries/{entry:path}": ("GET", {}, "403 403 403 403 200 200 401 401"),
    "/tools/conflicts": ("GET", {}, "403 403 403 403 200 200 401 401"),
    "/tools/proposals": ("POST", ARGUMENTS["propose_update"], "403 403 403 403 403 200 401 401"),
}
"""Method and request of each route of agents, and what its answer is by kind."""

OPEN: dict[str, tuple[str, int]] = {
    "/tools/openapi.json": ("GET", 200),
    "/authorize": ("GET", 400),
    "/consent": ("GET", 400),
    "/register": ("POST", 400),
    "/token": ("POST", 400),
    "/revoke": ("POST", 400),
    "/signin": ("GET", 400),
    "/signout": ("POST", 303),
    "/.well-known/oauth-protected-resource": ("GET", 200),
    "/.well-known/oauth-protected-resource/api/mcp": ("GET", 200),
    "/.well-known/oauth-authorization-server": ("GET", 200),
    "/oauth/gateway.css": ("GET", 200),
    "/oauth/mark.svg": ("GET", 200),
}
"""What no bearer opens or closes: asked for without more, the answer is the same to everybody."""


@dataclass(slots=True)
class Crowd:
    """Secrets by who holds them. `told` alike: dead ones of one shape, which nothing may tell apart."""

    house: House
    living: dict[str, str] = field(default_factory=dict)
    signed: dict[str, str] = field(default_factory=dict)
    dead: dict[str, str] = field(default_factory=dict)
    dead_access: dict[str, str] = field(default_factory=dict)

    def everybody(self) -> dict[str, str]:
        return {**self.living, **self.signed, **self.dead, **self.dead_access}


@pytest_asyncio.fixture(scope="module", loop_scope="session", name="crowd")
async def everybody_there_is(shared: House) -> AsyncIterator[Crowd]:
    crowd = Crowd(shared)
    mia = await shared.join("mia")
    await shared.grant("mia", Permission.READ, "topics/**")
    await _tokens(crowd, mia)
    for role in (Role.MANAGER, Role.ADMIN):
        await shared.join(role.value, role)
    names = {"member": "mia", "manager": "manager", "admin": "admin", "owner": "alice"}
    crowd.signed = {role: await shared.sign_in(name) for role, name in names.items()}
    async with application(shared) as app, browser(shared, "mia") as person:
        crowd.living["oauth"] = (await app.connected(person))["access_token"]
        wide = await app.connected(person, scope="brain:read brain:propose")
        crowd.living["oauth+"] = wide["access_token"]
        await _dead(crowd, mia, app, wide)
    yield crowd


async def _tokens(crowd: Crowd, mia: PrincipalId) -> None:
    house = crowd.house
    stranger = await house.join("stranger")
    robot = await _service(house, "robot")
    crowd.living |= {
        "person": (await house.token(mia)).secret,
        "person+": (await house.token(mia, Scope.PROPOSE)).secret,
        "person of a stranger": (await house.token(stranger)).secret,
        "client": (await house.token(mia, kind=TokenKind.CLIENT)).secret,
        "client+": (await house.token(mia, Scope.PROPOSE, kind=TokenKind.CLIENT)).secret,
        "client of a service": robot,
        "agent": (await house.token(mia, kind=TokenKind.AGENT)).secret,
        "agent+": (await house.token(mia, Scope.PROPOSE, kind=TokenKind.AGENT)).secret,
    }


async def _service(house: House, name: str) -> str:
    added = messages.AddMember(
        command=command(),
        by=house.alice,
        name=name,
        role=Role.MEMBER,
        tier=Tier.EMPLOYEE,
        kind=PrincipalKind.SERVICE,
    )
    await house.ask(messages.ADD_MEMBER, added, messages.MemberAdded)
    asked = messages.IssueToken(
        command=command(), by=house.alice, kind=TokenKind.CLIENT, tier=Tier.EMPLOYEE, scopes=(), service=name
    )
    return (await house.ask(messages.ISSUE_TOKEN, asked, messages.Issued)).secret


async def _dead(crowd: Crowd, mia: PrincipalId, app: Application, pair: dict[str, Any]) -> None:
    """Every way for a credential to be none."""
    house = crowd.house
    gone = await house.join("gone")
    left = (await house.token(gone)).secret
    signed = await house.sign_in("gone")
    async with browser(house, "gone") as person:
        connected = (await app.connected(person))["access_token"]
    async with browser(house, "mia") as person:
        late, elsewhere, ended = [await app.connected(person) for _ in range(3)]
        code = await app.code(person)
    await house.ask(
        messages.REMOVE_MEMBER, messages.RemoveMember(command=command(), by=house.alice, name="gone"), Accepted
    )
    await app.http.post(
        "/revoke", data={"client_id": app.id, "client_secret": app.secret, "token": ended["access_token"]}
    )
    expired, revoked, other = [await house.token(mia) for _ in range(3)]
    mine = messages.RevokeToken(command=command(), by=mia, token=revoked.token)
    await house.ask(messages.REVOKE_TOKEN, mine, Accepted)
    foreign = one_time.new_token()
    db = await asyncpg.connect(house.database.dsn("postgres"))
    try:
        await db.execute("update gateway.tokens set expires_at = now() - interval '1 s' where id = $1", expired.token)
        await _in_another_brain(db, mia, other.token, one_time.digest(foreign))
        for change, access in (("expires_at = now()", late), ("audience = audience || '/build'", elsewhere)):
            digest = one_time.digest(access["access_token"])
            await db.execute(f"update gateway.oauth_access set {change} where digest = $1", digest)
    finally:
        await db.close()
    crowd.dead = {
        "malformed": "brain_",
        "of another product": "sk-" + "a" * 40,
        "too long": "brain_" + "a" * 4000,
        "never issued": one_time.new_token(),
        "of a member who left": left,
        "sign-in of a member who left": signed,
        "expired": expired.secret,
        "revoked": revoked.secret,
        "of another brain": foreign,
        "a refresh token": pair["refresh_token"],
        "a code": code,
        "a one-time link": await house.sign_in("mia", link=True),
    }
    crowd.dead_access = {
        "access never given": one_time.new_access(),
        "access of a member who left": connected,
        "access that expired": late["access_token"],
        "access for another endpoint": elsewhere["access_token"],
        "access that was given back": ended["access_token"],
    }


async def _in_another_brain(
    db: "asyncpg.Connection[asyncpg.Record]", who: PrincipalId, token: object, digest: str
) -> None:
    brain = str(uuid4())
    copied = "insert into gateway.{0} select (jsonb_populate_record(t, $2)).* from gateway.{0} t where id = $1"
    await db.execute(copied.format("members"), who, msgspec.json.encode({"brain": brain}).decode())
    await db.execute(copied.format("tokens"), token, msgspec.json.encode({"brain": brain, "digest": digest}).decode())


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def neighbours(house: House) -> None:
    proposals = approvals_messages
    missing = Refused("no_such_proposal", "There is no such proposal.")
    await house.neighbour.answers(retrieval_messages.SEARCH, HITS)
    await house.neighbour.answers(retrieval_messages.READ_PAGE, VIEW)
    await house.neighbour.answers(retrieval_messages.FIND_PAGE, FOUND)
    nothing_open = retrieval_messages.AllContested(contested=(), more=False, empty="no_match", position=9)
    await house.neighbour.answers(retrieval_messages.CONTESTED, nothing_open)
    filed = proposals.Submitted(proposal=ProposalId(uuid4()), position=5, archived=True)
    await house.neighbour.answers(proposals.SUBMIT_TEXT, filed)
    await house.neighbour.answers(proposals.PROPOSALS, proposals.ProposalLines(proposals=(), next="", position=1))
    for subject in (proposals.PROPOSAL, proposals.DECIDE, proposals.WITHDRAW):
        await house.neighbour.answers(subject, missing)
    for subject in (ingest_messages.IMPORT_FILES, ingest_messages.FINISH_IMPORT):
        await house.neighbour.answers(subject, Refused("forbidden", "You may not."))


async def message(
    house: House, secret: str, method: str, params: dict[str, JSON], revision: str = LEGACY[0]
) -> httpx2.Response:
    body, headers = written(method, params, revision, {})
    async with house.client(secret) as http:
        return await http.post("/api/mcp", content=body, headers=headers)


def outcome(answer: httpx2.Response) -> str:
    """The kind of answer, in a word of the tables."""
    if answer.status_code in {401, 403}:
        challenge = answer.headers["www-authenticate"]
        found = re.search(r'error="(\w+)"', challenge)
        return found[1] if found else "no_token"
    read = answer.json()
    if "error" in read:
        code, told = read["error"]["code"], read["error"]["message"]
        unknown = {-32601: "no_method", -32602: "unknown" if told.startswith("Unknown tool: ") else told}
        return unknown.get(code, str(code))
    text = str(read["result"].get("content", ""))
    return "denied" if words.FORBIDDEN_PROPOSE in text else "failed" if read["result"].get("isError") else "ok"


def by_kind(crowd: Crowd, line: str) -> dict[str, str]:
    """What is expected of every living token; strangers and services get what their kind gets."""
    expected = dict(zip(KINDS.split(), line.split(), strict=True))
    return {name: expected[name.split()[0]] for name in crowd.living}


@pytest.mark.parametrize("revision", [LEGACY[0], MODERN])
@pytest.mark.parametrize("tool", TOOLS)
async def test_every_tool_answers_every_living_token_as_the_table_says(crowd: Crowd, tool: str, revision: str) -> None:
    params: dict[str, JSON] = {"name": tool, "arguments": ARGUMENTS[tool]}
    answers = {
        name: outcome(await message(crowd.house, secret, "tools/call", params, revision))
        for name, secret in crowd.living.items()
    }
    assert answers == by_kind(crowd, TOOLS[tool])


@pytest.mark.parametrize("revision", [LEGACY[0], MODERN])
@pytest.mark.parametrize("method", METHODS, ids="-".join)
async def test_every_method_answers_every_living_token_as_the_table_says(
    crowd: Crowd, method: tuple[str, str], revision: str
) -> None:
    params, line = METHODS[method]
    name, spoken = method
    answers = {
        who: outcome(await message(crowd.house, secret, name, params, revision)) for who, secret in crowd.living.items()
    }
    assert answers == (by_kind(crowd, line if spoken in {"both", revision} else "no_method " * 8))


async def test_every_token_is_listed_the_tools_that_it_may_know_of_and_no_others(crowd: Crowd) -> None:
    for name, secret in crowd.living.items():
        listed = (await message(crowd.house, secret, "tools/list", {})).json()["result"]["tools"]
        known = [tool for tool, line in TOOLS.items() if by_kind(crowd, line)[name] != "unknown"]
        assert [tool["name"] for tool in listed] == known


async def test_no_tool_is_without_a_line(crowd: Crowd) -> None:
    catalogue = Tools(Client(), Seen(), uuid4).catalogue()
    there = {str(tool["name"]) for kind in TokenKind for tool in catalogue.visible(a_viewer(kind=kind))}
    assert there == set(TOOLS) - {"no_such_tool"}
    assert {name.split()[0].removesuffix("+") for name in crowd.living} == {
        "oauth",
        *(kind.value for kind in TokenKind if kind is not TokenKind.SIGNIN),
    }


@pytest.mark.parametrize("revision", [LEGACY[0], MODERN])
async def test_no_message_of_a_dead_credential_or_a_sign_in_is_answered(crowd: Crowd, revision: str) -> None:
    asked = [(method, params) for (method, _), (params, _) in METHODS.items()]
    asked += [("tools/call", {"name": tool, "arguments": given}) for tool, given in ARGUMENTS.items()]
    dead = {**crowd.dead, **crowd.dead_access, **crowd.signed}
    for method, params in asked:
        for name, secret in dead.items():
            answer = await message(crowd.house, secret, method, params, revision)
            assert (answer.status_code, outcome(answer)) == (401, "invalid_token"), (method, name)
        bare = await message(crowd.house, "", method, params, revision)
        assert (bare.status_code, outcome(bare)) == (401, "no_token")
    assert crowd.house.neighbour.asked == []


async def test_nothing_tells_one_dead_credential_from_another(crowd: Crowd) -> None:
    for alike in ({**crowd.dead, **crowd.signed}, crowd.dead_access):
        answers = [same(await message(crowd.house, secret, "tools/list", {})) for secret in alike.values()]
        assert answers == answers[:1] * len(alike)
    alike = {**crowd.dead, **crowd.dead_access, **crowd.living}
    async with crowd.house.client() as http:
        console = [
            same(await http.get("/api/v1/whoami", headers={"authorization": f"Bearer {secret}"}))
            for secret in alike.values()
        ]
    assert console == console[:1] * len(alike)


@pytest.mark.parametrize("header", ["Basic {0}", "{0}", "Bearer", "Token {0}", "Bearer {0} {0}"])
async def test_a_living_token_in_another_dress_is_none(crowd: Crowd, header: str) -> None:
    dressed = {"authorization": header.format(crowd.living["person"])}
    async with crowd.house.client() as http:
        answer = await http.post("/api/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=dressed)
    assert (answer.status_code, outcome(answer)) == (401, "invalid_token")


@pytest.mark.parametrize("path", ROUTES)
async def test_every_console_route_answers_every_credential_as_the_table_says(crowd: Crowd, path: str) -> None:
    if path not in paths():
        pytest.skip("not among the routes of this gateway")
    _, _, line = ROUTES[path]
    expected = dict(zip(ROLES.split(), map(int, line.split()), strict=True))
    for name, secret in {**crowd.everybody(), "nobody": ""}.items():
        answer = await route(crowd.house, path, secret, name)
        assert answer.status_code == expected.get(name, 401), (name, answer.text)


async def route(house: House, path: str, secret: str, name: str = "") -> httpx2.Response:
    method, asked, _ = ROUTES[path]
    content = msgspec.json.encode(asked).decode().replace("ROLE", name)
    given = msgspec.json.decode(content, type=dict[str, Any])
    async with house.client(secret) as http:
        if method == "GET":
            return await http.get(path, params=given)
        return await http.post(path, json=given)


@pytest.mark.parametrize("path", REST)
async def test_the_routes_of_agents_answer_agents_alone(crowd: Crowd, path: str) -> None:
    method, asked, line = REST[path]
    statuses = {name: int(status) for name, status in by_kind(crowd, line).items()}
    statuses |= dict.fromkeys([*crowd.signed, *crowd.dead, *crowd.dead_access], 401)
    told = {}
    for name, secret in {**crowd.everybody(), "nobody": ""}.items():
        async with crowd.house.client(secret) as http:
            at = path.replace("{entry:path}", PATH)
            told[name] = (await http.request(method, at, json=asked if method == "POST" else None)).status_code
    assert told == {**statuses, "nobody": 401}


@pytest.mark.parametrize("path", OPEN)
async def test_no_bearer_opens_or_closes_what_is_open(crowd: Crowd, path: str) -> None:
    method, status = OPEN[path]
    answers = []
    for secret in ("", *crowd.everybody().values()):
        async with crowd.house.client(secret) as http:
            answers.append(same(await http.request(method, path)))
    assert answers[0][0] == status
    assert {answer[0] for answer in answers} == {status}
    assert {answer[1] for answer in answers} == {answers[0][1]}


def paths() -> set[str]:
    """Every path that the gateways of this process serve."""
    served = [{route.path for route in app.routes} for app in gc.get_objects() if isinstance(app, Litestar)]
    return set().union(*(each for each in served if "/api/mcp" in each))


async def test_no_route_is_without_a_line(crowd: Crowd) -> None:
    async with crowd.house.client() as http:
        assert (await http.get("/api/v1/nothing")).status_code == 404
    found = paths()
    assert "/api/mcp" in found
    assert found - {*ROUTES, *REST, *OPEN, "/api/mcp"} == set()


def same(answer: httpx2.Response) -> tuple[int, str, list[tuple[str, str]]]:
    """An answer without what differs by request: its id and the time."""
    own = answer.headers["x-request-id"]
    kept = [(name, value) for name, value in answer.headers.items() if name not in {"x-request-id", "date"}]
    return answer.status_code, answer.text.replace(own, "ID"), kept


async def test_what_is_not_yours_is_told_like_what_is_not_there(crowd: Crowd) -> None:
    house = crowd.house
    theirs = await house.token()
    async with house.client(crowd.signed["owner"], **{"x-request-id": "alices-own-request"}) as http:
        assert (await http.get("/api/v1/whoami")).status_code == 200
    pairs: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
        ("POST", "/api/v1/tokens/revoke", {"token": str(theirs.token)}, {"token": NOWHERE}),
        ("GET", "/api/v1/grants", {"subject": "alice"}, {"subject": "nobody"}),
        ("GET", "/api/v1/why", {"person": "alice", "path": "a.md"}, {"person": "nobody", "path": "a.md"}),
        ("POST", "/api/v1/members/remove", {"name": "stranger"}, {"name": "nobody"}),
        ("GET", "/api/v1/trace", {"request": "alices-own-request"}, {"request": "never-was-request"}),
    ]
    async with house.client(crowd.signed["member"]) as http:
        for method, path, there, missing in pairs:
            if path not in paths():
                continue
            answers = [
                same(await (http.get(path, params=given) if method == "GET" else http.post(path, json=given)))
                for given in (there, missing)
            ]
            assert answers[0] == answers[1], path
            assert answers[0][0] in {403, 404}


async def test_another_applications_secrets_are_told_like_none(crowd: Crowd) -> None:
    house = crowd.house
    async with application(house) as theirs, application(house) as other, browser(house, "mia") as person:
        pair, code = await theirs.connected(person), await theirs.code(person)
        exchanged = [same(await other.exchange(given)) for given in (code, one_time.new_code())]
        refreshed = [same(await other.refresh(given)) for given in (pair["refresh_token"], one_time.new_code())]
        async with house.client() as http:
            given_back = [
                same(
                    await http.post(
                        "/revoke", data={"client_id": other.id, "client_secret": other.secret, "token": one}
                    )
                )
                for one in (pair["access_token"], one_time.new_access())
            ]
    for answers in (exchanged, refreshed, given_back):
        assert answers[0] == answers[1]
    assert (await message(house, pair["access_token"], "ping", {})).status_code == 200
