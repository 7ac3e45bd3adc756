"""Texts that cannot be kept are refused at every door, before anything behind it sees them."""

import itertools
import json
from collections.abc import Callable, Iterator
from functools import partial
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from contracts import gateway_api as api
from contracts import gateway_messages as messages
from contracts.enums import Scope
from contracts.errors import Refused
from contracts.ids import PrincipalId
from gateway import texts
from gateway.http.routes import Nothing
from gateway.mcp import inputs
from gateway_world import House, command

JSON = object
READS: dict[str, type[msgspec.Struct]] = {
    api.WHOAMI: Nothing,
    api.MEMBERS: Nothing,
    api.GROUPS: Nothing,
    api.GRANTS: api.GrantsOf,
    api.TOKENS: Nothing,
    api.WHY: api.Why,
    api.PROPOSALS: api.ProposalsAfter,
    api.PROPOSAL: api.OneProposal,
    api.LIMITS: Nothing,
    api.COSTS: api.CostsOf,
}
WRITES: dict[str, type[msgspec.Struct]] = {
    api.MEMBER_ADD: api.NewMember,
    api.MEMBER_REMOVE: api.MemberName,
    api.MEMBER_ROLE: api.MemberRole,
    api.GROUP_SET: api.Group,
    api.GRANT_ADD: api.GrantText,
    api.GRANT_REVOKE: api.GrantText,
    api.TOKEN_ISSUE: api.NewToken,
    api.TOKEN_REVOKE: api.TokenName,
    api.APPROVE: api.Approve,
    api.REJECT: api.Reject,
    api.WITHDRAW: api.WithdrawText,
    api.IMPORT_PART: api.ImportPart,
    api.IMPORT_FINISH: api.ImportEnd,
    api.LIMIT_SET: api.NewLimit,
}
TOOLS: dict[str, type[msgspec.Struct]] = {
    "find_page": inputs.FindPage,
    "read_page": inputs.ReadPage,
    "search": inputs.Search,
    "write_inbox": inputs.WriteInbox,
}
_PLAIN: dict[type[inspect.Type], JSON] = {
    inspect.UUIDType: "6f1f2a52-6f0c-4a57-9a41-0d3f6f6b5a11",
    inspect.BoolType: False,
    inspect.IntType: 1,
    inspect.BytesType: "",
}
KEPT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
UNKEPT = st.sampled_from(["\0", "\ud800", "\udfff"])


def filled(kind: inspect.Type, text: Callable[[], str]) -> JSON:
    """A value of the type, in JSON, whose every text comes from `text`."""
    match kind:
        case inspect.StrType():
            return text()
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            return [filled(inner, text)]
        case inspect.UnionType(types=types):
            return filled(next(each for each in types if not isinstance(each, inspect.NoneType)), text)
        case inspect.StructType(fields=fields):
            return {field.encode_name: filled(field.type, text) for field in fields}
        case inspect.Metadata(type=inner):
            return filled(inner, text)
        case _:
            return _plain(kind)


def _plain(kind: inspect.Type) -> JSON:
    match kind:
        case inspect.EnumType(cls=cls):
            return next(iter(cls)).value
        case inspect.LiteralType(values=values):
            return values[0]
        case _:
            return _PLAIN[type(kind)]


def with_one(shape: type[msgspec.Struct], odd: str, plain: str = "a plain text") -> Iterator[JSON]:
    """The request once for each of its texts, with `odd` in that one."""
    count = itertools.count()
    filled(inspect.type_info(shape), lambda: f"{next(count)}")
    for place in range(next(count)):
        waiting = iter([plain] * place + [odd])
        yield filled(inspect.type_info(shape), partial(next, waiting, plain))


SHAPES = [*READS.values(), *WRITES.values()]


def test_every_route_of_the_console_is_tried_here() -> None:
    assert {path for name, path in vars(api).items() if name.isupper()} == {*READS, *WRITES}


@given(shape=st.sampled_from(SHAPES), before=KEPT, odd=UNKEPT, after=KEPT)
def test_a_text_that_cannot_be_kept_is_refused_wherever_it_stands(
    shape: type[msgspec.Struct], before: str, odd: str, after: str
) -> None:
    for asked in with_one(shape, before + odd + after):
        with pytest.raises(Refused) as refused:
            texts.check(msgspec.convert(asked, shape, strict=False))
        assert refused.value.code == "malformed"
        assert refused.value.where


@given(shape=st.sampled_from(SHAPES), text=KEPT)
def test_every_other_text_passes(shape: type[msgspec.Struct], text: str) -> None:
    for asked in with_one(shape, text):
        texts.check(msgspec.convert(asked, shape, strict=False))


ODD = ["\0", "a\0", "sales\0", "\ud800", "a\udfffb"]


@pytest.mark.service
async def test_no_route_fails_on_a_text_that_cannot_be_kept(house: House) -> None:
    async with house.client(await house.sign_in()) as http:
        for odd, (path, shape) in itertools.product(ODD, WRITES.items()):
            for asked in with_one(shape, odd):
                answer = await http.post(path, content=json.dumps(asked))
                known = (422, "malformed") if "\0" in odd else (400, "malformed_json")
                assert (answer.status_code, answer.json()["error"]["code"]) == known, (path, asked)
        for odd, (path, shape) in itertools.product(("%00", "a%00b", "%ED%A0%80", "%FF"), READS.items()):
            for asked in with_one(shape, "ODD"):
                assert isinstance(asked, dict)
                query = "&".join(f"{name}={value}" for name, value in asked.items()).replace(" ", "+")
                answer = await http.get(f"{path}?{query.replace('ODD', odd)}")
                if "%00" in odd:
                    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "malformed"), (path, asked)
                assert answer.status_code != 500, (path, asked)
    assert house.neighbour.asked == []


@pytest.mark.service
async def test_no_tool_fails_on_a_text_that_cannot_be_kept(house: House) -> None:
    async with house.client((await house.token(None, Scope.PROPOSE)).secret) as http:
        for name, shape in TOOLS.items():
            for asked in with_one(shape, "a text with \0 in it"):
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": asked}}
                answer = (await http.post("/api/mcp", json=call)).json()["result"]
                assert answer["isError"] is True, (name, asked)
                assert "U+0000" in answer["content"][0]["text"]
    assert house.neighbour.asked == []


@pytest.mark.service
async def test_no_command_on_the_bus_fails_on_a_text_that_cannot_be_kept(house: House) -> None:
    for subject, asked in (
        (messages.SIGN_IN, messages.SignIn(command=command(), name="a\0")),
        (messages.OPEN_BRAIN, messages.OpenBrain(command=command(), owner="a\0")),
        (messages.REMOVE_MEMBER, messages.RemoveMember(command=command(), by=house.alice, name="\0")),
        (messages.WHY, messages.AskWhy(by=PrincipalId(uuid4()), person="\0", path="a.md")),
        (messages.SESSION, messages.AskSession(cookie="\0")),
    ):
        with pytest.raises(Refused) as refused:
            await house.ask(subject, asked, Nothing)
        assert refused.value.code == "malformed"
