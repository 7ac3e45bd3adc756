"""The authorization server on HTTP: which path takes which method, bounded bodies, and one shape for every fault."""

from collections.abc import Awaitable, Callable

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from chassis import log
from chassis.postgres import GONE
from contracts.errors import Refused, Unavailable
from gateway.audit import trail
from gateway.http.edge import body_of
from gateway.mcp.protocol import Headers
from gateway.oauth.consenting import Consenting
from gateway.oauth.discovery import AUTHORIZE, CONSENT, REGISTER, REVOKE, TOKEN
from gateway.oauth.endpoints import Endpoints
from gateway.oauth.pages import Pages
from gateway.oauth.wire import BODY_LIMIT, Answer, Asked, failed

Serve = Callable[[Asked], Awaitable[Answer]]
_LOG = log.get(part="oauth")
_PAGES = frozenset({AUTHORIZE, CONSENT})
"""What a person looks at: faults are told there in words."""
_FAULT = Refused("server_error", "Something went wrong here.", "", "Try again; the response names its request.")


def routes(endpoints: Endpoints, consenting: Consenting, pages: Pages) -> list[ASGIRouteHandler]:
    """Every path of the authorization server, at the root of the origin."""
    served: dict[tuple[str, str], Serve] = {
        ("GET", AUTHORIZE): consenting.authorize,
        ("GET", CONSENT): consenting.consent,
        ("POST", CONSENT): consenting.decide,
        ("POST", REGISTER): endpoints.register,
        ("POST", TOKEN): endpoints.token,
        ("POST", REVOKE): endpoints.revoke,
    }
    for path, answer in {**endpoints.documents, **pages.static}.items():
        served["GET", path] = served["HEAD", path] = _always(answer)
    methods: dict[str, list[str]] = {}
    for method, path in served:
        methods.setdefault(path, []).append(method)

    @asgi(list(methods), name="oauth", copy_scope=False)
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"].rstrip("/"), str(scope.get("method"))
        headers = Headers.of(list(scope["headers"]))
        basic = bool(headers.all("authorization"))
        called = served.get((method, path))
        try:
            if called is None:
                answer = _not_allowed(methods[path])
            else:
                body = await body_of(receive, BODY_LIMIT)
                query = bytes(scope.get("query_string", b""))
                answer = await called(Asked(method, path, query, headers, body)) if len(body) <= BODY_LIMIT else _LARGE
        except (Refused, Unavailable) as error:
            trail.current().stopped(error)
            answer = failed(error, basic=basic)
        except GONE as error:
            _LOG.warning("database_gone", error=type(error).__qualname__)
            answer = failed(Unavailable("the database does not answer"))
        except Exception:  # noqa: BLE001 - whatever went wrong, the caller gets no detail of it
            _LOG.exception("request_failed")
            answer = failed(_FAULT)
        if path in _PAGES and answer.headers.get("content-type") == "application/json":
            answer = pages.failed(answer)
        raw = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
        if "cache-control" not in answer.headers:
            raw.append((b"cache-control", b"no-store"))
        raw.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    return [serve]


def _always(answer: Answer) -> Serve:
    async def serve(_asked: Asked) -> Answer:
        return answer

    return serve


def _not_allowed(methods: list[str]) -> Answer:
    told = failed(Refused("invalid_request", f"This address takes {' and '.join(methods)} only."))
    return Answer(405, told.body, {**told.headers, "allow": ", ".join(methods)})


_TOO_LARGE = failed(Refused("invalid_request", f"The request is larger than {BODY_LIMIT} bytes."))
_LARGE = Answer(413, _TOO_LARGE.body, _TOO_LARGE.headers)
