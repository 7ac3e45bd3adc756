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
from contextlib import suppress

import msgspec
import nats as nats_client

from brain.stack import child, nats, postgres, programs, readiness, setup, watching
from brain.stack.home import Home, Ports, check, first_port, held, locate, prepare
from brain.stack.members import LOGIN_ROLES, SERVICES
from chassis import log, process
from contracts.errors import CannotStart, Refused
from eventlog.provision import provision

_LOG = log.get(part="supervisor")
_PORT_SECONDS = 20.0  # servers whose supervisor was killed need a moment to end


class Supervisor:
    """All processes of one brain."""

    def __init__(self, home: Home, ports: Ports, environ: Mapping[str, str]) -> None:
        self._home = home
        self._ports = ports
        self._environ = environ
        self._was_ready = False

    async def run(self, stop: asyncio.Event, ready: Callable[[], Awaitable[None]]) -> None:
        """Start everything, call `ready` once every service is, and stop everything when `stop` is set.

        Raises `PostgresFailed`, `NatsFailed`, `BadMigration` or `eventlog.provision.Mismatch` when set-up fails, and
        `CannotStart` for a service that says it cannot, before all were ready. Whatever had been started is stopped
        then, and also when a watch ends by a fault of its own: no program runs on unwatched.
        """
        await _free(self._ports)
        try:
            async with asyncio.TaskGroup() as servers:
                watches: list[asyncio.Task[None]] = []
                await self._serve(servers, watches)
                await self._run_services(stop, ready)
                _cancel(watches)
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _serve(self, servers: asyncio.TaskGroup, watches: list[asyncio.Task[None]]) -> None:
        cluster, bus = programs.cluster(self._home, self._ports), programs.bus(self._home, self._ports)
        await asyncio.to_thread(postgres.initialise, cluster)
        watches.append(await self._keep(servers, await nats.start(bus), _again))
        watches.append(await self._keep(servers, await postgres.start(cluster), _again))
        await self._set_up(cluster, bus)

    async def _run_services(self, stop: asyncio.Event, ready: Callable[[], Awaitable[None]]) -> None:
        async with asyncio.TaskGroup() as services:
            tasks = [services.create_task(self._report(ready))]
            for name in SERVICES:
                program = programs.service(name, self._home, self._ports, self._environ)
                tasks.append(await self._keep(services, await child.start(program), self._judge))
            await stop.wait()
            _cancel(tasks)

    async def _keep(self, group: asyncio.TaskGroup, started: child.Child, judge: watching.Judge) -> asyncio.Task[None]:
        watch = group.create_task(watching.keep(self._home, started, judge), name=started.program.name)
        await asyncio.sleep(0)  # a watch that is cancelled before it began would leave its program behind
        return watch

    def _judge(self, ended: child.Child, code: int) -> None:
        """A service that cannot start will not start later either; once all were ready, a person may mend it."""
        if code == process.CANNOT_START and not self._was_ready:
            raise why(ended)

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

    async def _report(self, ready: Callable[[], Awaitable[None]]) -> None:
        while True:
            states = await readiness.services(self._ports)
            if all(state.ready for state in states.values()):
                break
            await asyncio.sleep(0.1)
        self._was_ready = True
        _LOG.info("brain_ready")
        await ready()


def why(ended: child.Child) -> CannotStart:
    """The reason that a process which cannot start gave in its log."""
    name = ended.program.name
    for line in reversed(ended.said()):
        with suppress(msgspec.MsgspecError):
            told = msgspec.json.decode(line, type=_Told)
            if told.event == process.TOLD:
                return CannotStart(told.code, told.what, f"{name}: {told.where}" if told.where else name, told.remedy)
    return CannotStart("cannot_start", f"{name} cannot start.", str(ended.program.log), "Its log tells more.")


class _Told(msgspec.Struct, frozen=True):
    event: str
    code: str = "cannot_start"
    what: str = ""
    where: str = ""
    remedy: str = ""


def _again(_ended: child.Child, _code: int) -> None:
    """Servers are started again whatever they say: they hold what was acknowledged."""


def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


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
        check(home)
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
        return " ".join(part for part in (error.what, error.where and f"({error.where})", error.remedy) if part)
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
