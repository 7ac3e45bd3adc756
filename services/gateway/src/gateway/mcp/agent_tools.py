"""The operations of agents as tools: the same Structs as over REST, for tokens of kind agent alone."""

from collections.abc import Iterable
from typing import cast

import msgspec

from contracts.enums import TokenKind
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Tool, ToolResult, taking
from gateway.mcp.protocol import JSON
from gateway.mcp.schema import input_schema
from gateway.rest.agents import Operation


def tools(operations: Iterable[Operation]) -> list[Tool]:
    """Each operation as a tool."""
    return [_tool(operation) for operation in operations]


def _tool(operation: Operation) -> Tool:
    async def run(viewer: Viewer, asked: msgspec.Struct) -> ToolResult:
        answer = await operation.serve(viewer, asked)
        return ToolResult(operation.told(answer), cast("dict[str, JSON]", msgspec.to_builtins(answer)))

    return Tool(
        name=operation.name,
        title=operation.title,
        description=operation.description,
        schema=input_schema(operation.asked),
        run=taking(operation.asked, run),
        rate=operation.rate,
        scope=operation.scope,
        denial=operation.denial,
        kinds=frozenset({TokenKind.AGENT}),
        read_only=operation.read_only,
    )
