"""The CPU that one tool call costs in the dispatcher, beside the official SDK's server on the same bytes."""

import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from bench.table import Line
from conformance import targets
from contracts.enums import Scope
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue, Tool, ToolResult
from gateway.mcp.protocol import JSON, LEGACY, MODERN
from gateway.mcp.rounds import Round
from mcp_wire import written

ROUNDS, CALLS = 5, 150
TEXT = "A page of a handbook says what somebody approved, and when it is looked at again. " * 40
STRUCTURED: dict[str, JSON] = {"path": "topics/ceiling.md", "trust": "canon_verified", "text": TEXT, "position": 9}
SCHEMA: dict[str, JSON] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NAME = "read_page"


def ours() -> targets.App:
    """The dispatcher in the thinnest shell that there is."""

    async def run(_viewer: Viewer, _arguments: dict[str, JSON], _client: Round) -> ToolResult:
        return ToolResult(TEXT, STRUCTURED)

    tool = Tool(name=NAME, title=NAME, description=NAME, schema=SCHEMA, run=run, scope=Scope.READ, denial="")
    return targets.bare(Catalogue([tool]))


@asynccontextmanager
async def theirs() -> AsyncIterator[targets.App]:
    """The official server without sessions, answering in JSON, which is as little as it does."""

    async def call(_context: ServerRequestContext[Any], _params: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=TEXT)], structured_content=STRUCTURED)

    app = Server("beside", on_call_tool=call).streamable_http_app(json_response=True, stateless_http=True)
    async with app.router.lifespan_context(app):
        yield app


async def once(app: Callable[..., Awaitable[None]], body: bytes, headers: Mapping[str, str]) -> bytes:
    """One request to an ASGI application; its answer's body."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: targets.Event = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": targets.PATH,
        "raw_path": targets.PATH.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": raw,
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 1),
        "state": {},
    }
    parts: list[bytes] = []

    async def receive() -> targets.Event:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(event: targets.Event) -> None:
        parts.append(event.get("body", b""))

    await app(scope, receive, send)
    return b"".join(parts)


async def microseconds(app: targets.App, revision: str) -> float:
    """CPU time of this process for one call, in the best of the rounds."""
    call: dict[str, JSON] = {"name": NAME, "arguments": {"path": "topics/ceiling.md"}}
    accept = {"accept": "application/json, text/event-stream", "host": "localhost:1"}
    body, headers = written("tools/call", call, revision, {}, **accept)
    if TEXT.encode() not in await once(app, body, headers):
        raise SystemExit("a tool call was not answered")
    best = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        for _ in range(CALLS):
            await once(app, body, headers)
        best = min(best, (time.process_time() - began) / CALLS)
    return best * 1e6


async def dispatching() -> list[Line]:
    """One line a wire."""
    lines = []
    for wire, revision in (("revision 2026-07-28", MODERN), ("earlier revisions", LEGACY[0])):
        mine = await microseconds(ours(), revision)
        async with theirs() as app:
            beside = await microseconds(app, revision)
        lines.append(
            Line(
                f"CPU of a tool call in the dispatcher, {wire}",
                f"{mine:.0f} µs",
                f"the official SDK's server: {beside:.0f} µs",
                beside / mine,
                4,
                at_least=True,
            )
        )
    return lines
