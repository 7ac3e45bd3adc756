"""Commands and queries: request and reply over NATS, served through FastStream by a queue group a service."""

from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import uuid4

import msgspec
import structlog
from faststream.nats import NatsBroker, NatsMessage, NatsResponse
from nats.aio.client import Client
from opentelemetry.trace import SpanKind

from chassis import log, metrics, postgres, telemetry
from chassis.asking import ACTOR_HEADER, CURRENT, REQUEST_HEADER, Call, ask, current, enter
from contracts import replies
from contracts.errors import Refused, Unavailable

__all__ = ["Call", "Present", "RollCall", "Server", "ask", "current", "enter", "internal", "roll_call"]

_WORKERS = 64  # requests of one subject at work at a time; more wait in the queue

Q = TypeVar("Q", bound=msgspec.Struct)

_LOG = log.get(part="rpc")
_SERVED = metrics.counter("rpc_requests_total", "requests served", "subject", "outcome")


class RollCall(msgspec.Struct, frozen=True):
    """Ask a service to answer, after asking the next of `through` the same with the rest."""

    through: tuple[str, ...] = ()


class Present(msgspec.Struct, frozen=True):
    """The services that answered, the last one asked first."""

    services: tuple[str, ...]


def roll_call(service: str) -> str:
    """The subject on which a service says that it is there."""
    return f"ask.{service}.roll_call"


class Server:
    """Serves the subjects of one service. Every service answers a roll call by itself."""

    def __init__(self, broker: NatsBroker, service: str) -> None:
        self.broker = broker
        self.service = service
        self.route(roll_call(service), RollCall, self._answer_roll_call)

    def route(self, subject: str, shape: type[Q], serve: Callable[[Q], Awaitable[msgspec.Struct]]) -> None:
        """Let `serve` answer what arrives on `subject`. Routes are made before `start`.

        It returns the result or raises `Refused` or `Unavailable`; a database that is gone counts as `Unavailable`.
        Anything else becomes the refusal `internal` with the request id, and is logged without its text.
        """
        decoder = msgspec.json.Decoder(shape)

        async def answer(message: NatsMessage) -> NatsResponse:
            headers = {name: str(value) for name, value in message.headers.items()}
            call = Call(headers.get(REQUEST_HEADER) or uuid4().hex, headers.get(ACTOR_HEADER, ""))
            with structlog.contextvars.bound_contextvars(request=call.request):
                token = CURRENT.set(call)
                try:
                    body = await self._serve(subject, headers, lambda: decoder.decode(message.body), serve)
                finally:
                    CURRENT.reset(token)
            return NatsResponse(body)

        self.broker.subscriber(subject, queue=self.service, max_workers=_WORKERS, decoder=_whole)(answer)

    async def start(self) -> Client:
        """Connect and begin to serve; the connection, for everything else that this process does on the bus.

        Once it returns, the server knows every subject that is served here: nobody is told that none answers.
        """
        await self.broker.start()
        await self.connection.flush()
        return self.connection

    @property
    def connection(self) -> Client:
        """The connection to the bus, once started."""
        connection: Client = self.broker.config.connection_state.connection
        return connection

    async def stop(self) -> None:
        """Finish what is being served, then drain and close the connection."""
        await self.broker.stop()

    async def _serve(
        self,
        subject: str,
        headers: dict[str, str],
        decode: Callable[[], Q],
        serve: Callable[[Q], Awaitable[msgspec.Struct]],
    ) -> bytes:
        name = subject.split(".", 1)[1]
        attributes = {"messaging.system": "nats", "messaging.destination.name": subject}
        with telemetry.span(name, headers=headers, kind=SpanKind.SERVER, attributes=attributes) as span:
            outcome = "ok"
            try:
                try:
                    request = decode()
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    raise Refused("malformed", "The request is not of the expected shape.", _where(error)) from error
                return replies.success(await serve(request))
            except (Refused, Unavailable) as error:
                outcome = error.code if isinstance(error, Refused) else "unavailable"
                return replies.failure(error)
            except postgres.GONE as error:
                outcome = "unavailable"
                _LOG.warning("database_gone", subject=subject, error=type(error).__qualname__)
                return replies.failure(Unavailable("the database does not answer"))
            except Exception:  # noqa: BLE001 - whatever else went wrong, the caller gets a reply and no detail
                outcome = "internal"
                _LOG.exception("request_failed", subject=subject)
                return replies.failure(internal(current().request))
            finally:
                span.set_attribute("brain.outcome", outcome)
                _SERVED.add(subject, outcome)

    async def _answer_roll_call(self, asked: RollCall) -> Present:
        if not asked.through:
            return Present((self.service,))
        onward = roll_call(asked.through[0])
        rest = await ask(self.connection, onward, RollCall(asked.through[1:]), Present)
        return Present((*rest.services, self.service))


def internal(request: str) -> Refused:
    """The refusal for a fault of ours: it says nothing but the id under which the logs tell more."""
    return Refused("internal", "Something went wrong on our side.", request, "Try again, or give this id to an admin.")


async def _whole(message: NatsMessage) -> NatsMessage:
    return message


def _where(error: Exception) -> str:
    """The field that a decoding error names, without the value that it may quote."""
    _, found, place = str(error).rpartition(" - at `")
    return place.rstrip("`") if found else ""
