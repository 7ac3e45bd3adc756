"""What each method answers, on either wire."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.enums import Scope
from contracts.errors import Refused, Unavailable
from gateway.audit import trail
from gateway.credentials import Viewer
from gateway.mcp import rounds, words
from gateway.mcp.catalogue import Catalogue, ToolResult
from gateway.mcp.messages import Message
from gateway.mcp.offers import Block, Prompt, Resources
from gateway.mcp.protocol import (
    FORBIDDEN,
    INVALID_PARAMS,
    JSON,
    LEGACY,
    META_SERVER,
    METHOD_NOT_FOUND,
    MODERN,
    RESOURCE_NOT_FOUND,
    SUPPORTED,
    UNAVAILABLE,
    WITHOUT_LINKS,
    Headers,
    RpcError,
)
from gateway.mcp.revisions import check_arguments, echoed
from gateway.mcp.rounds import InputRequired, Round

_LONGEST_NAME = 128
_LONGEST_URI = 2048
_LIST_FRESH_MS = 60_000
_MOST_VALUES = 100
_SERVER: Block = {"name": words.SERVER_NAME, "title": "Company Brain", "version": words.VERSION}
_STAMP: Block = {META_SERVER: _SERVER}
_NEEDS_ROUNDS = f"This asks you for something on its way, which needs protocol revision {MODERN}."


@dataclass(frozen=True, slots=True)
class Call:
    """A request with all that its answer depends on."""

    message: Message
    headers: Headers
    viewer: Viewer
    catalogue: Catalogue
    modern: bool

    @property
    def principal(self) -> str:
        return str(self.viewer.member.id)

    def widening(self, scope: Scope) -> Scope | None:
        """The scope, where an application lacks it that can ask its person for more; a token's scopes are fixed."""
        viewer = self.viewer
        return scope if viewer.oauth and scope not in viewer.caller.scopes else None

    def text(self, name: str) -> str:
        """A parameter that is a text. Raises `RpcError`."""
        value = self.message.params.get(name)
        if not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, f"Invalid params: {name} is a string")
        return value

    def arguments(self) -> dict[str, JSON]:
        """The arguments, which may be absent or null. Raises `RpcError`."""
        value = self.message.params.get("arguments")
        if value is not None and not isinstance(value, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: arguments is an object")
        return value or {}

    def resources(self) -> Resources:
        """What the viewer may read. Raises `RpcError` where there is nothing, as for a method that nobody has."""
        offered = self.catalogue.resources(self.viewer)
        if offered is None:
            raise unknown()
        return offered

    def prompts(self) -> dict[str, Prompt]:
        """The prompts, by name. Raises `RpcError` where there are none."""
        if not self.catalogue.prompts:
            raise unknown()
        return self.catalogue.prompts

    def client(self) -> Round:
        """What the client brings. Raises `RpcError`."""
        return rounds.brought(self.message, self.principal, self.catalogue.seal) if self.modern else Round()

    def asking(self, required: InputRequired, client: Round) -> Block:
        """The result that asks. Raises `RpcError` on the legacy wire, which has none."""
        if not self.modern:
            raise RpcError(INVALID_PARAMS, _NEEDS_ROUNDS)
        asked = rounds.asking(required, client, self.message, self.principal, self.catalogue.seal)
        return {"resultType": "input_required", **asked}


async def answer(call: Call) -> Block:
    """The result of one request. Raises `RpcError`."""
    answering = _METHODS[call.modern].get(call.message.method)
    if answering is not None:
        result = await answering(call)
        return {"resultType": "complete", "_meta": _STAMP, **result} if call.modern else result
    old = None if call.modern else call.catalogue.old.methods.get(call.message.method)
    if old is None:
        raise unknown()
    return await old(call.viewer, call.message.params)


def unknown() -> RpcError:
    """The error for a method that there is not, here or for this viewer."""
    return RpcError(METHOD_NOT_FOUND, "Method not found")


async def _initialized(call: Call) -> Block:
    asked = call.text("protocolVersion")
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[0],
        "capabilities": call.catalogue.capabilities(call.viewer, modern=False),
        "serverInfo": _SERVER,
        "instructions": words.INSTRUCTIONS,
    }


async def _discovered(call: Call) -> Block:
    found: Block = {
        "supportedVersions": list(SUPPORTED),
        "capabilities": call.catalogue.capabilities(call.viewer, modern=True),
        "instructions": words.INSTRUCTIONS,
    }
    return found | _kept(_LIST_FRESH_MS)


async def _pinged(_call: Call) -> Block:
    return {}


def _kept(milliseconds: int) -> Block:
    """How long a client may keep a result, and that nobody shares it: it depends on who asked."""
    return {"ttlMs": milliseconds, "cacheScope": "private"}


def _listed(call: Call, name: str, entries: list[Block] | tuple[Block, ...]) -> Block:
    if call.message.params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "Invalid params: the list has one page, so no cursor is valid")
    listed: Block = {name: list(entries)}
    return listed | _kept(_LIST_FRESH_MS) if call.modern else listed


async def _tools(call: Call) -> Block:
    return _listed(call, "tools", call.catalogue.visible(call.viewer))


async def _call_tool(call: Call) -> Block:
    name, arguments = call.text("name"), call.arguments()
    found = call.catalogue.find(call.viewer, name)
    if found is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:_LONGEST_NAME]}")
    if call.modern:
        check_arguments(found.mirrored, arguments, call.headers)
    client = call.client()
    if (needs := call.widening(found.tool.scope)) is not None:
        raise RpcError(FORBIDDEN, found.tool.denial, status=FORBIDDEN, needs=needs)
    try:
        given = await found.tool.call(call.viewer, arguments, client)
    except Refused as refused:
        trail.current().refused(refused.code)
        given = ToolResult(_told(refused), failed=True)
    except Unavailable as error:
        raise _unavailable(error) from error
    if isinstance(given, InputRequired):
        if call.modern:
            return call.asking(given, client)
        given = ToolResult(_NEEDS_ROUNDS, failed=True)
    content = given.content()
    if echoed(call.headers) in WITHOUT_LINKS:
        content = [block for block in content if not (isinstance(block, dict) and block["type"] == "resource_link")]
    result: Block = {"content": content, "isError": given.failed}
    if given.structured is not None:
        result["structuredContent"] = given.structured
    return result


async def _resources(call: Call) -> Block:
    return _listed(call, "resources", call.resources().listed)


async def _templates(call: Call) -> Block:
    return _listed(call, "resourceTemplates", call.resources().templates)


async def _read(call: Call) -> Block:
    resources = call.resources()
    uri, client = call.text("uri"), call.client()
    if resources.scope not in call.viewer.caller.scopes:
        raise RpcError(FORBIDDEN, resources.denial, status=FORBIDDEN, needs=call.widening(resources.scope))
    try:
        contents = await resources.read(call.viewer, uri, client)
    except Unavailable as error:
        raise _unavailable(error) from error
    if isinstance(contents, InputRequired):
        return call.asking(contents, client)
    if contents is None:
        code = INVALID_PARAMS if call.modern else RESOURCE_NOT_FOUND
        raise RpcError(code, "Resource not found", {"uri": uri[:_LONGEST_URI]})
    read: Block = {"contents": list(contents)}
    return read | _kept(resources.fresh_ms) if call.modern else read


async def _prompts(call: Call) -> Block:
    return _listed(call, "prompts", [prompt.listed() for prompt in call.prompts().values()])


async def _fill(call: Call) -> Block:
    prompts = call.prompts()
    name, arguments, client = call.text("name"), call.arguments(), call.client()
    prompt = prompts.get(name)
    if prompt is None:
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:_LONGEST_NAME]}")
    given = {key: value for key, value in arguments.items() if isinstance(value, str)}
    if len(given) < len(arguments) or not prompt.required <= given.keys():
        needed = ", ".join(sorted(prompt.required)) or "none is required"
        raise RpcError(INVALID_PARAMS, f"Invalid params: arguments are strings; {needed}")
    try:
        messages = await prompt.fill(call.viewer, given, client)
    except Unavailable as error:
        raise _unavailable(error) from error
    if isinstance(messages, InputRequired):
        return call.asking(messages, client)
    return {"description": prompt.description, "messages": list(messages)}


async def _completed(call: Call) -> Block:
    complete = call.catalogue.complete
    if complete is None:
        raise unknown()
    ref, argument = call.message.params.get("ref"), call.message.params.get("argument")
    match argument:
        case {"name": str(name), "value": str(value)} if isinstance(ref, dict):
            values: list[JSON] = [*await complete(call.viewer, ref, name, value)]
        case _:
            raise RpcError(INVALID_PARAMS, "Invalid params: ref is an object, argument has a name and a value")
    shown = values[:_MOST_VALUES]
    return {"completion": {"values": shown, "total": len(values), "hasMore": len(values) > len(shown)}}


def _told(refused: Refused) -> str:
    return " ".join(part for part in (refused.what, refused.remedy) if part)


def _unavailable(error: Unavailable) -> RpcError:
    told = f"Temporarily unavailable. Try again in {error.retry_after} s."
    return RpcError(UNAVAILABLE, told, status=503, retry_after=error.retry_after)


_BOTH: dict[str, Callable[[Call], Awaitable[Block]]] = {
    "tools/list": _tools,
    "tools/call": _call_tool,
    "resources/list": _resources,
    "resources/templates/list": _templates,
    "resources/read": _read,
    "prompts/list": _prompts,
    "prompts/get": _fill,
    "completion/complete": _completed,
}
_METHODS = {
    False: {**_BOTH, "initialize": _initialized, "ping": _pinged},
    True: {**_BOTH, "server/discover": _discovered},
}
