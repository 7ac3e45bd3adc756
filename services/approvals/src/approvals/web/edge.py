"""The outermost layer of the pages: a request id and a span for everything, and the headers that bind a browser."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
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


class Edge:
    """Wraps the application. Forms go to this site, and to `public_url` to sign out; nothing comes from elsewhere."""

    def __init__(self, inner: App, public_url: str) -> None:
        self._inner = inner
        address = urlsplit(public_url)
        policy = (
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
            f"form-action 'self' {address.scheme}://{address.netloc}"
        )
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"referrer-policy", b"same-origin"),
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
            await self._inner(scope, receive, send_on)
