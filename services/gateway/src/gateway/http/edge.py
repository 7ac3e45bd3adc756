"""The outermost layer: a request id on everything, and nothing served to a page of somebody else's site."""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from litestar.types import Receive as Incoming
from opentelemetry.trace import SpanKind

from chassis import rpc, telemetry
from gateway.http import throttling
from gateway.limits.addresses import Addresses

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[..., Awaitable[None]]

REQUEST_ID = "x-request-id"
_READABLE = (
    (b"access-control-expose-headers", b"www-authenticate, mcp-protocol-version, x-request-id, retry-after"),
    (b"vary", b"origin"),
)
_PREFLIGHT = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"authorization, content-type, mcp-protocol-version, mcp-method, mcp-name"),
    (b"access-control-max-age", b"600"),
)
_SANE = re.compile(r"[A-Za-z0-9-]{8,64}")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class Edge:
    """Wraps the application. `public_url` and `web_url` say which hosts and origins are ours; `port` is listened on.

    `addresses` counts every request first, whatever it is.
    """

    def __init__(self, inner: App, public_url: str, web_url: str, port: int, addresses: Addresses) -> None:
        self._inner = inner
        self._addresses = addresses
        here = {f"{host}:{port}" for host in _LOOPBACK}
        self._hosts = {urlsplit(public_url).netloc.lower(), *here}
        self._origins = {origin_of(public_url), origin_of(web_url), *(f"http://{host}" for host in here)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, inside a span and with its id in every log line and header."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(REQUEST_ID, "")
        request_id = given if _SANE.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        shared: tuple[tuple[bytes, bytes], ...] = ()

        async def send_with_id(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message.get("headers", []) if pair[0].lower() != REQUEST_ID.encode()]
                said = {name.lower() for name, _ in kept}  # a page has a policy of its own
                bounds = [pair for pair in _SECURITY if pair[0] not in said]
                message["headers"] = [*kept, (REQUEST_ID.encode(), request_id.encode()), *bounds, *shared]
                span.set_attribute("http.response.status_code", message["status"])
            await send(message)

        attributes = {"http.request.method": scope["method"], "brain.request": request_id}
        with (
            structlog.contextvars.bound_contextvars(request=request_id),
            telemetry.span(
                "gateway.serve_request", headers=headers, kind=SpanKind.SERVER, attributes=attributes
            ) as span,
        ):
            rpc.enter(rpc.Call(request_id))
            peer = scope["client"][0] if scope.get("client") else ""
            beyond = self._addresses.admit(scope["path"], peer, headers.get("x-forwarded-for", ""))
            refusal = self._foreign(headers)
            if refusal:
                await plain(send_with_id, 403, refusal)
                return
            if "origin" in headers:
                shared = ((b"access-control-allow-origin", headers["origin"].encode("latin-1")), *_READABLE)
            if beyond is not None:
                await throttling.refuse(send_with_id, scope, beyond, request_id)
                return
            if scope["method"] == "OPTIONS":
                await send_with_id({"type": "http.response.start", "status": 204, "headers": list(_PREFLIGHT)})
                await send_with_id({"type": "http.response.body", "body": b""})
                return
            await self._inner(scope, receive, send_with_id)

    def _foreign(self, headers: Mapping[str, str]) -> str:
        """Why a request is not for this server: another host's name, or a page of another origin."""
        if headers.get("host", "").lower() not in self._hosts:
            return "This host name is not served here."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return "Requests from pages of other sites are refused."
        return ""


def origin_of(url: str) -> str:
    """Scheme and host of an address, as browsers write an origin."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


async def plain(send: Send, status: int, text: str) -> None:
    """A short answer in words."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})


async def body_of(receive: Incoming, limit: int) -> bytes:
    """A request's body, cut just beyond `limit` bytes, so that a larger one can be refused without being kept."""
    parts, size, more = [], 0, True
    while more and size <= limit:
        message = await receive()
        if message["type"] != "http.request":
            break
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        more = message.get("more_body", False)
    return b"".join(parts)
