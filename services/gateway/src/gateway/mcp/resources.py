"""Pages as resources: `brain://page/` and the path. The same answer as `read_page`, for clients that attach texts."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote

import msgspec

from contracts.errors import Refused
from contracts.retrieval_messages import PageView
from gateway.credentials import Viewer
from gateway.mcp import inputs, render
from gateway.mcp.offers import Block, Resources
from gateway.mcp.rounds import Round

PREFIX = "brain://page/"
MIME = "text/markdown"

Look = Callable[[Viewer, str], Awaitable[PageView]]
"""The page at a path or of a node id. Raises `Refused` where the viewer sees none."""


def uri(path: str) -> str:
    """The resource of a page."""
    return PREFIX + quote(path, safe="/")


def link(path: str, title: str) -> Block:
    """A content block that leads to a page."""
    return {"type": "resource_link", "uri": uri(path), "name": path, "title": title, "mimeType": MIME}


def links(pages: dict[str, str]) -> tuple[Block, ...]:
    """Links to pages, title by path, in that order."""
    return tuple(link(path, title) for path, title in pages.items())


def asked(address: str) -> inputs.ReadPage | None:
    """What a URI asks for, None for one of no page. `?offset=N` reads a long text on."""
    path, _, query = address.removeprefix(PREFIX).partition("?")
    if not address.startswith(PREFIX) or "#" in address:
        return None
    try:
        given: dict[str, object] = {"path": unquote(path, errors="strict")}
        if query:
            name, _, value = query.partition("=")
            given[name] = int(value)
        page = msgspec.convert(given, inputs.ReadPage)
    except (ValueError, msgspec.ValidationError):
        return None
    return None if "\0" in page.path else page


def pages(look: Look, denial: str) -> Resources:
    """The pages of the brain. None is listed: there may be many, and tools find them; the template says how to read."""

    async def read(viewer: Viewer, address: str, _client: Round) -> list[Block] | None:
        page = asked(address)
        if page is None:
            return None
        try:
            view = await look(viewer, page.path)
        except Refused:
            return None
        text, following = render.part(view, page.offset)
        return [{"uri": address, "mimeType": MIME, "text": render.page(view, text, following)}]

    template: Block = {
        "uriTemplate": PREFIX + "{+path}",
        "name": "page",
        "title": "A page of the brain",
        "description": "A page by path or node id: its trust label, owner, receipt and text. Add ?offset=N to read on.",
        "mimeType": MIME,
    }
    return Resources(read=read, templates=(template,), denial=denial)
