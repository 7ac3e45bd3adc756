"""The supervisor: starts the servers, sets up the database and the streams, keeps six services running, stops all.

`python -m brain.stack.supervisor` runs it for BRAIN_HOME and BRAIN_PORT, as `brain up` does.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

import nats as nats_client

from brain.stack import child, nats, postgres, programs, readiness, setup
from brain.stack.home import Home, Ports, first_port, held, locate, prepare
from brain.stack.members import LOGIN_ROLES, SERVICES
from chassis import log
from contracts.errors import Refused
from eventlog.provision import provision

_LOG = log.get(part="supervisor")
_FIRST_WAIT, _LONGEST_WAIT, _SETTLED = 0.5, 30.0, 60.0
_PORT_SECONDS = 20.0  # servers whose supervisor was killed need a moment to end


class Supervisor:
    """All processes of one brain."""

    def __init__(self, home: Home, ports: Ports, environ: Mapping[str, str]) -> None:
        self._home = home
        self._ports = ports
        self._environ = environ
        self._servers: list[asyncio.Task[None]] = []
        self._services: list[asyncio.Task[None]] = []

    async def run(self, stop: asyncio.Event, ready: Callable[[], Awaitable[None]]) -> None:
        """Start everything, call `ready` once every service is, and stop everything when `stop` is set.

        Raises `PostgresFailed`, `NatsFailed`, `BadMigration` or `eventlog.provision.Mismatch` when set-up fails;
        whatever had been started is stopped then.
        """
        try:
            await _free(self._ports)
            cluster, bus = programs.cluster(self._home, self._ports), programs.bus(self._home, self._ports)
            await asyncio.to_thread(postgres.initialise, cluster)
            self._servers.append(self._keep(await nats.start(bus)))
            self._servers.append(self._keep(await postgres.start(cluster)))
            await self._set_up(cluster, bus)
            for name in SERVICES:
                program = programs.service(name, self._home, self._ports, self._environ)
                self._services.append(self._keep(await child.start(program)))
            waiting = asyncio.create_task(self._report(ready))
            await stop.wait()
            waiting.cancel()
        finally:
            await _cancel(self._services)
            await _cancel(self._servers)

    async def _set_up(self, cluster: postgres.Cluster, bus: nats.Bus) -> None:
        passwords = {role: self._home.role_password(role) for role in LOGIN_ROLES}
        await setup.roles(cluster, passwords)
        await setup.database(cluster, programs.DATABASE)
        applied = await setup.schemas(programs.dsn(self._home, self._ports, "migrator"))
        _LOG.info("database_ready", applied=applied)
        client = await nats_client.connect(bus.url.reveal(), allow_reconnect=False)
        try:
            await provision(client)
        finally:
            await client.close()
        _LOG.info("streams_ready")

    def _keep(self, started: child.Child) -> asyncio.Task[None]:
        return asyncio.create_task(self._watch(started), name=started.program.name)

    async def _watch(self, running: child.Child) -> None:
        """Start a program again when it ends by itself, after a wait that grows while it keeps ending soon."""
        program, wait = running.program, _FIRST_WAIT
        try:
            while True:
                self._home.note_pid(program.name, running.pid)
                code = await running.process.wait()
                self._home.note_pid(program.name, None)
                lived = time.monotonic() - running.started
                wait = _FIRST_WAIT if lived > _SETTLED else min(wait * 2, _LONGEST_WAIT)
                _LOG.warning("process_ended", program=program.name, code=code, again_in=wait)
                await asyncio.sleep(wait)
                running = await child.start(program)
        except asyncio.CancelledError:
            await running.end()
            self._home.note_pid(program.name, None)

    async def _report(self, ready: Callable[[], Awaitable[None]]) -> None:
        while True:
            states = await readiness.services(self._ports)
            if all(state.ready for state in states.values()):
                break
            await asyncio.sleep(0.1)
        _LOG.info("brain_ready")
        await ready()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _free(ports: Ports) -> None:
    """Wait until every port can be had. Raises `Refused` naming the ones that stay taken."""
    begun = time.monotonic()
    while taken := [port for port in ports.all() if not _can_bind(port)]:
        if time.monotonic() - begun > _PORT_SECONDS:
            where = ", ".join(map(str, taken))
            raise Refused("port_taken", "Ports are in use by something else.", where, "Set BRAIN_PORT to another.")
        await asyncio.sleep(0.2)


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((postgres.LOOPBACK, port))
        except OSError:
            return False
        return True


async def supervise(home: Home, port: int, environ: Mapping[str, str], ready: Callable[[], Awaitable[None]]) -> None:
    """Run a brain until SIGTERM or SIGINT. Raises `Refused` when it runs already, or what stopped the start."""
    prepare(home)
    with held(home) as ours:
        if not ours:
            raise Refused("already_running", "This brain runs already.", str(home.root), "Run `brain down` first.")
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        home.note_pid("supervisor", os.getpid())
        (home.run / "port").write_text(f"{port}\n", encoding="ascii")
        try:
            await Supervisor(home, Ports(port), environ).run(stop, ready)
        finally:
            (home.run / "ready").unlink(missing_ok=True)
            (home.run / "port").unlink(missing_ok=True)
            home.note_pid("supervisor", None)


def explain(error: Exception) -> str:
    """Why a brain did not start, for a person."""
    if isinstance(error, Refused):
        return " ".join(part for part in (error.what, error.where, error.remedy) if part)
    return f"{type(error).__name__}: {error}"


def main() -> int:
    """Run the supervisor of BRAIN_HOME in the foreground, saying in `run/ready` when all services are ready."""
    home = locate(os.environ)
    log.configure("supervisor")

    async def ready() -> None:
        (home.run / "ready").touch()

    try:
        asyncio.run(supervise(home, first_port(os.environ, home), os.environ, ready))
    except Exception as error:  # noqa: BLE001 - the last line of its log says why it ended
        print(explain(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
