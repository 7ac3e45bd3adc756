"""The protocol without a server: bytes and headers in, status, bytes and headers out."""

import base64
import dataclasses
import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, cast
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.methods import validate_server_result
from nats.aio.client import Client

from access.records import Member, Token
from access.rule import Caller
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.ids import PrincipalId, TokenId
from gateway.credentials import Viewer
from gateway.mcp import words
from gateway.mcp.catalogue import Catalogue, Tool, ToolResult, taking
from gateway.mcp.exchange import exchange
from gateway.mcp.protocol import LEGACY, META_CAPABILITIES, META_VERSION, MODERN, SUPPORTED, Answer, Headers
from gateway.mcp.schema import input_schema
from gateway.mcp.tools import Tools
from gateway.seen import Seen

REQUEST = "req-12345678"
JSONValue = object


class Echo(msgspec.Struct):
    text: Annotated[str, msgspec.Meta(min_length=1)]


async def echo(_viewer: Viewer, asked: Echo) -> ToolResult:
    match asked.text:
        case "refuse":
            raise Refused("no_such_page", "There is no such page.", "path", "Search for it.")
        case "break":
            raise Unavailable("retrieval does not answer", 3)
        case text:
            return ToolResult(text, {"text": text})


def a_tool(name: str, scope: Scope = Scope.READ, kinds: frozenset[TokenKind] = frozenset(TokenKind)) -> Tool:
    return Tool(
        name=name,
        title=name,
        description="For tests.",
        schema=input_schema(Echo),
        run=taking(Echo, echo),
        scope=scope,
        denial=words.FORBIDDEN_PROPOSE,
        kinds=kinds,
    )


CATALOGUE = Catalogue(
    [a_tool("echo"), a_tool("propose", Scope.PROPOSE), a_tool("hidden", kinds=frozenset({TokenKind.CLIENT}))]
)


def a_viewer(*scopes: Scope) -> Viewer:
    principal = PrincipalId(uuid4())
    held = frozenset(scopes or {Scope.READ})
    member = Member(principal, PrincipalKind.PERSON, "alice", Role.OWNER, Tier.ADMIN, active=True)
    token = Token(TokenId(uuid4()), principal, TokenKind.PERSON, Tier.ADMIN, held, "d", None)
    return Viewer(token, member, Caller(principal, frozenset({principal}), Tier.ADMIN, scopes=held), 0)


def of(**headers: str) -> Headers:
    return Headers.of([(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()])


async def post(body: bytes | JSONValue, headers: Headers | None = None) -> Answer:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return await exchange(raw, headers or of(), a_viewer(), CATALOGUE, REQUEST)


def legacy(method: str, params: JSONValue = None, call_id: JSONValue = 1) -> dict[str, JSONValue]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method, **({} if params is None else {"params": params})}


def modern(method: str, version: str = MODERN, **params: JSONValue) -> dict[str, JSONValue]:
    meta = {META_VERSION: version, META_CAPABILITIES: {}}
    return legacy(method, {**params, "_meta": meta})


def modern_headers(method: str, **more: str) -> Headers:
    return of(mcp_protocol_version=MODERN, mcp_method=method, **more)


def result_of(answer: Answer) -> dict[str, JSONValue]:
    read = msgspec.json.decode(answer.body, type=dict[str, JSONValue])
    assert "error" not in read, read
    result = read["result"]
    assert isinstance(result, dict)
    return result


def error_of(answer: Answer) -> dict[str, JSONValue]:
    read = msgspec.json.decode(answer.body, type=dict[str, JSONValue])
    error = read["error"]
    assert isinstance(error, dict)
    assert error["data"]["requestId"] == REQUEST
    return error


# legacy


@pytest.mark.parametrize(
    ("asked", "given_back"),
    [*((version, version) for version in LEGACY), (MODERN, LEGACY[0]), ("2024-11-05", LEGACY[0]), ("x", LEGACY[0])],
)
async def test_initialize_agrees_on_a_legacy_revision(asked: str, given_back: str) -> None:
    answer = await post(legacy("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {}}))
    result = result_of(answer)
    assert result["protocolVersion"] == given_back
    validate_server_result("initialize", given_back, result)


async def test_initialize_negotiates_whatever_the_header_says() -> None:
    answer = await post(legacy("initialize", {"protocolVersion": "2025-06-18"}), of(mcp_protocol_version="1999-01-01"))
    assert result_of(answer)["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("version", LEGACY)
async def test_a_tool_is_called_without_initialize(version: str) -> None:
    body = legacy("tools/call", {"name": "echo", "arguments": {"text": "hei"}})
    answer = await post(body, of(mcp_protocol_version=version))
    result = result_of(answer)
    assert answer.status == 200
    assert result == {
        "content": [{"type": "text", "text": "hei"}],
        "isError": False,
        "structuredContent": {"text": "hei"},
    }
    validate_server_result("tools/call", version, result)


async def test_the_list_shows_what_the_credential_reveals_and_nothing_else() -> None:
    result = result_of(await post(legacy("tools/list")))
    validate_server_result("tools/list", "2025-06-18", result)
    tools = result["tools"]
    assert isinstance(tools, list)
    assert [tool["name"] for tool in tools] == ["echo", "propose"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)


@pytest.mark.parametrize("name", ["absent", "hidden"])
async def test_absent_and_hidden_tools_are_the_same_unknown_tool(name: str) -> None:
    answer = await post(legacy("tools/call", {"name": name}))
    assert answer.status == 200
    error = error_of(answer)
    assert (error["code"], error["message"]) == (-32602, f"Unknown tool: {name}")


async def test_a_missing_scope_is_told_in_the_documents_words_and_registers_nothing() -> None:
    result = result_of(await post(legacy("tools/call", {"name": "propose", "arguments": {"text": "x"}})))
    assert result == {"content": [{"type": "text", "text": words.FORBIDDEN_PROPOSE}], "isError": True}


@pytest.mark.parametrize("arguments", [None, {}, {"text": ""}, {"text": 3}])
async def test_arguments_that_do_not_fit_are_an_error_that_the_model_can_correct(arguments: JSONValue) -> None:
    result = result_of(await post(legacy("tools/call", {"name": "echo", "arguments": arguments})))
    assert result["isError"] is True
    assert "Invalid arguments" in str(result["content"])


async def test_a_refusal_is_a_tool_error_and_no_answer_is_503_with_a_time() -> None:
    refused = result_of(await post(legacy("tools/call", {"name": "echo", "arguments": {"text": "refuse"}})))
    assert refused["content"] == [{"type": "text", "text": "There is no such page. Search for it."}]
    for body, headers in (
        (legacy("tools/call", {"name": "echo", "arguments": {"text": "break"}}), of()),
        (
            modern("tools/call", name="echo", arguments={"text": "break"}),
            modern_headers("tools/call", mcp_name="echo"),
        ),
    ):
        answer = await post(body, headers)
        assert (answer.status, answer.headers) == (503, {"retry-after": "3"})
        assert error_of(answer)["code"] == 503


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/anything", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
async def test_notifications_and_answers_are_taken_without_an_answer(body: JSONValue) -> None:
    assert await post(body) == Answer(202)


async def test_ping_is_empty_and_an_unknown_method_is_said_on_the_legacy_wire_with_200() -> None:
    assert result_of(await post(legacy("ping"))) == {}
    for method in ("server/discover", "resources/list", "logging/setLevel"):
        answer = await post(legacy(method))
        assert (answer.status, error_of(answer)["code"]) == (200, -32601)


@pytest.mark.parametrize("call_id", [0, -5, 2**63 - 1, "", "a" * 500, "ø"])
async def test_an_id_comes_back_exactly(call_id: JSONValue) -> None:
    answer = await post(legacy("ping", call_id=call_id))
    assert msgspec.json.decode(answer.body, type=dict[str, JSONValue])["id"] == call_id


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        (b"", -32700, 400),
        (b"{", -32700, 400),
        (b"\xff\xfe", -32700, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700, 400),
        (b"[" * 100_000, -32700, 400),
        (b"[]", -32600, 400),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, 400),
        (b"null", -32600, 400),
        (b'"ping"', -32600, 400),
        (b"{}", -32600, 400),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":1}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32700, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\udfff"}}', -32700, 400),
        (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', -32600, 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 80 + b"1" + b"}" * 81, -32600, 400),
        (b" " * (1024 * 1024 + 1), -32600, 413),
    ],
)
async def test_what_is_no_message_is_refused_by_its_kind(body: bytes, code: int, status: int) -> None:
    answer = await post(body)
    assert (answer.status, error_of(answer)["code"]) == (status, code)


async def test_a_list_has_one_page() -> None:
    assert error_of(await post(legacy("tools/list", {"cursor": "abc"})))["code"] == -32602


# modern


async def test_discover_tells_revisions_capabilities_and_who_this_is() -> None:
    result = result_of(await post(modern("server/discover"), modern_headers("server/discover")))
    validate_server_result("server/discover", MODERN, result)
    assert result["supportedVersions"] == list(SUPPORTED)


async def test_modern_results_are_complete_and_lists_carry_cache_hints_that_no_one_shares() -> None:
    listed = result_of(await post(modern("tools/list"), modern_headers("tools/list")))
    validate_server_result("tools/list", MODERN, listed)
    assert (listed["cacheScope"], listed["resultType"]) == ("private", "complete")
    body = modern("tools/call", name="echo", arguments={"text": "hei"})
    called = result_of(await post(body, modern_headers("tools/call", mcp_name="echo")))
    validate_server_result("tools/call", MODERN, called)
    assert called["resultType"] == "complete"


@pytest.mark.parametrize("method", ["initialize", "ping", "subscriptions/listen", "nothing"])
async def test_an_unknown_method_is_404_on_the_modern_wire(method: str) -> None:
    answer = await post(modern(method), modern_headers(method))
    assert (answer.status, error_of(answer)["code"]) == (404, -32601)


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (modern("tools/list", "2099-01-01"), of(mcp_protocol_version="2099-01-01"), -32022),
        (modern("tools/list"), of(mcp_method="tools/list"), -32020),
        (modern("tools/list"), of(mcp_protocol_version="2025-11-25"), -32020),
        (modern("tools/list", "2025-11-25"), modern_headers("tools/list"), -32020),
        (modern("tools/list"), of(mcp_protocol_version=MODERN), -32020),
        (modern("tools/list"), modern_headers("tools/call"), -32020),
        (modern("tools/call", name="echo"), modern_headers("tools/call"), -32020),
        (modern("tools/call", name="echo"), modern_headers("tools/call", mcp_name="propose"), -32020),
        (modern("tools/call", name="echo"), modern_headers("tools/call", mcp_name="=?base64?!?="), -32020),
        (modern("tools/call", name="absent"), modern_headers("tools/call", mcp_name="absent"), -32602),
        (legacy("tools/list"), modern_headers("tools/list"), -32602),
        (legacy("tools/list", {"_meta": {META_VERSION: MODERN}}), modern_headers("tools/list"), -32602),
    ],
)
async def test_modern_headers_and_body_agree_or_the_request_is_refused(
    body: JSONValue, headers: Headers, code: int
) -> None:
    answer = await post(body, headers)
    assert (answer.status, error_of(answer)["code"]) == (400, code)


async def test_an_unsupported_version_names_the_supported_ones() -> None:
    answer = await post(legacy("tools/list"), of(mcp_protocol_version="2099-01-01"))
    extra = error_of(answer)["data"]
    assert isinstance(extra, dict)
    assert (extra["supported"], extra["requested"]) == (list(SUPPORTED), "2099-01-01")


async def test_a_header_that_comes_twice_is_refused() -> None:
    twice = Headers.of([(b"MCP-Protocol-Version", MODERN.encode()), (b"mcp-protocol-version", b"2025-06-18")])
    answer = await post(modern("tools/list"), twice)
    assert (answer.status, error_of(answer)["code"]) == (400, -32020)


@pytest.mark.parametrize("name", ["Mcp-Method", "mcp-name"])
async def test_what_intermediaries_route_by_comes_once(name: str) -> None:
    said = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "echo"}
    pairs = [*said.items(), (name, said[name.lower()])]
    headers = Headers.of([(key.encode(), value.encode()) for key, value in pairs])
    answer = await post(modern("tools/call", name="echo", arguments={"text": "hei"}), headers)
    assert (answer.status, error_of(answer)["code"]) == (400, -32020)


async def test_outer_blanks_of_a_header_do_not_count_and_a_name_may_come_in_base64() -> None:
    encoded = "=?base64?" + base64.b64encode(b"echo").decode() + "?="
    for name in ("  echo\t", encoded):
        body = modern("tools/call", name="echo", arguments={"text": "hei"})
        assert (await post(body, modern_headers("tools/call", mcp_name=name))).status == 200


async def test_nothing_was_asked_on_the_modern_wire_that_an_answer_could_belong_to() -> None:
    answer = await post({"jsonrpc": "2.0", "id": 1, "result": {}}, of(mcp_protocol_version=MODERN))
    assert (answer.status, error_of(answer)["code"]) == (400, -32600)


CALLERS = [(kind, scopes) for kind in TokenKind for scopes in ([Scope.READ], [Scope.PROPOSE], list(Scope))]
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
UNREAD_AT_ROOT = {"$ref", "anyOf", "oneOf", "allOf", "not", "if"}


def names_in(schema: object) -> Iterator[str]:
    """Every name of a property, however deep."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key in {"properties", "$defs"} and isinstance(value, dict):
            yield from value
        yield from names_in(value)
    for value in schema if isinstance(schema, list) else ():
        yield from names_in(value)


@pytest.mark.parametrize(("kind", "scopes"), CALLERS)
def test_every_client_can_read_the_whole_list(kind: TokenKind, scopes: list[Scope]) -> None:
    """One entry that a client cannot read costs it all of them."""
    viewer = a_viewer(*scopes)
    viewer = dataclasses.replace(viewer, token=dataclasses.replace(viewer.token, kind=kind))
    listed = Tools(cast("Client", None), Seen(), uuid4).catalogue().visible(viewer)
    assert len(msgspec.json.encode(listed)) < 8 * 1024
    assert len({tool["name"] for tool in listed}) == len(listed)
    for tool in listed:
        schema = tool["inputSchema"]
        assert isinstance(schema, dict)
        assert schema["type"] == "object"
        assert not UNREAD_AT_ROOT & schema.keys()
        assert NAME.fullmatch(str(tool["name"]))
        assert all(NAME.fullmatch(name) for name in names_in(schema))
        assert "://" not in msgspec.json.encode(schema).decode()
        assert str(tool["title"]).strip()
        assert 20 < len(str(tool["description"])) < 600
        assert isinstance(tool["annotations"], dict)
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} < tool["annotations"].keys()


def test_what_tools_say_about_themselves_changes_only_on_purpose() -> None:
    """A description is a prompt in somebody's client: whoever changes one changes this digest with it."""
    catalogue = Tools(cast("Client", None), Seen(), uuid4).catalogue()
    listed = msgspec.json.encode(catalogue.visible(a_viewer()), order="sorted")
    assert hashlib.sha256(listed).hexdigest() == "d64ea21f8985bed25470a3225aa6c88d3d8f18a76f67a635a8f84d5634be6b87"


# anything at all

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": values,
        "method": st.sampled_from(["tools/call", "tools/list", "initialize", "ping", "server/discover", ""]) | values,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["echo", "hidden"]) | values,
                "arguments": st.fixed_dictionaries({}, optional={"text": values}) | values,
                "_meta": st.fixed_dictionaries(
                    {}, optional={META_VERSION: st.sampled_from(SUPPORTED) | values, META_CAPABILITIES: values}
                )
                | values,
            },
        )
        | values,
    },
)
some_headers = st.lists(
    st.tuples(
        st.sampled_from([b"mcp-protocol-version", b"mcp-method", b"mcp-name"]),
        st.sampled_from([version.encode() for version in SUPPORTED] + [b"tools/call", b"echo", b"=?base64?4pg=?="]),
    ),
    max_size=4,
)


def check(answer: Answer) -> None:
    assert answer.status in {200, 202, 400, 404, 413, 503}
    if answer.status == 202:
        assert answer.body == b""
        return
    read = msgspec.json.decode(answer.body, type=dict[str, JSONValue])
    assert read["jsonrpc"] == "2.0"
    assert ("result" in read) != ("error" in read)
    if "error" in read:
        error_of(answer)


@given(messages, some_headers)
async def test_any_message_gets_one_well_formed_answer(
    message: dict[str, JSONValue], headers: list[tuple[bytes, bytes]]
) -> None:
    try:
        body = msgspec.json.encode(message)
    except (OverflowError, UnicodeEncodeError):
        return
    check(await post(body, Headers.of(headers)))


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
async def test_any_bytes_get_one_well_formed_answer(body: bytes) -> None:
    check(await post(body))
