"""How a JSON route is served: sign-in, request, reply, and every refusal in one shape."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from chassis import log, rpc
from chassis.postgres import GONE
from contracts.enums import TokenKind
from contracts.errors import Refused, Unavailable
from gateway import texts
from gateway.audit import trail
from gateway.credentials import Credentials, Viewer
from gateway.http.mcp_endpoint import bearer
from gateway.http.problems import problem
from gateway.limits.permits import Take
from gateway.limits.rates import Limit, Throttled
from gateway.mcp.protocol import Headers
from gateway.misfits import allowed

Asked = Request[Any, Any, Any]  # Litestar's own three parameters: user, auth and state, none of which we use
Q = TypeVar("Q", bound=msgspec.Struct)
R = TypeVar("R")
_LOG = log.get(part="http")


class Nothing(msgspec.Struct, frozen=True):
    """The request of a route that asks for nothing more."""


class Routes:
    """Makes handlers that act for a signed-in person."""

    def __init__(self, credentials: Credentials, take: Take) -> None:
        self._credentials = credentials
        self._take = take

    def reads(
        self, path: str, shape: type[Q], serve: Callable[[Viewer, Q], Awaitable[msgspec.Struct]]
    ) -> HTTPRouteHandler:
        """A GET whose query is the request."""

        async def handle(request: Asked) -> Response[bytes]:
            return await self._served(request, lambda: _from_query(request, shape), serve)

        return get(path, name=path)(handle)

    def lines(
        self, path: str, shape: type[Q], serve: Callable[[Viewer, Q], Awaitable[Sequence[msgspec.Struct]]]
    ) -> HTTPRouteHandler:
        """A GET whose answer is JSON lines."""

        async def handle(request: Asked) -> Response[bytes]:
            return await self._served(
                request, lambda: _from_query(request, shape), serve, _ENCODER.encode_lines, "application/x-ndjson"
            )

        return get(path, name=path)(handle)

    def writes(
        self, path: str, shape: type[Q], serve: Callable[[Viewer, Q], Awaitable[msgspec.Struct]]
    ) -> HTTPRouteHandler:
        """A POST whose body is the request."""

        async def handle(request: Asked) -> Response[bytes]:
            body = await request.body()
            return await self._served(request, lambda: _from_body(body, shape), serve)

        return post(path, name=path, status_code=200)(handle)

    async def _served(
        self,
        request: Asked,
        read: Callable[[], Q],
        serve: Callable[[Viewer, Q], Awaitable[R]],
        encode: Callable[[R], bytes] = msgspec.json.encode,
        media: str = "application/json",
    ) -> Response[bytes]:
        request_id, left = str(request.scope["state"]["request_id"]), trail.current()
        try:
            viewer = await self._signed_in(request)
            left.identified(viewer)
            await self._take(viewer, Limit.CONSOLE, None)
            rpc.enter(rpc.Call(request_id, str(viewer.member.id)))
            asked = read()
            texts.check(asked)
            left.asks(asked)
            reply = await serve(viewer, asked)
        except (Refused, Unavailable, Throttled) as error:
            return refusal(error, request_id)
        except GONE as error:
            _LOG.warning("database_gone", error=type(error).__qualname__)
            return refusal(Unavailable("the database does not answer"), request_id)
        left.replied(reply)
        return Response(encode(reply), media_type=media, headers=_NO_STORE)

    async def _signed_in(self, request: Asked) -> Viewer:
        viewer = await bearer(self._credentials, Headers.of(list(request.scope["headers"])))
        if viewer is None or viewer.token.kind is not TokenKind.SIGNIN:
            raise Refused("not_signed_in", "This request carries no living sign-in.", "authorization", "Sign in again.")
        return viewer


def refusal(error: Refused | Unavailable | Throttled, request_id: str) -> Response[bytes]:
    """The response for a refusal."""
    trail.current().stopped(error)
    status, body, extra = problem(error, request_id)
    if status == 401:  # noqa: PLR2004 - HTTP's own number
        extra = {**extra, "www-authenticate": "Bearer"}
    return Response(body, status_code=status, media_type="application/json", headers={**_NO_STORE, **extra})


def on_framework_error(request: Asked, error: Exception) -> Response[bytes]:
    """What the framework itself refuses (no such route, a method, a size), and faults of ours, in the same shape."""
    request_id = str(request.scope.get("state", {}).get("request_id", ""))
    if isinstance(error, HTTPException) and error.status_code < 500:  # noqa: PLR2004 - HTTP's own number
        code = {404: "no_such_route", 413: "too_large"}.get(error.status_code, "malformed_request")
        told = {404: "There is nothing at this address.", 413: "The request is too large."}
        what = told.get(error.status_code, "The request is not one that this address takes.")
        response = refusal(Refused(code, what), request_id)
        response.status_code = error.status_code
        return response
    _LOG.error("request_failed", exc_info=error)
    return refusal(rpc.internal(request_id), request_id)


_NO_STORE = {"cache-control": "no-store"}
_ENCODER = msgspec.json.Encoder()


def _from_body(body: bytes, shape: type[Q]) -> Q:
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        raise misfit(error, shape) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused("malformed_json", "The request's body is not JSON.", "body", "Send one JSON object.") from error


def _from_query(request: Asked, shape: type[Q]) -> Q:
    try:
        return msgspec.convert(dict(request.query_params), shape, strict=False)
    except msgspec.ValidationError as error:
        raise misfit(error, shape) from error


def misfit(error: msgspec.ValidationError, shape: type[msgspec.Struct]) -> Refused:
    """Names the field, and what was expected there, without the value that was sent."""
    expected, found, place = str(error).rpartition(" - at `$.")
    where = place.rstrip("`") if found else "body"
    what = "A field does not have the expected shape."
    if expected.startswith(("Expected", "Object missing")):
        what = f"{expected}."
    elif words := allowed(error, shape):
        what = f"It is one of {words}."
    return Refused("malformed", what, where, "Correct this field and send the request again.")
