"""Real servers for tests: one nats-server and one PostgreSQL a session, a fresh migrated database a test.

They run on free ports under a temporary folder and end with the session, by their own process ids.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx2
import pytest
import pytest_asyncio

from brain.stack import nats, postgres, setup
from brain.stack.members import LOGIN_ROLES
from chassis.settings import Secret

TEMPLATE = "brain_template"


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class NatsServer:
    """A running nats-server. `url` holds user and password; `monitor` is its monitoring address."""

    bus: nats.Bus

    @property
    def url(self) -> str:
        return self.bus.url.reveal()

    @property
    def monitor(self) -> str:
        return self.bus.monitor


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running cluster with every role of the brain, and the template that databases of tests are copied from."""

    cluster: postgres.Cluster
    passwords: dict[str, Secret]

    def dsn(self, role: str, name: str) -> str:
        """The address of database `name` for `role`; "postgres" is the superuser."""
        password = self.cluster.password if role == "postgres" else self.passwords[role]
        return self.cluster.dsn(role, password, name).reveal()


@dataclass(frozen=True, slots=True)
class Database:
    """A database of one test, migrated, with nothing in it."""

    server: Postgres
    name: str

    def dsn(self, role: str) -> str:
        """Its address for a login role of the brain, or for "postgres", the superuser."""
        return self.server.dsn(role, self.name)

    def secret(self, role: str) -> Secret:
        """The same, in the form that `chassis.postgres.connect` takes."""
        return Secret(self.dsn(role))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def nats_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NatsServer]:
    """The session's nats-server. Tests share it: use a brain id of your own in subjects."""
    folder = tmp_path_factory.mktemp("nats")
    password = Secret(secrets.token_urlsafe(24))
    bus = nats.Bus(folder / "store", free_port(), free_port(), password, folder / "nats.log")
    running = await nats.start(bus)
    yield NatsServer(bus)
    await running.end()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Postgres]:
    """The session's PostgreSQL, without sync to disk: nobody cuts its power."""
    folder = tmp_path_factory.mktemp("postgres")
    cluster = postgres.Cluster(
        folder / "cluster", free_port(), Secret(secrets.token_urlsafe(24)), folder / "postgres.log"
    )
    postgres.initialise(cluster)
    running = await postgres.start(cluster, {"fsync": "off", "shared_buffers": "64MB"})
    try:
        passwords = {role: Secret(secrets.token_urlsafe(24)) for role in LOGIN_ROLES}
        await setup.roles(cluster, passwords)
        await setup.database(cluster, TEMPLATE)
        await setup.schemas(cluster.dsn("migrator", passwords["migrator"], TEMPLATE))
        yield Postgres(cluster, passwords)
    finally:
        await running.end()


@asynccontextmanager
async def fresh(server: Postgres) -> AsyncIterator[Database]:
    """A fresh migrated database, dropped after the block."""
    name = f"test_{secrets.token_hex(6)}"
    admin = await asyncpg.connect(server.dsn("postgres", "postgres"))
    try:
        await admin.execute(f"create database {name} template {TEMPLATE} owner migrator")
        await setup.open_database(server.cluster, name)
        yield Database(server, name)
        await admin.execute(f"drop database {name} with (force)")
    finally:
        await admin.close()


@pytest_asyncio.fixture(loop_scope="session")
async def database(postgres_server: Postgres) -> AsyncIterator[Database]:
    """A fresh migrated database, dropped after the test."""
    async with fresh(postgres_server) as found:
        yield found


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def clean_environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment without any setting of a brain that happens to run here."""
    for name in list(os.environ):
        if name.startswith(("BRAIN_", "NATS_", "POSTGRES_", "OTLP_")):
            monkeypatch.delenv(name)
    return dict(os.environ)


@asynccontextmanager
async def in_process(
    main: Callable[[asyncio.Event, dict[str, str]], Awaitable[None]], environ: dict[str, str]
) -> AsyncIterator[None]:
    """A service in the process of its test, from ready to stopped. What it ends with before that is raised."""
    stop = asyncio.Event()
    service = asyncio.ensure_future(main(stop, environ))
    ready = asyncio.ensure_future(_until_ready(f"http://127.0.0.1:{environ['HEALTH_PORT']}/readyz"))
    await asyncio.wait({service, ready}, return_when=asyncio.FIRST_COMPLETED)
    if service.done():
        ready.cancel()
        await service
    await ready
    try:
        yield
    finally:
        stop.set()
        await service


async def _until_ready(address: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            try:
                if (await http.get(address)).status_code == 200:
                    return
            except httpx2.TransportError:
                pass  # it does not listen yet
            await asyncio.sleep(0.02)
