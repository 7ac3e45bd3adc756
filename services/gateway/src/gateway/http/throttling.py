"""What a caller reads whose address sent too much: the shape of error that clients of that path know."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from gateway.http.problems import problem
from gateway.limits.rates import Throttled
from gateway.mcp.limited import TOO_MANY, rpc_error
from gateway.mcp.protocol import ENDPOINTS, Headers, failure
from gateway.mcp.revisions import echoed
from gateway.oauth.discovery import REGISTER, REVOKE, TOKEN

_OAUTH = (TOKEN, REGISTER, REVOKE)


async def refuse(
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    scope: MutableMapping[str, Any],
    error: Throttled,
    request_id: str,
) -> None:
    """Answer 429."""
    path, extra, kind = scope["path"].rstrip("/"), {}, "application/json"
    if path in ENDPOINTS:
        body = failure(None, rpc_error(error), request_id)
        extra = {"mcp-protocol-version": echoed(Headers.of(list(scope["headers"])))}
    elif path in _OAUTH:  # an error of RFC 6749, whose readers stop at a body without `error`
        body = msgspec.json.encode({"error": "temporarily_unavailable", "error_description": error.told})
    elif path.startswith(("/api/v1", "/tools")):
        _, body, _ = problem(error, request_id)
    else:
        body, kind = error.told.encode() + b"\n", "text/plain; charset=utf-8"
    headers = {"content-type": kind, "cache-control": "no-store", "retry-after": str(error.retry_after), **extra}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": TOO_MANY, "headers": raw})
    await send({"type": "http.response.body", "body": body})
