"""The outermost layer of the pages: a request id and a span for everything, and what binds a browser to this site."""

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from opentelemetry.trace import SpanKind

from chassis import rpc, telemetry

Scope = MutableMapping[str, Any]  # Any: ASGI's own shapes
Message = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]

REQUEST_ID = "x-request-id"
_SANE = re.compile(r"[A-Za-z0-9-]{8,64}")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Edge:
    """Wraps the application. Forms go to this site, and to `public_url` to sign out; nothing comes from elsewhere.

    `web_url` is this site for people, `port` what is listened on: they say which host names and origins are ours.
    """

    def __init__(self, inner: App, public_url: str, web_url: str, port: int) -> None:
        self._inner = inner
        web, here = urlsplit(web_url), {f"{host}:{port}" for host in _LOOPBACK}
        self._hosts = {web.netloc.lower(), urlsplit(public_url).netloc.lower(), *here}
        self._origins = {f"{web.scheme}://{web.netloc}".lower(), *(f"http://{host}" for host in here)}
        address = urlsplit(public_url)
        policy = (
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
            f"form-action 'self' {address.scheme}://{address.netloc}"
        )
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"referrer-policy", b"strict-origin"),
            (b"x-content-type-options", b"nosniff"),
        ]

    async def __call__(self, scope: Scope, receive: App, send: App) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(REQUEST_ID, "")
        request = given if _SANE.fullmatch(given) else uuid4().hex
        attributes: dict[str, str | int | float | bool] = {
            "http.request.method": scope["method"],
            "brain.request": request,
        }

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = [*message.get("headers", []), (REQUEST_ID.encode(), request.encode()), *self._headers]
                message["headers"] = told
                span.set_attribute("http.response.status_code", message["status"])
            await send(message)

        with (
            structlog.contextvars.bound_contextvars(request=request),
            telemetry.span(
                "approvals.serve_page", headers=headers, kind=SpanKind.SERVER, attributes=attributes
            ) as span,
        ):
            rpc.enter(rpc.Call(request))
            refusal = self._foreign(scope["method"], headers)
            if refusal is not None:
                await _plain(send_on, *refusal)
                return
            await self._inner(scope, receive, send_on)

    def _foreign(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is not for this site: another host's name, or a form on a page of another origin."""
        if headers.get("host", "").lower() not in self._hosts:
            return 421, "This host name is not served here."
        origin = headers.get("origin")
        if method == "POST" and origin is not None and origin.lower() not in self._origins:
            return 403, "Requests from pages of other sites are refused."
        return None


async def _plain(send: App, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})
