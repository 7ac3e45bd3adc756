"""Which revision a request speaks, and whether its headers say what its body says."""

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping

from gateway.mcp.messages import Message
from gateway.mcp.protocol import (
    DEFAULT,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSON,
    META_CAPABILITIES,
    META_VERSION,
    MODERN,
    SUPPORTED,
    UNSUPPORTED_VERSION,
    Headers,
    RpcError,
)

_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.ASCII)
_NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}


def echoed(headers: Headers) -> str:
    """The revision that every response names: the request's where it is ours, else the default."""
    asked = headers.all("mcp-protocol-version")
    return asked[0] if len(asked) == 1 and asked[0] in SUPPORTED else DEFAULT


def agree(message: Message, headers: Headers) -> bool:
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
    _check_modern(message, headers, meta)
    return True


def _check_modern(message: Message, headers: Headers, meta: JSON) -> None:
    if not message.method:
        raise RpcError(INVALID_REQUEST, "Invalid request: nothing was asked that this could answer", status=400)
    _check_names(message, headers)
    if not message.expects_answer:
        return
    if not isinstance(meta, dict) or not isinstance(meta.get(META_VERSION), str):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta has no {META_VERSION}", status=400)
    if meta[META_VERSION] != MODERN:
        raise RpcError(HEADER_MISMATCH, "MCP-Protocol-Version does not match the request's _meta", status=400)
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        raise RpcError(INVALID_PARAMS, f"Invalid params: _meta has no {META_CAPABILITIES}", status=400)


def _check_names(message: Message, headers: Headers) -> None:
    """The headers that intermediaries route by say what the body says, or the request is refused."""
    if headers.one("mcp-method") != message.method:
        raise RpcError(HEADER_MISMATCH, "Mcp-Method does not match the request's method", status=400)
    named, key = headers.one("mcp-name"), _NAMED_BY.get(message.method)
    if key is None:
        return
    value = message.params.get(key)
    if named is None or not isinstance(value, str) or _plain(named) != value:
        raise RpcError(HEADER_MISMATCH, f"Mcp-Name does not match the request's {key}", status=400)


def check_arguments(mirrored: Mapping[str, str], arguments: Mapping[str, JSON], headers: Headers) -> None:
    """Arguments that a tool mirrors into headers say the same there. `mirrored`: header by argument."""
    for argument, header in mirrored.items():
        value, told = arguments.get(argument), headers.one(header.lower())
        if value is None and told is None:
            continue
        if told is None or _plain(told) != _written(value):
            raise RpcError(HEADER_MISMATCH, f"{header} does not match the argument {argument}", status=400)


def _written(value: JSON) -> str | None:
    """An argument as a header writes it; None for one that none can hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None


def _plain(header: str) -> str | None:
    """A header's text; one that HTTP cannot carry comes in base64 between marks."""
    encoded = _SENTINEL.fullmatch(header)
    if encoded is None:
        return header
    try:
        return b64decode(encoded.group(1), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
