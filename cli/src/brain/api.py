"""What the console asks of gateway over HTTP, as the person who is signed in."""

import os
from types import TracebackType
from typing import Self, TypeVar
from uuid import uuid4

import click
import httpx2
import msgspec

from brain import signins
from brain.output import F
from brain.stack.home import Home, Ports, first_port, locate
from brain.stack.postgres import LOOPBACK
from contracts.errors import FORBIDDEN, Refused, Unavailable

T = TypeVar("T")

_SECONDS = 120.0  # a decision on a large build waits for its vectors


def as_option(command: F) -> F:
    """The option `--as PERSON` of every command that acts for somebody."""
    return click.option("--as", "person", metavar="PERSON", help="Act as PERSON, who is signed in here.")(command)


class ErrorBody(msgspec.Struct, frozen=True):
    """A refusal on the wire."""

    code: str
    what: str = ""
    where: str = ""
    remedy: str = ""


class _Failure(msgspec.Struct, frozen=True):
    error: ErrorBody


class Api:
    """A connection to gateway for one person. A context manager."""

    def __init__(self, address: str, token: str) -> None:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._http = httpx2.Client(base_url=address, headers=headers, timeout=_SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def post(self, path: str, request: msgspec.Struct, shape: type[T]) -> T:
        """Send `request` as JSON. Raises `Refused` or `Unavailable` as gateway answers, `Unavailable` without one."""
        return self._read("POST", path, shape, content=msgspec.json.encode(request))

    def get(self, path: str, shape: type[T], query: dict[str, str | int] | None = None) -> T:
        """Ask for `path` with `query`. Raises like `post`."""
        return self._read("GET", path, shape, params=query)

    def lines(self, path: str, shape: type[T], query: dict[str, str | int]) -> list[T]:
        """Ask for `path` with `query`, which answers with JSON lines. Raises like `post`."""
        return msgspec.json.Decoder(shape).decode_lines(self._told("GET", path, None, query))

    def _read(
        self,
        method: str,
        path: str,
        shape: type[T],
        *,
        content: bytes | None = None,
        params: dict[str, str | int] | None = None,
    ) -> T:
        return msgspec.json.decode(self._told(method, path, content, params), type=shape)

    def _told(self, method: str, path: str, content: bytes | None, params: dict[str, str | int] | None) -> bytes:
        request_id = {"x-request-id": uuid4().hex}
        try:
            reply = self._http.request(method, path, content=content, params=params, headers=request_id)
        except httpx2.TransportError as error:
            raise Unavailable("gateway does not answer") from error
        if reply.is_success:
            return reply.content
        raise _refusal(reply)


def _refusal(reply: httpx2.Response) -> Refused | Unavailable:
    try:
        error = msgspec.json.decode(reply.content, type=_Failure).error
    except msgspec.MsgspecError:
        error = ErrorBody("unexpected", f"gateway answered with status {reply.status_code}.")
    if reply.status_code == httpx2.codes.UNAUTHORIZED:
        return Refused(
            "not_signed_in", error.what or "This sign-in does not count any more.", error.where, "Sign in anew."
        )
    if reply.status_code == httpx2.codes.FORBIDDEN:
        return Refused(error.code if error.code in FORBIDDEN else "forbidden", error.what, error.where, error.remedy)
    if reply.status_code == httpx2.codes.SERVICE_UNAVAILABLE:
        return Unavailable(error.what or "gateway is not ready")
    return Refused(error.code, error.what, error.where, error.remedy)


def address(home: Home) -> str:
    """Where gateway of this home listens."""
    return f"http://{LOOPBACK}:{Ports(first_port(os.environ, home)).gateway}"


def connect(person: str | None) -> Api:
    """As `person`. Raises `Refused`: `not_signed_in` without a stored sign-in, `no_brain` in an empty home."""
    home = locate(os.environ)
    return Api(address(home), signins.find(home, person).token)
