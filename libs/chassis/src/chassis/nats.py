"""The bus: how every process connects to NATS, and what it demands of the server."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypedDict

import nats
from nats.aio.client import Client

from chassis import log
from chassis.settings import Secret
from contracts.topology import OLDEST_SERVER

if TYPE_CHECKING:
    from faststream.nats import NatsBroker

_LOG = log.get(part="nats")


class ServerTooOld(Exception):
    """The server would ignore what keeps the ledger right. Says the version it has and the one it needs."""


class Options(TypedDict):
    """How we connect: a dead link is noticed within 15 seconds, reconnects never end, and nothing is buffered.

    Without buffering (`pending_size` 0) a request fails at once while the link is down; with it, a request that has
    already timed out for its caller would be carried out after the reconnect.
    """

    name: str
    inbox_prefix: bytes
    ping_interval: int
    max_outstanding_pings: int
    reconnect_time_wait: int
    max_reconnect_attempts: int
    connect_timeout: int
    drain_timeout: int
    pending_size: int
    error_cb: Callable[[Exception], Awaitable[None]]
    disconnected_cb: Callable[[], Awaitable[None]]
    reconnected_cb: Callable[[], Awaitable[None]]


def options(service: str) -> Options:
    """The settings of a connection of `service`; its inboxes have a prefix of their own."""

    async def on_error(error: Exception) -> None:
        _LOG.warning("nats_error", client=service, error=type(error).__qualname__)

    async def on_loss() -> None:
        _LOG.warning("nats_disconnected", client=service)

    async def on_return() -> None:
        _LOG.info("nats_reconnected", client=service)

    return {
        "name": service,
        "inbox_prefix": f"_INBOX_{service}".encode(),
        "ping_interval": 5,
        "max_outstanding_pings": 2,
        "reconnect_time_wait": 1,
        "max_reconnect_attempts": -1,
        "connect_timeout": 5,
        "drain_timeout": 10,
        "pending_size": 0,
        "error_cb": on_error,
        "disconnected_cb": on_loss,
        "reconnected_cb": on_return,
    }


async def connect(url: Secret, service: str) -> Client:
    """A connection of its own, for a process that serves no requests."""
    return await nats.connect(url.reveal(), **options(service))


def broker(url: Secret, service: str) -> "NatsBroker":
    """What serves requests. It takes raw bytes: our own decoders are strict, the framework's are not."""
    from faststream.nats import NatsBroker  # noqa: PLC0415 - a second of imports that the console does without

    return NatsBroker(url.reveal(), apply_types=False, logger=None, graceful_timeout=10.0, **options(service))


def require(client: Client) -> None:
    """Raise `ServerTooOld` unless the server is new enough to keep its promises."""
    version = client.connected_server_version
    if (version.major, version.minor, version.patch) < OLDEST_SERVER:
        raise ServerTooOld(f"nats-server {version} is too old: use {'.'.join(map(str, OLDEST_SERVER))} or newer")
