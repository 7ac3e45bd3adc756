"""The embedded servers start, hold what was asserted of them, and end with their parent."""

import asyncio
import os
import select
import subprocess
import sys
from pathlib import Path

import asyncpg
import nats as nats_client
import pytest

from brain.stack import nats
from servers import Database, NatsServer, free_port


async def test_every_login_role_can_connect_with_its_own_password(database: Database) -> None:
    for role in ("gateway", "archive", "retrieval_serve", "monitor"):
        connection = await asyncpg.connect(database.dsn(role))
        assert await connection.fetchval("select current_user") == role
        await connection.close()


async def test_a_wrong_password_is_refused(database: Database) -> None:
    wrong = database.dsn("gateway").replace("://gateway:", "://ingest:")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(wrong)


async def test_no_role_bypasses_row_level_security(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    rows = await connection.fetch(
        "select rolname from pg_roles where (rolsuper or rolbypassrls) and rolname not like 'pg_%'"
    )
    await connection.close()
    assert [row["rolname"] for row in rows] == ["postgres"]


async def test_vectors_are_there_and_a_service_cannot_make_tables(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("retrieval_serve"))
    assert await connection.fetchval("select '[1,0]'::vector <=> '[0,1]'::vector") == 1.0
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute("create table public.mine (x int)")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute("create table retrieval.mine (x int)")
    await connection.close()


async def test_the_bus_wants_its_password(nats_server: NatsServer) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", nats_server.bus.port)
    await reader.readline()
    writer.write(b"CONNECT {}\r\nPING\r\n")
    answer = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert b"Authorization Violation" in answer


async def test_the_right_password_is_let_in(nats_server: NatsServer) -> None:
    client = await nats_client.connect(nats_server.url)
    assert client.is_connected
    await client.close()


PARENT = """
import asyncio, sys
from pathlib import Path
from brain.stack import nats, postgres
from chassis.settings import Secret

async def main() -> None:
    folder = Path(sys.argv[1])
    bus = nats.Bus(folder / "bus", int(sys.argv[2]), int(sys.argv[3]), Secret("password"), folder / "nats.log")
    cluster = postgres.Cluster(folder / "cluster", int(sys.argv[4]), Secret("password"), folder / "postgres.log")
    postgres.initialise(cluster)
    print((await nats.start(bus)).pid, (await postgres.start(cluster)).pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_servers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    ports = [str(free_port()) for _ in range(3)]
    with subprocess.Popen([sys.executable, "-c", PARENT, tmp_path, *ports], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watched = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(watched) == 2
        parent.kill()
    for ended in watched:
        assert select.select([ended], [], [], 30)[0] == [ended]
        os.close(ended)


def test_a_server_that_syncs_later_is_refused() -> None:
    with pytest.raises(nats.NatsFailed, match="sync_interval: always"):
        nats.require(nats.Varz("2.15.1"))


def test_an_old_server_is_refused() -> None:
    always = nats.JetStreamVars(nats.JetStreamConfig(sync_always=True))
    with pytest.raises(nats.NatsFailed, match="too old"):
        nats.require(nats.Varz("2.9.10", always))
