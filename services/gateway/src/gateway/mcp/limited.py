"""Which permit a message needs, and how its refusal looks as JSON-RPC."""

from gateway.credentials import Viewer
from gateway.limits.rates import Limit, Throttled
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.messages import Message
from gateway.mcp.protocol import JSON, RpcError

TOO_MANY = 429


async def permit(message: Message, viewer: Viewer, catalogue: Catalogue) -> None:
    """Take the permit of a message whose headers agree with it. Raises `RpcError`."""
    try:
        await catalogue.take(viewer, *needed(message, viewer, catalogue))
    except Throttled as error:
        raise rpc_error(error) from error


def needed(message: Message, viewer: Viewer, catalogue: Catalogue) -> tuple[Limit, str | None]:
    """What it counts as, and what is metered.

    A call of what the viewer may not call counts and costs what a call of nothing does.
    """
    held = viewer.caller.scopes
    if message.method == "tools/call":
        name = message.params.get("name")
        found = catalogue.find(viewer, name) if isinstance(name, str) else None
        if found is not None and found.tool.scope in held:
            return found.tool.rate, found.tool.name
    if message.method == "resources/read":
        offered = catalogue.resources(viewer)
        if offered is not None and offered.scope in held:
            return Limit.READ, message.method
    return Limit.PROTOCOL, None


def rpc_error(error: Throttled) -> RpcError:
    """The wait stands in the header and beside the message for a client, and in the message for a model."""
    extra: dict[str, JSON] = {"retryAfter": error.retry_after}
    return RpcError(TOO_MANY, error.told, extra, status=TOO_MANY, retry_after=error.retry_after)
