"""Resources, prompts, completions and calls in rounds: the suite's own catalogue, asked in every revision."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import fixture
from contracts.enums import Scope, TokenKind
from contracts.errors import Unavailable
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.offers import Block, Resources
from gateway.mcp.protocol import JSON, LEGACY, MODERN, SUPPORTED
from gateway.mcp.rounds import InputRequired, Round, Seal
from mcp_wire import a_viewer, ask, error_of, result_of, valid

EMPTY = Catalogue([])
CATALOGUE = fixture.catalogue()
TEXT = "test://static-text"
CALLS: list[dict[str, JSON]] = [{"name": tool.name, "arguments": {}} for tool in fixture.TOOLS]
REQUESTS: list[tuple[str, dict[str, JSON]]] = [
    ("tools/list", {}),
    *(("tools/call", call) for call in CALLS),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": TEXT}),
    ("resources/read", {"uri": "test://static-binary"}),
    ("resources/read", {"uri": "test://template/7/data"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "test_simple_prompt"}),
    ("prompts/get", {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": "b"}}),
    ("prompts/get", {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "test://x"}}),
    ("prompts/get", {"name": "test_prompt_with_image"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "test_simple_prompt"}, "argument": {"name": "a", "value": "par"}},
    ),
]
OFFERED = ["resources/list", "resources/templates/list", "prompts/list"]


@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize(("method", "params"), REQUESTS)
async def test_the_official_types_accept_every_result(method: str, params: dict[str, JSON], revision: str) -> None:
    result = valid(await ask(CATALOGUE, method, params, revision=revision), method, revision)
    if method == "tools/call" and result.get("resultType") != "input_required":
        assert result["content"]
    assert ("resultType" in result) == (revision == MODERN)
    if method.endswith("/list") or method == "resources/read":
        assert (result.get("cacheScope") == "private") == (revision == MODERN)


@pytest.mark.parametrize("revision", [MODERN, LEGACY[0]])
async def test_capabilities_say_what_is_answered_and_nothing_else(revision: str) -> None:
    method = "server/discover" if revision == MODERN else "initialize"
    params: dict[str, JSON] = {} if revision == MODERN else {"protocolVersion": revision}
    told = {
        name: result_of(await ask(catalogue, method, params, revision=revision))["capabilities"]
        for name, catalogue in (("suite", CATALOGUE), ("empty", EMPTY))
    }
    old: dict[str, JSON] = {} if revision == MODERN else {"logging": {}, "resources": {"subscribe": True}}
    assert told["empty"] == {"tools": {}}
    assert told["suite"] == {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, **old}
    for asked in [*OFFERED, "resources/read", "prompts/get", "completion/complete", "logging/setLevel"]:
        answer = await ask(EMPTY, asked, {"uri": "x", "name": "x"}, revision=revision)
        assert (answer.status, error_of(answer)["code"]) == (404 if revision == MODERN else 200, -32601)


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
async def test_methods_of_old_revisions_are_gone_from_the_modern_wire(method: str) -> None:
    assert result_of(await ask(CATALOGUE, method, {"uri": TEXT, "level": "info"}, revision=LEGACY[0])) == {}
    assert (await ask(CATALOGUE, method, {"uri": TEXT, "level": "info"})).status == 404


async def test_a_resource_that_is_not_there_is_told_with_its_uri_and_the_code_of_the_revision() -> None:
    modern = await ask(CATALOGUE, "resources/read", {"uri": "test://none"})
    legacy = await ask(CATALOGUE, "resources/read", {"uri": "test://none"}, revision=LEGACY[0])
    assert (modern.status, error_of(modern)["code"]) == (400, -32602)
    assert (legacy.status, error_of(legacy)["code"]) == (200, -32002)
    for answer in (modern, legacy):
        assert error_of(answer)["data"]["uri"] == "test://none"


async def test_resources_are_read_with_their_scope_and_unknown_to_other_kinds_of_credential() -> None:
    async def read(_viewer: Viewer, uri: str, _client: Round) -> list[Block]:
        return [{"uri": uri, "text": "a"}]

    offered = Resources(read=read, denial="Forbidden: brain:read.", kinds=frozenset({TokenKind.PERSON}))
    catalogue = Catalogue([], resources=offered)
    denied = await ask(catalogue, "resources/read", {"uri": "a:b"}, viewer=a_viewer(Scope.PROPOSE))
    assert (denied.status, error_of(denied)["message"]) == (403, "Forbidden: brain:read.")
    client = a_viewer(kind=TokenKind.CLIENT)
    assert (await ask(catalogue, "resources/list", viewer=client)).status == 404
    told = result_of(await ask(catalogue, "server/discover", viewer=client))
    assert told["capabilities"] == {"tools": {}}


async def test_a_source_behind_that_does_not_answer_is_503_with_a_time() -> None:
    async def read(_viewer: Viewer, _uri: str, _client: Round) -> list[Block]:
        raise Unavailable("nobody is there", 4)

    answer = await ask(Catalogue([], resources=Resources(read=read)), "resources/read", {"uri": "a:b"})
    assert (answer.status, answer.headers) == (503, {"retry-after": "4"})


@pytest.mark.parametrize(
    "params",
    [
        {"name": "nothing"},
        {"name": "test_prompt_with_arguments"},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a"}},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": 3}},
        {"name": "test_prompt_with_arguments", "arguments": []},
    ],
)
async def test_a_prompt_is_filled_with_all_that_it_needs_or_refused(params: dict[str, JSON]) -> None:
    for revision in (MODERN, LEGACY[0]):
        assert error_of(await ask(CATALOGUE, "prompts/get", params, revision=revision))["code"] == -32602


@pytest.mark.parametrize(
    "params", [{}, {"ref": {}}, {"ref": {}, "argument": {"name": "a"}}, {"ref": 1, "argument": {}}]
)
async def test_a_completion_says_what_it_is_for_or_is_refused(params: dict[str, JSON]) -> None:
    assert error_of(await ask(CATALOGUE, "completion/complete", params))["code"] == -32602


async def test_a_completion_has_a_hundred_values_at_most() -> None:
    async def complete(_viewer: Viewer, _ref: Block, _argument: str, value: str) -> list[str]:
        return [f"{value}{number}" for number in range(250)]

    params: dict[str, JSON] = {"ref": {}, "argument": {"name": "a", "value": "b"}}
    found = result_of(await ask(Catalogue([], complete=complete), "completion/complete", params))["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 250, True)


# rounds

CONFIRM = "test_input_required_result_request_state"
YES: dict[str, JSON] = {"confirm": {"action": "accept", "content": {"ok": True}}}
ALICE = uuid4()


async def started(viewer: Viewer, catalogue: Catalogue = CATALOGUE) -> str:
    asked = result_of(await ask(catalogue, "tools/call", {"name": CONFIRM, "arguments": {}}, viewer=viewer))
    assert asked["resultType"] == "input_required"
    return str(asked["requestState"])


async def test_a_state_comes_back_from_whom_it_was_given_to_and_nobody_else() -> None:
    alice, bob = a_viewer(principal=ALICE), a_viewer()
    state = await started(alice)
    call: dict[str, JSON] = {"name": CONFIRM, "arguments": {}, "inputResponses": YES, "requestState": state}
    done = result_of(await ask(CATALOGUE, "tools/call", call, viewer=alice))
    assert done["content"] == [{"type": "text", "text": "state-ok"}]
    other: dict[str, JSON] = {**call, "name": "test_input_required_result_tampered_state"}
    more: dict[str, JSON] = {**call, "arguments": {"a": 1}}
    for viewer, changed in ((bob, call), (alice, other), (alice, more)):
        answer = await ask(CATALOGUE, "tools/call", changed, viewer=viewer)
        assert (answer.status, error_of(answer)["code"]) == (400, -32602)


async def test_no_letter_of_a_state_can_be_changed() -> None:
    alice = a_viewer(principal=ALICE)
    state = await started(alice)
    swapped = [
        state[:place] + ("A" if state[place] != "A" else "B") + state[place + 1 :] for place in range(len(state))
    ]
    for wrong in ["", "ø", "=", state + "A", state + "=", state[:-1], state[:40], *swapped]:
        call: dict[str, JSON] = {"name": CONFIRM, "arguments": {}, "inputResponses": YES, "requestState": wrong}
        assert error_of(await ask(CATALOGUE, "tools/call", call, viewer=alice))["code"] == -32602


async def test_a_state_expires() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    seal = Seal(b"k" * 32, lambda: now, seconds=60)
    catalogue = Catalogue(fixture.TOOLS, seal=seal)
    alice = a_viewer(principal=ALICE)
    call: dict[str, JSON] = {"name": CONFIRM, "arguments": {}, "inputResponses": YES}
    call["requestState"] = await started(alice, catalogue)
    now += timedelta(seconds=60)
    assert "content" in result_of(await ask(catalogue, "tools/call", call, viewer=alice))
    now += timedelta(seconds=1)
    assert "expired" in str(error_of(await ask(catalogue, "tools/call", call, viewer=alice))["message"])


async def test_a_client_is_asked_only_for_what_it_says_that_it_can() -> None:
    params: dict[str, JSON] = {"name": "test_input_required_result_multiple_inputs"}
    answer = await ask(CATALOGUE, "tools/call", params, able={"elicitation": {}})
    extra = error_of(answer)["data"]
    assert (answer.status, error_of(answer)["code"]) == (400, -32021)
    assert extra["requiredCapabilities"] == {"roots": {}, "sampling": {}}


@pytest.mark.parametrize("responses", [None, 1, [], {"user_name": 1}, {"user_name": None}])
async def test_answers_of_no_shape_are_refused(responses: JSON) -> None:
    params: dict[str, JSON] = {"name": "test_input_required_result_elicitation", "inputResponses": responses}
    answer = await ask(CATALOGUE, "tools/call", params)
    assert (answer.status, error_of(answer)["code"]) == (400, -32602)


async def test_on_the_legacy_wire_a_call_that_asks_says_which_revision_it_needs() -> None:
    async def read(_viewer: Viewer, _uri: str, _client: Round) -> InputRequired:
        return InputRequired({"a": fixture.NAME})

    called = await ask(CATALOGUE, "tools/call", {"name": "test_input_required_result_elicitation"}, revision=LEGACY[0])
    assert result_of(called)["isError"] is True
    assert MODERN in str(result_of(called)["content"])
    prompt = await ask(CATALOGUE, "prompts/get", {"name": "test_input_required_result_prompt"}, revision=LEGACY[0])
    resources = Catalogue([], resources=Resources(read=read))
    resource = await ask(resources, "resources/read", {"uri": "a:b"}, revision=LEGACY[0])
    for answer in (prompt, resource):
        assert MODERN in str(error_of(answer)["message"])
    asked = result_of(await ask(resources, "resources/read", {"uri": "a:b"}))
    assert asked["inputRequests"] == {"a": fixture.NAME}


# anything at all

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = [*(call["name"] for call in CALLS), "test_simple_prompt", "test_prompt_with_arguments", "nothing"]
METHODS = sorted({method for method, _ in REQUESTS} | {"server/discover", "ping", "initialize", "logging/setLevel"})


@given(
    st.sampled_from(METHODS),
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES), "uri": st.sampled_from([TEXT, "test://none", "test://template//data"])},
        optional={
            "arguments": st.dictionaries(st.sampled_from(["arg1", "arg2", "region"]), values) | values,
            "inputResponses": st.dictionaries(st.sampled_from(["user_name", "confirm"]), values) | values,
            "requestState": st.text(max_size=80) | values,
            "ref": values,
            "argument": st.fixed_dictionaries({}, optional={"name": values, "value": values}) | values,
            "cursor": values,
            "protocolVersion": values,
        },
    ),
    st.sampled_from(SUPPORTED),
    st.dictionaries(st.sampled_from(["elicitation", "sampling", "roots"]), st.just({})),
)
async def test_any_parameters_get_one_well_formed_answer(
    method: str, params: dict[str, JSON], revision: str, able: dict[str, JSON]
) -> None:
    answer = await ask(CATALOGUE, method, params, revision=revision, able=able)
    assert answer.status in {200, 400, 404}
    read = msgspec.json.decode(answer.body, type=dict[str, object])
    assert ("result" in read) != ("error" in read)
    assert read["id"] == 1


# arguments in headers


@pytest.mark.parametrize(
    ("argument", "header", "status"),
    [
        ("north", "north", 200),
        ("Ø", "=?base64?w5g=?=", 200),
        ("north", "south", 400),
        ("north", None, 400),
        (None, "north", 400),
        (None, None, 200),
        (["north"], "north", 400),
        (7, "7", 200),
        (True, "true", 200),
        ("true", "true", 200),
    ],
)
async def test_an_argument_that_is_mirrored_says_the_same_in_its_header(
    argument: JSON, header: str | None, status: int
) -> None:
    given: dict[str, JSON] = {} if argument is None else {"region": argument}
    headers = {} if header is None else {"mcp-param-region": header}
    params: dict[str, JSON] = {"name": "test_custom_headers", "arguments": given}
    answer = await ask(CATALOGUE, "tools/call", params, more=headers)
    assert answer.status == status
    assert status == 200 or error_of(answer)["code"] == -32020
    assert (await ask(CATALOGUE, "tools/call", params, revision=LEGACY[0], more=headers)).status == 200
