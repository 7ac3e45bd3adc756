"""What a message of MCP leaves: its operation when it is read, its outcome when it is answered."""

from gateway.audit import operations, trail
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.messages import Message
from gateway.mcp.protocol import JSON, RpcError

MISSING_SCOPE = "missing_scope"
_CODES = {
    -32700: "malformed_json",
    -32600: "invalid_request",
    -32601: "unknown_method",
    -32602: "invalid_params",
    -32603: "internal",
    -32002: "no_such_page",
    -32020: "header_mismatch",
    -32021: "missing_capability",
    -32022: "unsupported_version",
    403: MISSING_SCOPE,
    413: "too_large",
    429: "rate_limited",
    503: "unavailable",
}


def read(message: Message, viewer: Viewer, catalogue: Catalogue) -> None:
    """It could be read: what it asks for. A name that is not in the catalogue is the caller's text, and not kept."""
    left = trail.current()
    left.operation = operations.by_method(message.method)
    name = message.params.get("name")
    if message.method == "tools/call":
        found = catalogue.find(viewer, name) if isinstance(name, str) else None
        left.operation = operations.UNKNOWN_TOOL if found is None else found.tool.name
        if found is not None:
            left.writes = not found.tool.read_only
            left.hashes(message.params.get("arguments") or {})
            if found.tool.scope not in viewer.caller.scopes:
                left.refused(MISSING_SCOPE)
    elif "uri" in message.params:
        left.hashes({"uri": message.params["uri"]})


def refused(error: RpcError) -> None:
    """It was answered with an error."""
    trail.current().refused(_CODES.get(error.code, "refused"))


def answered(result: dict[str, JSON]) -> None:
    """It was answered with a result, which may say that the call failed, or hold a list."""
    left = trail.current()
    if result.get("isError"):
        left.refused("failed")
    for name in ("tools", "resources", "resourceTemplates", "prompts"):
        listed = result.get(name)
        if isinstance(listed, list):
            left.results = len(listed)
