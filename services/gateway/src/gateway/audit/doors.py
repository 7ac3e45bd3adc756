"""Where trails begin and end: around the HTTP surface, and around what is served on the bus."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

import msgspec

from chassis import rpc
from chassis.postgres import GONE
from contracts.errors import Refused, Unavailable
from gateway.audit.operations import AUTHENTICATE, SIGNED_OUT, Door, by_path
from gateway.audit.trail import TRAIL, Trail
from gateway.audit.writer import Audit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[..., Awaitable[None]]
Q = TypeVar("Q", bound=msgspec.Struct)

_LOWEST_REFUSAL = 400
_FAULT = 500
_UNAUTHORIZED = 401
_TOO_MANY = 429
_OUTCOMES = {
    400: "malformed",
    401: SIGNED_OUT,
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    503: "unavailable",
}
"""Where nothing closer is known."""


class Audited:
    """Wraps the whole HTTP surface: each request leaves one row, before the first byte of its answer."""

    def __init__(self, inner: App, audit: Audit) -> None:
        self._inner = inner
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        door, operation, writes = by_path(scope["method"], scope["path"])
        trail = self._audit.begin(door, operation, writes=writes)
        open_ = True

        async def send_recorded(message: MutableMapping[str, Any]) -> None:
            nonlocal open_
            if open_ and message["type"] == "http.response.start":
                open_ = False
                await self._leave(trail, scope, message["status"])
            await send(message)

        outer = TRAIL.set(trail)
        try:
            await self._inner(scope, receive, send_recorded)
        finally:
            TRAIL.reset(outer)
            if open_:
                await self._leave(trail, scope, _FAULT)

    async def _leave(self, trail: Trail, scope: Scope, status: int) -> None:
        nobody = trail.principal is None
        beyond = status == _TOO_MANY and nobody and not trail.outcome
        if status >= _LOWEST_REFUSAL:
            if status == _UNAUTHORIZED and nobody and trail.door in {Door.MCP, Door.CONSOLE, Door.REST}:
                trail.operation = AUTHENTICATE
            trail.refused(_OUTCOMES.get(status, "internal" if status >= _FAULT else "refused"))
        trail.close(str(scope.get("state", {}).get("request_id", "")))
        if beyond:
            self._audit.leave_together(trail)
        else:
            await self._audit.leave(trail)


class Bus:
    """Serves subjects of this service; each request leaves one row, before its answer."""

    def __init__(self, server: rpc.Server, audit: Audit) -> None:
        self._server = server
        self._audit = audit

    def route(self, subject: str, shape: type[Q], serve: Callable[[Q], Awaitable[msgspec.Struct]]) -> None:
        """As `rpc.Server.route`. The operation is the last word of the subject."""
        writes, operation = subject.startswith("cmd."), subject.rpartition(".")[2]

        async def recorded(asked: Q) -> msgspec.Struct:
            trail = self._audit.begin(Door.BUS, operation, writes=writes)
            trail.acts_for(getattr(asked, "by", None) or getattr(asked, "principal", None))
            outer = TRAIL.set(trail)
            try:
                trail.asks(asked)
                reply = await serve(asked)
                trail.replied(reply)
                if trail.principal is None:
                    trail.acts_for(getattr(reply, "principal", None))
            except Refused as refused:
                trail.refused(refused.code)
                raise
            except (Unavailable, *GONE):
                trail.refused("unavailable")
                raise
            except BaseException:
                trail.refused("internal")
                raise
            finally:
                TRAIL.reset(outer)
                trail.close(rpc.current().request)
                await self._audit.leave(trail)
            return reply

        self._server.route(subject, shape, recorded)
