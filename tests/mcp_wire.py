"""Requests to the dispatcher as a client of any revision writes them, without a server."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import msgspec
from mcp_types.methods import validate_server_result

from access.records import Member, Token
from access.rule import Caller
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.ids import PrincipalId, TokenId
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.exchange import exchange
from gateway.mcp.protocol import JSON, META_CAPABILITIES, META_VERSION, MODERN, Answer, Headers

NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
EVERYTHING: dict[str, JSON] = {"elicitation": {}, "sampling": {}, "roots": {}}
REQUEST = "req-12345678"


def a_viewer(*scopes: Scope, kind: TokenKind = TokenKind.PERSON, principal: UUID | None = None) -> Viewer:
    """Somebody with these scopes, `brain:read` where none is given."""
    someone = PrincipalId(principal or uuid4())
    held = frozenset(scopes or {Scope.READ})
    member = Member(someone, PrincipalKind.PERSON, "alice", Role.OWNER, Tier.ADMIN, active=True)
    token = Token(TokenId(uuid4()), someone, kind, Tier.ADMIN, held, "d", None)
    return Viewer(token, member, Caller(someone, frozenset({someone}), Tier.ADMIN, scopes=held), 0)


def written(
    method: str, params: Mapping[str, JSON], revision: str, able: Mapping[str, JSON], **more: str
) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a request."""
    headers = {"mcp-protocol-version": revision, "content-type": "application/json", **more}
    given = dict(params)
    if revision == MODERN:
        given["_meta"] = {META_VERSION: MODERN, META_CAPABILITIES: dict(able)}
        headers["mcp-method"] = method
        if method in NAMED_BY:
            headers["mcp-name"] = str(params[NAMED_BY[method]])
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}), headers


async def ask(
    catalogue: Catalogue,
    method: str,
    params: Mapping[str, JSON] | None = None,
    *,
    revision: str = MODERN,
    viewer: Viewer | None = None,
    able: Mapping[str, JSON] = EVERYTHING,
    more: Mapping[str, str] | None = None,
) -> Answer:
    """What the dispatcher answers."""
    body, pairs = written(method, params or {}, revision, able, **(more or {}))
    raw = [(name.encode(), value.encode()) for name, value in pairs.items()]
    return await exchange(body, Headers.of(raw), viewer or a_viewer(), catalogue, REQUEST)


def result_of(answer: Answer) -> dict[str, Any]:
    """The result, where there is one."""
    read: dict[str, Any] = msgspec.json.decode(answer.body)
    assert "error" not in read, read
    result: dict[str, Any] = read["result"]
    return result


def error_of(answer: Answer) -> dict[str, Any]:
    """The error, where there is one."""
    read: dict[str, Any] = msgspec.json.decode(answer.body)
    assert "result" not in read, read
    error: dict[str, Any] = read["error"]
    return error


def valid(answer: Answer, method: str, revision: str) -> dict[str, Any]:
    """The result, which the official types of that revision accept."""
    result = result_of(answer)
    validate_server_result(method, revision, result)
    return result
