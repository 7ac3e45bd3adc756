"""`/api/mcp`: the bearer first, then the method and the type, then the exchange; one shape of error for all of them."""

from dataclasses import replace

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Send
from litestar.types import Scope as Connection

from chassis import log, rpc
from chassis.postgres import GONE
from contracts.enums import Scope, TokenKind
from contracts.errors import Unavailable
from gateway import one_time
from gateway.audit import trail
from gateway.credentials import Credentials, Viewer
from gateway.http.edge import body_of
from gateway.mcp import words
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.exchange import echoed, exchange
from gateway.mcp.protocol import BODY_LIMIT, INTERNAL_ERROR, UNAVAILABLE, Answer, Headers, RpcError, failure
from gateway.oauth import discovery

PATH = discovery.ENDPOINT
_DEAD = "This token is unknown, expired or revoked. Issue another with brain token issue, or connect with a browser."
_DEAD_ACCESS = "This access token is unknown, expired or revoked. Refresh it, or connect again."
_LOG = log.get(part="mcp")


def endpoint(credentials: Credentials, catalogue: Catalogue, public_url: str) -> ASGIRouteHandler:
    """The route, for Litestar. `public_url`: where callers without a token, or without a scope, learn to get one."""
    resource = discovery.resource(public_url)

    @asgi(PATH, copy_scope=False)
    async def serve(scope: Connection, receive: Receive, send: Send) -> None:
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

    async def _answer(scope: Connection, receive: Receive, headers: Headers, request_id: str) -> Answer:
        viewer = await _viewer(headers)
        if viewer is None:
            error = RpcError(401, words.UNAUTHORIZED)
            challenge = discovery.challenge(public_url, (Scope.READ,), *_dead(headers))
            return Answer(401, failure(None, error, request_id), {"www-authenticate": challenge})
        trail.current().identified(viewer)
        if scope.get("method") != "POST":
            body = failure(None, RpcError(405, "Send JSON-RPC messages with POST."), request_id)
            return Answer(405, body, {"allow": "POST"})
        if not _is_json(headers):
            return Answer(415, failure(None, RpcError(415, words.NOT_JSON), request_id), {"accept": "application/json"})
        rpc.enter(rpc.Call(request_id, str(viewer.member.id)))
        answer = await exchange(await body_of(receive, BODY_LIMIT), headers, viewer, catalogue, request_id)
        if answer.needs is None:
            return answer
        wider = tuple(scope for scope in Scope if scope in viewer.caller.scopes or scope is answer.needs)
        challenge = discovery.challenge(public_url, wider, "insufficient_scope")
        return replace(answer, headers={**answer.headers, "www-authenticate": challenge})

    async def _viewer(headers: Headers) -> Viewer | None:
        found = await bearer(credentials, headers, resource)
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


def _dead(headers: Headers) -> tuple[str, str]:
    """What is said about a token that was presented, by its shape alone: nothing tells one dead token from another."""
    values = headers.all("authorization")
    access = any(one_time.ACCESS_PREFIX in value for value in values)
    return ("invalid_token", _DEAD_ACCESS if access else _DEAD) if values else ("", "")


async def bearer(credentials: Credentials, headers: Headers, audience: str = "") -> Viewer | None:
    """The viewer behind the one `Authorization: Bearer` header, None for any other."""
    values = headers.all("authorization")
    if len(values) != 1:
        return None
    scheme, _, secret = values[0].partition(" ")
    return await credentials.resolve(secret.strip(), audience) if scheme.lower() == "bearer" else None
