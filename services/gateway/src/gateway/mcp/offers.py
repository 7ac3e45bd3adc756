"""What a catalogue may offer beside tools: resources, prompts, completions, and methods of old revisions."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from contracts.enums import Scope, TokenKind
from gateway.credentials import Viewer
from gateway.mcp.protocol import JSON
from gateway.mcp.rounds import InputRequired, Round

Block: TypeAlias = dict[str, JSON]
"""A content block or an entry of a list, in the protocol's own shape."""

Read: TypeAlias = Callable[[Viewer, str, Round], Awaitable[list[Block] | InputRequired | None]]
"""The contents behind a URI; None where the viewer has nothing there, whatever the reason."""
Fill: TypeAlias = Callable[[Viewer, Mapping[str, str], Round], Awaitable[list[Block] | InputRequired]]
"""The messages of a prompt."""
Complete: TypeAlias = Callable[[Viewer, Block, str, str], Awaitable[list[str]]]
"""Values for an argument of a prompt or template that begins so."""
OldMethod: TypeAlias = Callable[[Viewer, Block], Awaitable[Block]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Texts by URI. `kinds` of credential reveal them; `scope` is needed to read, and `denial` is said without it.

    `fresh_ms`: how long a client may keep what it read. 0, as a right that was taken away ends with the next request.
    """

    read: Read
    listed: tuple[Block, ...] = ()
    templates: tuple[Block, ...] = ()
    scope: Scope = Scope.READ
    denial: str = ""
    kinds: frozenset[TokenKind] = frozenset({TokenKind.PERSON, TokenKind.CLIENT})
    fresh_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A template of messages. `arguments`: what may be given, by name; every one of `required` has to be."""

    name: str
    title: str
    description: str
    fill: Fill
    arguments: Mapping[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()

    def listed(self) -> Block:
        """Its entry in `prompts/list`."""
        arguments: list[JSON] = [
            {"name": name, "description": said, "required": name in self.required}
            for name, said in self.arguments.items()
        ]
        return {"name": self.name, "title": self.title, "description": self.description, "arguments": arguments}


@dataclass(frozen=True, slots=True, kw_only=True)
class OldMethods:
    """Methods that 2026-07-28 no longer has, and the capabilities that announce them."""

    methods: Mapping[str, OldMethod] = field(default_factory=dict)
    capabilities: Mapping[str, JSON] = field(default_factory=dict)
