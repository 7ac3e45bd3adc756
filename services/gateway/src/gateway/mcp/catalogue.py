"""What a tool is, and what a credential reveals. A tool is defined once; callers see a projection."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import msgspec

from contracts.enums import Scope, TokenKind
from gateway import texts
from gateway.audit import trail
from gateway.credentials import Viewer
from gateway.limits.permits import Take, freely
from gateway.limits.rates import Limit
from gateway.mcp.offers import Block, Complete, OldMethods, Prompt, Resources
from gateway.mcp.protocol import JSON
from gateway.mcp.rounds import InputRequired, Round, Seal
from gateway.misfits import allowed

I = TypeVar("I", bound=msgspec.Struct)  # noqa: E741 - the input of a tool


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gives: text for any client, the same structured, or a text that says why not.

    `blocks` of content come after the text: links, images, sounds, resources.
    """

    text: str
    structured: dict[str, JSON] | None = None
    failed: bool = False
    blocks: tuple[Block, ...] = ()

    def content(self) -> list[JSON]:
        """Its content. There is always some."""
        text: list[JSON] = [{"type": "text", "text": self.text}] if self.text or not self.blocks else []
        return [*text, *self.blocks]


Run: TypeAlias = Callable[[Viewer, dict[str, JSON], Round], Awaitable[ToolResult | InputRequired]]


def taking(shape: type[I], run: Callable[[Viewer, I], Awaitable[ToolResult]]) -> Run:
    """Run a tool on arguments that fit its shape; anything else is the model's mistake, and it is told where.

    Running raises `Refused` for a text that cannot be kept, and what `run` raises.
    """

    async def convert(viewer: Viewer, arguments: dict[str, JSON], _round: Round) -> ToolResult:
        try:
            asked = msgspec.convert(arguments, shape)
        except msgspec.ValidationError as error:
            trail.current().refused("invalid_arguments")
            words = allowed(error, shape)
            return ToolResult(f"Invalid arguments: {error}{words and f'. It is one of {words}.'}", failed=True)
        texts.check(asked)
        return await run(viewer, asked)

    return convert


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One operation. `kinds` reveal it; `scope` is needed to call it, and `denial` is said without it.

    `rate`: the limit that its calls count towards.
    `schema`: of its arguments. An argument whose schema has `x-mcp-header` is mirrored into a header of that name.
    """

    name: str
    title: str
    description: str
    schema: dict[str, JSON]
    run: Run
    scope: Scope
    denial: str
    rate: Limit = Limit.READ
    kinds: frozenset[TokenKind] = frozenset({TokenKind.PERSON, TokenKind.CLIENT})
    read_only: bool = True

    def listed(self) -> dict[str, JSON]:
        """Its entry in `tools/list`. Nothing here deletes, and all of it stays inside the brain."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": False,
                "idempotentHint": self.read_only,
                "openWorldHint": False,
            },
        }

    def mirrored(self) -> dict[str, str]:
        """Header by argument, for those that clients of 2026-07-28 mirror."""
        properties = self.schema.get("properties")
        each = properties.items() if isinstance(properties, dict) else ()
        return {
            name: f"Mcp-Param-{said['x-mcp-header']}"
            for name, said in each
            if isinstance(said, dict) and "x-mcp-header" in said
        }

    async def call(self, viewer: Viewer, arguments: dict[str, JSON], client: Round) -> ToolResult | InputRequired:
        """Run it, or say which scope is missing."""
        if self.scope not in viewer.caller.scopes:
            return ToolResult(self.denial, failed=True)
        return await self.run(viewer, arguments, client)


@dataclass(frozen=True, slots=True)
class Revealed:
    """A tool that a viewer has, with the headers that its arguments are mirrored into."""

    tool: Tool
    mirrored: Mapping[str, str]


class Catalogue:
    """Everything that is offered, in the order in which it is listed.

    `seal`: for calls that keep a state. `take`: where each message gets its permit.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        resources: Resources | None = None,
        prompts: Iterable[Prompt] = (),
        complete: Complete | None = None,
        old: OldMethods | None = None,
        seal: Seal | None = None,
        take: Take = freely,
    ) -> None:
        self._tools = {tool.name: Revealed(tool, tool.mirrored()) for tool in tools}
        self._listed = {name: each.tool.listed() for name, each in self._tools.items()}
        self._resources = resources
        self.prompts = {prompt.name: prompt for prompt in prompts}
        self.complete = complete
        self.old = old or OldMethods()
        self.seal = seal
        self.take = take

    def visible(self, viewer: Viewer) -> list[dict[str, JSON]]:
        """The entries for this viewer."""
        kind = viewer.token.kind
        return [self._listed[name] for name, each in self._tools.items() if kind in each.tool.kinds]

    def find(self, viewer: Viewer, name: str) -> Revealed | None:
        """The tool of that name, None where this viewer has none: absent and hidden are the same."""
        found = self._tools.get(name)
        return found if found is not None and viewer.token.kind in found.tool.kinds else None

    def resources(self, viewer: Viewer) -> Resources | None:
        """The resources for this viewer."""
        offered = self._resources
        return offered if offered is not None and viewer.token.kind in offered.kinds else None

    def capabilities(self, viewer: Viewer, *, modern: bool) -> dict[str, JSON]:
        """What this viewer is told that there is: nothing that would then not be answered. Nothing here notifies."""
        told: dict[str, JSON] = {"tools": {}}
        if self.resources(viewer) is not None:
            told["resources"] = {}
        if self.prompts:
            told["prompts"] = {}
        if self.complete is not None:
            told["completions"] = {}
        return told if modern else {**told, **self.old.capabilities}
