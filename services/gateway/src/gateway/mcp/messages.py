"""One JSON-RPC message, read from bytes that may be anything."""

from dataclasses import dataclass

import msgspec

from gateway.mcp.protocol import (
    BODY_LIMIT,
    CALL_ID,
    DEPTH_LIMIT,
    INVALID_REQUEST,
    JSON,
    LARGEST_ID,
    PARSE_ERROR,
    RpcError,
)


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON-RPC message. `expects_answer` False: a notification, or a client's answer to nothing we asked.

    An answer has no method, which is "" then.
    """

    id: CALL_ID
    method: str
    params: dict[str, JSON]
    expects_answer: bool


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
    if b"\\u" in body:
        _check_letters(read)
    return _message(read)


def _check_letters(read: JSON) -> None:
    """Half of a surrogate pair, which only an escape can bring, is no letter: nothing could say it back."""
    try:
        msgspec.json.encode(read)
    except UnicodeEncodeError as error:
        raise RpcError(PARSE_ERROR, "Parse error: half of a surrogate pair is no letter", status=400) from error


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
