"""Reads that come from the stream's leader.

A direct read comes from any replica and may be older than an acknowledged append; a leader's never is.
"""

from dataclasses import dataclass
from datetime import datetime

import msgspec
import nats.errors
from nats.aio.client import Client

from contracts.errors import Unavailable

_NOT_FOUND = 10037


class _Stored(msgspec.Struct):
    subject: str
    seq: int
    time: datetime
    hdrs: bytes = b""
    data: bytes = b""


class _Error(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Answer(msgspec.Struct):
    message: _Stored | None = None
    error: _Error | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored message: where it stands, its headers and bytes. `id` is its `Nats-Msg-Id`, "" where it has none."""

    subject: str
    position: int
    time: datetime
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers.get("Nats-Msg-Id", "")


def parse_headers(raw: bytes) -> dict[str, str]:
    """NATS headers as a mapping; the last of a repeated name wins."""
    headers: dict[str, str] = {}
    for line in raw.decode("utf-8", "replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip()] = value.strip()
    return headers


async def request(nc: Client, subject: str, body: bytes, *, timeout: float = 5.0) -> bytes:
    """Ask the server. Raises `Unavailable` where nothing answers in `timeout` seconds."""
    try:
        answer = await nc.request(subject, body, timeout=timeout)
    except (TimeoutError, nats.errors.Error, OSError) as error:
        raise Unavailable("the log does not answer") from error
    return answer.data


async def _get(nc: Client, stream: str, query: dict[str, object]) -> Stored | None:
    raw = await request(nc, f"$JS.API.STREAM.MSG.GET.{stream}", msgspec.json.encode(query))
    answer = msgspec.json.decode(raw, type=_Answer)
    if answer.message is not None:
        found = answer.message
        return Stored(found.subject, found.seq, found.time, parse_headers(found.hdrs), found.data)
    if answer.error is not None and answer.error.err_code == _NOT_FOUND:
        return None
    raise Unavailable(f"the log cannot answer: {answer.error.description if answer.error else 'no message'}")


async def at(nc: Client, stream: str, position: int) -> Stored | None:
    """The message at a position, None where there is none."""
    return await _get(nc, stream, {"seq": position})


async def last(nc: Client, stream: str, subject: str) -> Stored | None:
    """The last message of a history, None where it has none."""
    return await _get(nc, stream, {"last_by_subj": subject})


async def first_after(nc: Client, stream: str, subject: str, position: int) -> Stored | None:
    """The first message of a history that stands after a position, None where there is none."""
    return await _get(nc, stream, {"next_by_subj": subject, "seq": position + 1})


class _State(msgspec.Struct):
    first_seq: int
    last_seq: int
    messages: int


class _Config(msgspec.Struct):
    metadata: dict[str, str] = {}


class _StreamAnswer(msgspec.Struct):
    state: _State | None = None
    config: _Config | None = None
    error: _Error | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a stream reaches, and its epoch (raised whenever its history was repaired)."""

    first: int
    last: int
    messages: int
    epoch: int


async def extent(nc: Client, stream: str) -> Extent:
    """Raises `Unavailable` where the stream does not exist or does not answer."""
    answer = msgspec.json.decode(await request(nc, f"$JS.API.STREAM.INFO.{stream}", b""), type=_StreamAnswer)
    if answer.state is None or answer.config is None:
        raise Unavailable(f"the stream {stream} does not answer")
    state = answer.state
    return Extent(state.first_seq, state.last_seq, state.messages, int(answer.config.metadata.get("epoch", "1")))
