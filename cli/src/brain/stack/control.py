"""Starting, stopping and looking at a brain from the console."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping

import msgspec
import nats as nats_client
from nats.errors import Error as NatsError

from brain.stack import child, programs, readiness
from brain.stack.home import Home, Ports, check, first_port, prepare, runs
from brain.stack.members import SERVICES
from contracts.errors import Refused, Unavailable

_START_SECONDS = 180.0
_STOP_SECONDS = 120.0


class Service(msgspec.Struct, frozen=True):
    """One service: `pid` is None while it does not run."""

    ready: bool
    reasons: dict[str, str]
    pid: int | None


class Status(msgspec.Struct, frozen=True):
    """A brain: ready when all services are. `position` is the ledger's last, None while the bus is not reachable."""

    ready: bool
    services: dict[str, Service]
    urls: dict[str, str]
    position: int | None


def start(home: Home, environ: Mapping[str, str]) -> bool:
    """Start a brain in the background and return when all of it is ready; False when it ran already.

    Raises `CannotStart` for unusable keys, `Refused` with the reason when it does not come up, and `Unavailable` when
    it takes longer than three minutes.
    """
    started = not runs(home)
    if started:
        for left in ("ready", "port"):  # of a supervisor that was killed
            (home.run / left).unlink(missing_ok=True)
    port = first_port(environ, home)
    prepare(home)
    if started:
        check(home)
        log = os.open(home.log("supervisor"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        env = dict(os.environ) | {"BRAIN_HOME": str(home.root), "BRAIN_PORT": str(port)}
        argv = [sys.executable, "-m", "brain.stack.supervisor"]
        supervisor = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=home.root, start_new_session=True
        )
        os.close(log)
    deadline = time.monotonic() + _START_SECONDS
    while not (home.run / "ready").exists():
        if (supervisor.poll() is not None) if started else not runs(home):
            said = child.tail(home.log("supervisor"), 1)
            raise Refused("start_failed", said, str(home.log("supervisor")), "Its log tells more.")
        if time.monotonic() > deadline:
            raise Unavailable(f"the brain did not become ready: {_unready(status(home, environ))}")
        time.sleep(0.05)
    while not (seen := status(home, environ)).ready:
        if time.monotonic() > deadline:
            raise Unavailable(f"the brain did not become ready: {_unready(seen)}")
        time.sleep(0.2)
    return started


def stop(home: Home) -> bool:
    """Stop a brain and return when all its processes have ended; False when it did not run."""
    pid = home.pid("supervisor")
    if pid is None or not runs(home):
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while runs(home):
        if time.monotonic() > deadline:
            raise Unavailable(f"the brain did not stop within {_STOP_SECONDS:g} seconds")
        time.sleep(0.05)
    return True


def status(home: Home, environ: Mapping[str, str]) -> Status:
    """Look at a brain, running or not."""
    ports = Ports(first_port(environ, home))
    if not runs(home):
        stopped = Service(ready=False, reasons={"process": "not running"}, pid=None)
        return Status(ready=False, services=dict.fromkeys(SERVICES, stopped), urls=programs.urls(ports), position=None)
    states = asyncio.run(readiness.services(ports))
    services = {name: Service(state.ready, state.reasons, home.pid(name)) for name, state in states.items()}
    ready = all(service.ready for service in services.values())
    return Status(ready, services, programs.urls(ports), asyncio.run(_position(home, ports)))


async def _position(home: Home, ports: Ports) -> int | None:
    try:
        client = await nats_client.connect(
            programs.bus(home, ports).url.reveal(), allow_reconnect=False, connect_timeout=2, error_cb=_quiet
        )
    except (OSError, NatsError, TimeoutError):
        return None
    try:
        return (await client.jetstream(timeout=2).stream_info("EVT")).state.last_seq
    except NatsError:
        return None
    finally:
        await client.close()


async def _quiet(error: Exception) -> None:
    """A bus that is not there shows as a position that is not known."""
    del error


def _unready(seen: Status) -> str:
    waiting = {name: service.reasons for name, service in seen.services.items() if not service.ready}
    return "; ".join(f"{name}: {', '.join(f'{part} {why}' for part, why in r.items())}" for name, r in waiting.items())
