"""Asking a service: request and reply over NATS, with the request's id and its trace."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

import msgspec
import structlog
from nats import errors
from nats.aio.client import Client
from opentelemetry.trace import SpanKind

from chassis import telemetry
from contracts import replies
from contracts.errors import Unavailable

REQUEST_HEADER = "Brain-Request"
ACTOR_HEADER = "Brain-Actor"
_BUSY = (errors.TimeoutError, errors.NoRespondersError, errors.OutboundBufferLimitError, errors.ConnectionClosedError)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks (a principal's id, or empty for the service itself) and the id that follows the request everywhere."""

    request: str
    actor: str = ""


CURRENT: ContextVar[Call | None] = ContextVar("call", default=None)
"""The call being served by this task."""


def current() -> Call:
    """The call being served, or a new one outside any."""
    return CURRENT.get() or Call(uuid4().hex)


def enter(call: Call) -> None:
    """Make `call` the current one of this task: what it asks of others carries the same request id."""
    CURRENT.set(call)
    structlog.contextvars.bind_contextvars(request=call.request)


async def ask(
    client: Client, subject: str, request: msgspec.Struct, shape: type[R], *, seconds: float = 5.0, actor: str = ""
) -> R:
    """Ask a service. Raises the `Refused` or `Unavailable` it answers with, or `Unavailable` without an answer in time.

    An `Unavailable` command may have been carried out all the same: ask again with the same command id.
    """
    call = current()
    headers = {REQUEST_HEADER: call.request, ACTOR_HEADER: actor or call.actor}
    name = subject.split(".", 1)[1]
    with telemetry.span(f"ask {name}", kind=SpanKind.CLIENT, attributes={"messaging.destination.name": subject}):
        carried = telemetry.inject({key: value for key, value in headers.items() if value})
        try:
            reply = await client.request(subject, msgspec.json.encode(request), timeout=seconds, headers=carried)
        except (TimeoutError, *_BUSY) as error:
            raise Unavailable(f"{name.split('.')[0]} does not answer") from error
        return replies.read(reply.data, shape)
