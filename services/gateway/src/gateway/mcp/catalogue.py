"""What a tool is, and which tools a credential reveals. A tool is defined once; callers see a projection."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from contracts.enums import Scope, TokenKind
from gateway import texts
from gateway.credentials import Viewer
from gateway.mcp.protocol import JSON
from gateway.mcp.schema import input_schema

I = TypeVar("I", bound=msgspec.Struct)  # noqa: E741 - the input of a tool


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gives: text for any client, the same structured, or a text that says why not."""

    text: str
    structured: dict[str, JSON] | None = None
    failed: bool = False


Run = Callable[[Viewer, dict[str, JSON]], Awaitable[ToolResult]]


def taking(shape: type[I], run: Callable[[Viewer, I], Awaitable[ToolResult]]) -> Run:
    """Run a tool on arguments that fit its shape; anything else is the model's mistake, and it is told where.

    Running raises `Refused` for a text that cannot be kept, and what `run` raises.
    """

    async def convert(viewer: Viewer, arguments: dict[str, JSON]) -> ToolResult:
        try:
            asked = msgspec.convert(arguments, shape)
        except msgspec.ValidationError as error:
            return ToolResult(f"Invalid arguments: {error}", failed=True)
        texts.check(asked)
        return await run(viewer, asked)

    return convert


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One operation. `kinds` reveal it; `scope` is needed to call it, and `denial` is said without it."""

    name: str
    title: str
    description: str
    shape: type[msgspec.Struct]
    run: Run
    scope: Scope
    denial: str
    kinds: frozenset[TokenKind] = frozenset({TokenKind.PERSON, TokenKind.CLIENT})
    read_only: bool = True

    def listed(self) -> dict[str, JSON]:
        """Its entry in `tools/list`. Nothing here deletes, and all of it stays inside the brain."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.shape),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": False,
                "idempotentHint": self.read_only,
                "openWorldHint": False,
            },
        }

    async def call(self, viewer: Viewer, arguments: dict[str, JSON]) -> ToolResult:
        """Run it, or say which scope is missing."""
        if self.scope not in viewer.caller.scopes:
            return ToolResult(self.denial, failed=True)
        return await self.run(viewer, arguments)


class Catalogue:
    """All tools, in the order in which they are listed."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)
        self._listed = {tool.name: tool.listed() for tool in self._tools}

    def visible(self, viewer: Viewer) -> list[dict[str, JSON]]:
        """The entries for this viewer."""
        return [self._listed[tool.name] for tool in self._tools if viewer.token.kind in tool.kinds]

    def find(self, viewer: Viewer, name: str) -> Tool | None:
        """The tool of that name, None where this viewer has none: absent and hidden are the same."""
        return next((tool for tool in self._tools if tool.name == name and viewer.token.kind in tool.kinds), None)
