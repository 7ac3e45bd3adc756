"""A call of one MCP tool over HTTP, as any client makes it."""

import re

import httpx2
import msgspec

from contracts.errors import Refused, Unavailable

REVISION = "2025-11-25"
"""The revision of the protocol that this client speaks."""

_SECONDS = 60.0
_TOKEN = re.compile(r"[!-~]+")  # visible ASCII: what a header carries


class Content(msgspec.Struct, frozen=True):
    """A block of a result."""

    text: str = ""


class Result(msgspec.Struct, frozen=True, rename="camel"):
    """What a tool gave back."""

    content: tuple[Content, ...] = ()
    structured_content: dict[str, object] | None = None
    is_error: bool = False


class _Error(msgspec.Struct, frozen=True):
    code: int
    message: str


class _Reply(msgspec.Struct, frozen=True):
    result: Result | None = None
    error: _Error | None = None


def call(address: str, token: str, tool: str, arguments: dict[str, object]) -> Result:
    """Call `tool` at `address`, the MCP endpoint.

    Raises `Refused` as the server answers, and for what cannot be a token; `Unavailable` without an answer.
    """
    if not _TOKEN.fullmatch(token):
        raise Refused("not_signed_in", "This is not a token.", "--token", "Issue one with `brain token issue`.")
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": REVISION,
    }
    try:
        with httpx2.Client(timeout=_SECONDS, trust_env=False) as client:
            reply = client.post(address, content=msgspec.json.encode(request), headers=headers)
    except httpx2.TransportError as error:
        raise Unavailable("gateway does not answer") from error
    if reply.status_code == httpx2.codes.UNAUTHORIZED:
        raise Refused("not_signed_in", "This token is unknown, revoked or expired.", "--token", "Issue another.")
    if reply.status_code == httpx2.codes.SERVICE_UNAVAILABLE:
        raise Unavailable("the brain cannot answer now")
    return _read(reply)


def _read(reply: httpx2.Response) -> Result:
    try:
        answer = msgspec.json.decode(reply.content, type=_Reply)
    except msgspec.MsgspecError:
        raise Refused("unexpected", f"gateway answered with status {reply.status_code}.") from None
    if answer.error is not None:
        raise Refused("forbidden" if answer.error.code == httpx2.codes.FORBIDDEN else "refused", answer.error.message)
    if answer.result is None:
        raise Refused("unexpected", "gateway answered with neither a result nor an error.")
    if answer.result.is_error:
        said = " ".join(block.text for block in answer.result.content)
        raise Refused("forbidden" if said.startswith("Forbidden") else "refused", said)
    return answer.result
