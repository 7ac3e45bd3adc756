"""`/api/mcp`: the bearer first, then the method and the type, then the exchange; one shape of error for all of them."""

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from chassis import log, rpc
from chassis.postgres import GONE
from contracts.enums import TokenKind
from contracts.errors import Unavailable
from gateway.credentials import Credentials, Viewer
from gateway.mcp import words
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.exchange import echoed, exchange
from gateway.mcp.protocol import BODY_LIMIT, INTERNAL_ERROR, UNAVAILABLE, Answer, Headers, RpcError, failure

PATH = "/api/mcp"
_CHALLENGE = 'Bearer scope="brain:read"'
_LOG = log.get(part="mcp")


def endpoint(credentials: Credentials, catalogue: Catalogue) -> ASGIRouteHandler:
    """The route, for Litestar."""

    @asgi(PATH, copy_scope=False)
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers.of(list(scope["headers"]))
        request_id = str(scope["state"]["request_id"])
        try:
            answer = await _answer(scope, receive, headers, request_id)
        except (Unavailable, *GONE) as error:
            after = error.retry_after if isinstance(error, Unavailable) else 1
            told = f"Temporarily unavailable. Try again in {after} s."
            body = failure(None, RpcError(UNAVAILABLE, told), request_id)
            answer = Answer(503, body, {"retry-after": str(after)})
        except Exception:  # noqa: BLE001 - whatever went wrong, the caller gets the request's id and no detail
            _LOG.exception("request_failed")
            answer = Answer(500, failure(None, RpcError(INTERNAL_ERROR, "Internal error"), request_id))
        pairs = {
            "content-type": "application/json",
            "cache-control": "no-store",
            "mcp-protocol-version": echoed(headers),
            **answer.headers,
        }
        raw = [
            (name.encode(), value.encode()) for name, value in pairs.items() if answer.body or name != "content-type"
        ]
        raw.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    async def _answer(scope: Scope, receive: Receive, headers: Headers, request_id: str) -> Answer:
        viewer = await _viewer(headers)
        if viewer is None:
            error = RpcError(401, words.UNAUTHORIZED)
            presented = ', error="invalid_token"' if headers.all("authorization") else ""
            return Answer(401, failure(None, error, request_id), {"www-authenticate": _CHALLENGE + presented})
        if scope.get("method") != "POST":
            body = failure(None, RpcError(405, "Send JSON-RPC messages with POST."), request_id)
            return Answer(405, body, {"allow": "POST"})
        if not _is_json(headers):
            return Answer(415, failure(None, RpcError(415, words.NOT_JSON), request_id), {"accept": "application/json"})
        rpc.enter(rpc.Call(request_id, str(viewer.member.id)))
        return await exchange(await _body(receive), headers, viewer, catalogue, request_id)

    async def _viewer(headers: Headers) -> Viewer | None:
        found = await bearer(credentials, headers)
        return found if found is not None and found.token.kind is not TokenKind.SIGNIN else None

    return serve


def _is_json(headers: Headers) -> bool:
    """Whether the one `Content-Type` is JSON in UTF-8; it may leave the charset out."""
    values = headers.all("content-type")
    if len(values) != 1:
        return False
    kind, *parameters = (part.strip().lower() for part in values[0].split(";"))
    named = [tuple(parameter.replace('"', "").split("=")) for parameter in parameters]
    return kind == "application/json" and all(each == ("charset", "utf-8") for each in named if each[0] == "charset")


async def bearer(credentials: Credentials, headers: Headers) -> Viewer | None:
    """The viewer behind the one `Authorization: Bearer` header, None for any other."""
    values = headers.all("authorization")
    if len(values) != 1:
        return None
    scheme, _, secret = values[0].partition(" ")
    return await credentials.resolve(secret.strip()) if scheme.lower() == "bearer" else None


async def _body(receive: Receive) -> bytes:
    """The request's body, cut just beyond the limit so that a larger one is refused without being kept."""
    parts, size, more = [], 0, True
    while more and size <= BODY_LIMIT:
        message = await receive()
        if message["type"] != "http.request":
            break
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        more = message.get("more_body", False)
    return b"".join(parts)
