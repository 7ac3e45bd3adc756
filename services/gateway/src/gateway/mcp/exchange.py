"""One request in, one answer out. No framework and no I/O but the tool that is called."""

import binascii
import re
from base64 import b64decode
from dataclasses import dataclass

import msgspec

from contracts.errors import Refused, Unavailable
from gateway.credentials import Viewer
from gateway.mcp import words
from gateway.mcp.catalogue import Catalogue, ToolResult
from gateway.mcp.protocol import (
    BODY_LIMIT,
    CALL_ID,
    DEFAULT,
    DEPTH_LIMIT,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSON,
    LARGEST_ID,
    LEGACY,
    META_CAPABILITIES,
    META_SERVER,
    META_VERSION,
    METHOD_NOT_FOUND,
    MODERN,
    MODERN_STATUS,
    PARSE_ERROR,
    SUPPORTED,
    UNAVAILABLE,
    UNSUPPORTED_VERSION,
    Answer,
    Headers,
    RpcError,
    failure,
    success,
)

_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.ASCII)
_NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
_LONGEST_NAME = 128
_CACHED: dict[str, JSON] = {"ttlMs": 60_000, "cacheScope": "private"}
_CAPABILITIES: dict[str, JSON] = {"tools": {}}
_SERVER: dict[str, JSON] = {"name": words.SERVER_NAME, "title": "Company Brain", "version": words.VERSION}


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON-RPC message. `expects_answer` False: a notification, or a client's answer to nothing we asked."""

    id: CALL_ID
    method: str
    params: dict[str, JSON]
    expects_answer: bool


def echoed(headers: Headers) -> str:
    """The revision that every response names: the request's where it is ours, else the default."""
    asked = headers.all("mcp-protocol-version")
    return asked[0] if len(asked) == 1 and asked[0] in SUPPORTED else DEFAULT


async def exchange(body: bytes, headers: Headers, viewer: Viewer, catalogue: Catalogue, request_id: str) -> Answer:
    """Answer one POST of an authenticated caller."""
    call_id: CALL_ID = None
    modern = echoed(headers) == MODERN
    try:
        message = parse(body)
        call_id = message.id
        modern = _check_revision(message, headers)
        if not message.expects_answer:
            return Answer(202)
        result = await _answer(message, viewer, catalogue, modern=modern)
    except RpcError as error:
        status = error.status or (MODERN_STATUS.get(error.code, 400) if modern else 200)
        extra = {"retry-after": str(error.retry_after)} if error.retry_after else {}
        return Answer(status, failure(call_id, error, request_id), extra)
    return Answer(200, success(call_id, result))


def parse(body: bytes) -> Message:
    """Read one message. Raises `RpcError` with status 400 (413 when too large) for anything that is none."""
    if len(body) > BODY_LIMIT:
        raise RpcError(INVALID_REQUEST, f"The request is larger than {BODY_LIMIT} bytes", status=413)
    try:
        read: JSON = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, "Parse error: the body is not JSON", status=400) from error
    if isinstance(read, list):
        raise RpcError(INVALID_REQUEST, "Invalid request: send one message at a time, not a batch", status=400)
    if not isinstance(read, dict) or read.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", status=400)
    if _depth(read) > DEPTH_LIMIT:
        raise RpcError(INVALID_REQUEST, f"Invalid request: nested deeper than {DEPTH_LIMIT}", status=400)
    return _message(read)


def _message(read: dict[str, JSON]) -> Message:
    method, call_id, params = read.get("method"), read.get("id"), read.get("params")
    known = "id" in read
    if known and (isinstance(call_id, bool) or not isinstance(call_id, str | int)):
        raise RpcError(INVALID_REQUEST, "Invalid request: id is a string or an integer", status=400)
    if isinstance(call_id, int) and abs(call_id) > LARGEST_ID:
        raise RpcError(INVALID_REQUEST, "Invalid request: id is too large", status=400)
    name = call_id if isinstance(call_id, str | int) else None
    if method is None and known and ("result" in read or "error" in read):
        return Message(name, "", {}, expects_answer=False)
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "Invalid request: method is missing", status=400)
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "Invalid request: params is an object", status=400)
    return Message(name, method, params or {}, expects_answer=known)


def _depth(value: JSON) -> int:
    """How deep a value nests, found without recursion; stops counting just beyond the limit."""
    depth, level = 0, [value]
    while level and depth <= DEPTH_LIMIT:
        depth += 1
        inner: list[JSON] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        level = inner
    return depth


def _check_revision(message: Message, headers: Headers) -> bool:
    """Whether the message speaks the modern revision. Raises `RpcError` where headers and body do not agree on one."""
    asked = headers.one("mcp-protocol-version")
    meta = message.params.get("_meta")
    claimed = meta.get(META_VERSION) if isinstance(meta, dict) else None
    if message.method == "initialize" and asked != MODERN:
        return False
    if asked is None and claimed is not None:
        raise RpcError(HEADER_MISMATCH, "The header MCP-Protocol-Version is missing", status=400)
    if asked is not None and asked not in SUPPORTED:
        extra: dict[str, JSON] = {"supported": list(SUPPORTED), "requested": asked}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", extra, status=400)
    if asked != MODERN:
        if claimed not in (None, asked):
            raise RpcError(HEADER_MISMATCH, "MCP-Protocol-Version does not match the request's _meta", status=400)
        return False
    _check_names(message, headers)
    if not message.expects_answer:
        return True
    if not isinstance(meta, dict) or not isinstance(claimed, str):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta has no {META_VERSION}", status=400)
    if claimed != asked:
        raise RpcError(HEADER_MISMATCH, "MCP-Protocol-Version does not match the request's _meta", status=400)
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta has no {META_CAPABILITIES}", status=400)
    return True


def _check_names(message: Message, headers: Headers) -> None:
    """The headers that intermediaries route by say what the body says, or the request is refused."""
    if message.method and headers.one("mcp-method") != message.method:
        raise RpcError(HEADER_MISMATCH, "Mcp-Method does not match the request's method", status=400)
    named, key = headers.one("mcp-name"), _NAMED_BY.get(message.method)
    if key is None:
        return
    value = message.params.get(key)
    if named is None or not isinstance(value, str) or _plain(named) != value:
        raise RpcError(HEADER_MISMATCH, f"Mcp-Name does not match the request's {key}", status=400)


def _plain(header: str) -> str | None:
    """A header's text; one that HTTP cannot carry comes in base64 between marks."""
    encoded = _SENTINEL.fullmatch(header)
    if encoded is None:
        return header
    try:
        return b64decode(encoded.group(1), validate=True).decode()
    except (binascii.Error, ValueError):
        return None


async def _answer(message: Message, viewer: Viewer, catalogue: Catalogue, *, modern: bool) -> dict[str, JSON]:
    match message.method:
        case "tools/list":
            return _listed(message, catalogue.visible(viewer), modern=modern)
        case "tools/call":
            return await _call(message, viewer, catalogue, modern=modern)
        case "server/discover" if modern:
            return _discovered()
        case "initialize" if not modern:
            return _initialized(message)
        case "ping" if not modern:
            return {}
        case _:
            raise RpcError(METHOD_NOT_FOUND, "Method not found")


def _initialized(message: Message) -> dict[str, JSON]:
    asked = message.params.get("protocolVersion")
    if not isinstance(asked, str):
        raise RpcError(INVALID_PARAMS, "Invalid params: protocolVersion is a string")
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        "instructions": words.INSTRUCTIONS,
    }


def _discovered() -> dict[str, JSON]:
    return {
        "resultType": "complete",
        "supportedVersions": list(SUPPORTED),
        "capabilities": _CAPABILITIES,
        "instructions": words.INSTRUCTIONS,
        "_meta": {META_SERVER: _SERVER},
        **_CACHED,
    }


def _listed(message: Message, tools: list[dict[str, JSON]], *, modern: bool) -> dict[str, JSON]:
    if message.params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "Invalid params: the list has one page, so no cursor is valid")
    listed: dict[str, JSON] = {"tools": list(tools)}
    return {"resultType": "complete", **listed, **_CACHED} if modern else listed


async def _call(message: Message, viewer: Viewer, catalogue: Catalogue, *, modern: bool) -> dict[str, JSON]:
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "Invalid params: name is a string")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "Invalid params: arguments is an object")
    tool = catalogue.find(viewer, name)
    if tool is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:_LONGEST_NAME]}")
    try:
        given = await tool.call(viewer, arguments or {})
    except Refused as refused:
        told = " ".join(part for part in (refused.what, refused.remedy) if part)
        given = ToolResult(told, failed=True)
    except Unavailable as error:
        told = f"Temporarily unavailable. Try again in {error.retry_after} s."
        raise RpcError(UNAVAILABLE, told, status=503, retry_after=error.retry_after) from error
    result: dict[str, JSON] = {"content": [{"type": "text", "text": given.text}], "isError": given.failed}
    if given.structured is not None:
        result["structuredContent"] = given.structured
    return {"resultType": "complete", **result} if modern else result
