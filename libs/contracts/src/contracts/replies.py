"""The reply to every command and query: its result, or the refusal."""

from typing import TypeVar

import msgspec

from contracts.errors import Refused, Unavailable

T = TypeVar("T")


class Refusal(msgspec.Struct, frozen=True):
    """A `Refused` on the wire."""

    code: str
    what: str
    where: str = ""
    remedy: str = ""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """Exactly one of the three is set. `retry_after` (seconds) goes with `unavailable`."""

    ok: msgspec.Raw = msgspec.Raw(b"")
    refused: Refusal | None = None
    unavailable: str = ""
    retry_after: int = 1


def success(result: msgspec.Struct) -> bytes:
    """Encode a result."""
    return msgspec.json.encode(Reply(ok=msgspec.Raw(msgspec.json.encode(result))))


def failure(error: Refused | Unavailable) -> bytes:
    """Encode why there is no result."""
    if isinstance(error, Refused):
        return msgspec.json.encode(Reply(refused=Refusal(error.code, error.what, error.where, error.remedy)))
    return msgspec.json.encode(Reply(unavailable=error.what, retry_after=error.retry_after))


def read(body: bytes, shape: type[T]) -> T:
    """The result in `body`; raises `Refused` or `Unavailable` where the reply says so."""
    reply = msgspec.json.decode(body, type=Reply)
    if reply.refused is not None:
        raise Refused(reply.refused.code, reply.refused.what, reply.refused.where, reply.refused.remedy)
    if reply.unavailable:
        raise Unavailable(reply.unavailable, reply.retry_after)
    return msgspec.json.decode(reply.ok, type=shape)


class Accepted(msgspec.Struct, frozen=True):
    """A command was carried out. `position`: EVT's sequence of its last fact; `archived`: the second copy is durable.

    `archived` is False only when the archive did not confirm within two seconds; the fact itself is in the log.
    """

    position: int
    archived: bool
