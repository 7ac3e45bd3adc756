"""What the suite is pointed at: the dispatcher alone on loopback, or a gateway behind a proxy that adds the bearer."""

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2

from access.records import Member, Token
from access.rule import Caller
from chassis import http
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.ids import PrincipalId, TokenId
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.exchange import echoed, exchange
from gateway.mcp.protocol import Headers

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]

PATH = "/mcp"
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding", "date", "server"}


def a_viewer() -> Viewer:
    """Somebody who may call everything in the fixture."""
    principal = PrincipalId(uuid4())
    member = Member(principal, PrincipalKind.PERSON, "suite", Role.MEMBER, Tier.EMPLOYEE, active=True)
    held = frozenset(Scope)
    token = Token(TokenId(uuid4()), principal, TokenKind.CLIENT, Tier.EMPLOYEE, held, "", None)
    return Viewer(token, member, Caller(principal, frozenset({principal}), Tier.EMPLOYEE, scopes=held), 0)


async def body_of(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def bare(offered: Catalogue) -> App:
    """The dispatcher with nothing around it."""
    viewer = a_viewer()

    async def serve(scope: Event, receive: Receive, send: Send) -> None:
        headers = Headers.of(list(scope["headers"]))
        pairs = {"mcp-protocol-version": echoed(headers)}
        if headers.all("host") != [f"localhost:{scope['server'][1]}"]:
            status, body = 403, b""
        elif scope["method"] == "POST":
            given = await exchange(await body_of(receive), headers, viewer, offered, uuid4().hex)
            status, body, pairs = given.status, given.body, {**pairs, **given.headers}
        else:
            status, body, pairs = 405, b"", {**pairs, "allow": "POST"}
        if body:
            pairs["content-type"] = "application/json"
        raw = [(name.encode(), value.encode()) for name, value in pairs.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    return serve


def bearing(address: str, secret: str, client: httpx2.AsyncClient) -> App:
    """A proxy that adds the bearer. It says its target's name where it was called by its own, and no other."""
    name = httpx2.URL(address).netloc.decode()

    async def serve(scope: Event, receive: Receive, send: Send) -> None:
        here = f"localhost:{scope['server'][1]}"
        given = [(key.decode(), value.decode("latin-1")) for key, value in scope["headers"]]
        kept = [(key, value.strip(" \t").replace(here, name)) for key, value in given if key not in _HOP]
        answer = await client.request(
            scope["method"],
            address,
            headers=[*kept, ("authorization", f"Bearer {secret}")],
            content=await body_of(receive),
        )
        raw = [(key, value) for key, value in answer.headers.raw if key.decode().lower() not in _HOP]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": raw})
        await send({"type": "http.response.body", "body": answer.content})

    return serve


@asynccontextmanager
async def serving(app: App) -> AsyncIterator[str]:
    """Serve on loopback; the address of the endpoint."""
    async with http.serve(app, 0) as port:
        yield f"http://localhost:{port}{PATH}"
