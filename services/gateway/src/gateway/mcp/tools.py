"""The tools: what each says about itself, asks of the services behind, and answers."""

from collections.abc import Callable
from typing import cast
from uuid import UUID

import msgspec
from nats.aio.client import Client

from contracts import retrieval_messages
from contracts.enums import ProposalKind, Scope
from contracts.errors import Refused
from contracts.ids import CommandId
from gateway.audit import trail
from gateway.behind import Behind, registered
from gateway.credentials import Viewer
from gateway.limits.permits import Take, freely
from gateway.limits.rates import Limit
from gateway.mcp import agent_tools, inputs, render, resources, words
from gateway.mcp.catalogue import Catalogue, Tool, ToolResult, taking
from gateway.mcp.protocol import JSON
from gateway.mcp.schema import input_schema
from gateway.rest.agents import Agents
from gateway.seen import Seen

_READ_DENIAL = "Forbidden: this token is missing the required brain:read scope."


class Tools:
    """Answers viewers from what the services behind say. `agents`: the operations of agents, for their other door."""

    def __init__(self, nc: Client, seen: Seen, new_id: Callable[[], UUID], take: Take = freely) -> None:
        self._behind = Behind(nc, seen)
        self._take = take
        self._new_id = new_id
        self.agents = Agents(self._behind, new_id)

    def catalogue(self) -> Catalogue:
        """What `/api/mcp` offers: tools, in the order in which they are listed, and pages as resources."""
        tools = [self._find_page(), self._read_page(), self._search(), self._write_inbox()]
        tools += agent_tools.tools(self.agents.operations())
        return Catalogue(tools, resources=resources.pages(self._page, _READ_DENIAL), take=self._take)

    def _find_page(self) -> Tool:
        return Tool(
            name="find_page",
            title="Find a page",
            description="Find pages by title, path or words of either. Returns node ids, titles, paths and trust"
            " labels.",
            schema=input_schema(inputs.FindPage),
            run=taking(inputs.FindPage, self.find_page),
            scope=Scope.READ,
            denial=_READ_DENIAL,
        )

    def _read_page(self) -> Tool:
        return Tool(
            name="read_page",
            title="Read a page",
            description="Read one page by path or node id: its text, owner, trust label, review dates, relations to"
            " other pages you may see, figures, and the receipt of its approval.",
            schema=input_schema(inputs.ReadPage),
            run=taking(inputs.ReadPage, self.read_page),
            scope=Scope.READ,
            denial=_READ_DENIAL,
        )

    def _search(self) -> Tool:
        return Tool(
            name="search",
            title="Search passages",
            description="Search the approved pages that you may see, by meaning and by words. Returns passages with"
            " node ids, trust labels and receipts.",
            schema=input_schema(inputs.Search),
            run=taking(inputs.Search, self.search),
            rate=Limit.SEARCH,
            scope=Scope.READ,
            denial=_READ_DENIAL,
        )

    def _write_inbox(self) -> Tool:
        return Tool(
            name="write_inbox",
            title="Propose to the inbox",
            description="Register an observation, correction, proposal or work output in the approval inbox. It never"
            " changes a page: a person reads exactly what you sent and decides. Needs the scope brain:propose.",
            schema=input_schema(inputs.WriteInbox),
            run=taking(inputs.WriteInbox, self.write_inbox),
            rate=Limit.PROPOSE,
            scope=Scope.PROPOSE,
            denial=words.FORBIDDEN_PROPOSE,
            read_only=False,
        )

    async def find_page(self, viewer: Viewer, asked: inputs.FindPage) -> ToolResult:
        """Pages by title, path or words of either."""
        found = await self._behind.titles(viewer, asked.query, asked.limit)
        links = resources.links({page.path: page.title for page in found.pages})
        return ToolResult(render.pages(found), _structured(found), blocks=links)

    async def search(self, viewer: Viewer, asked: inputs.Search) -> ToolResult:
        """Passages for a query."""
        found = await self._behind.passages(viewer, asked.query, asked.limit)
        links = resources.links({hit.path: hit.title for hit in found.hits})
        return ToolResult(render.hits(found), _structured(found), blocks=links)

    async def read_page(self, viewer: Viewer, asked: inputs.ReadPage) -> ToolResult:
        """One page. A page that the viewer may not see is answered like one that does not exist."""
        try:
            view = await self._page(viewer, asked.path)
        except Refused as refused:
            if refused.code == "no_such_page" and asked.path.startswith("n_"):
                return ToolResult(words.UNKNOWN_NODE.format(id=asked.path), failed=True)
            raise
        text, following = render.part(view, asked.offset)
        structured = _structured(msgspec.structs.replace(view, text=text))
        structured["next_offset"] = following
        told = render.page(view, text, following)
        return ToolResult(told, structured, blocks=(resources.link(view.path, view.title),))

    async def _page(self, viewer: Viewer, path: str) -> retrieval_messages.PageView:
        left = trail.current()
        try:
            view = await self._behind.page(viewer, path)
        except Refused as refused:
            left.refused(refused.code)
            raise
        left.saw_page(view)
        return view

    async def write_inbox(self, viewer: Viewer, asked: inputs.WriteInbox) -> ToolResult:
        """A text for the inbox, and the receipt."""
        command, kind = CommandId(self._new_id()), ProposalKind(asked.kind)
        try:
            filed = await self._behind.file(viewer, command, kind, asked.title, asked.body, asked.related or ())
        except Refused as refused:
            trail.current().refused(refused.code)
            told = " ".join(part for part in (refused.what, "The proposal was NOT registered.", refused.remedy) if part)
            return ToolResult(told, failed=True)
        receipt: dict[str, JSON] = {
            "inboxId": str(filed.proposal),
            "kind": asked.kind,
            "status": "pending",
            "position": filed.position,
            "archived": filed.archived,
        }
        return ToolResult(registered(filed.proposal, asked.kind), receipt)


def _structured(found: msgspec.Struct) -> dict[str, JSON]:
    return cast("dict[str, JSON]", msgspec.to_builtins(found))
