"""docker-compose.yml, rendered by Compose itself: no default secret, nothing published to the world, facts synced."""

import asyncio
import os
import subprocess
import urllib.request
from pathlib import Path

import msgspec
import nats as nats_client
import pytest

from brain.stack import child, nats
from eventlog.provision import provision, require_sync
from house.repository import (
    DURING_A_JOB,
    IMAGES,
    ROOT,
    SERVICES,
    of_image,
    papers_used,
    settings,
    tool,
    variables,
    wrong_settings,
)
from servers import free_port

REQUIRED = ("BRAIN_ID", "BRAIN_SECRETS", "BRAIN_USER", "PUBLIC_URL", "WEB_URL")


class Mount(msgspec.Struct):
    type: str
    source: str
    target: str
    read_only: bool = False


class Port(msgspec.Struct):
    target: int
    host_ip: str = ""


class Condition(msgspec.Struct):
    condition: str


class Program(msgspec.Struct):
    image: str
    restart: str = ""
    environment: dict[str, str] = {}
    volumes: list[Mount] = []
    ports: list[Port] = []
    depends_on: dict[str, Condition] = {}
    healthcheck: dict[str, object] | None = None
    networks: dict[str, object] = {}
    read_only: bool = False
    cap_drop: list[str] = []
    user: str = ""


class Project(msgspec.Struct):
    services: dict[str, Program]
    networks: dict[str, dict[str, object]]


def _given(papers: Path) -> dict[str, str]:
    lines = (papers / "brain.env").read_text() + (papers / "compose.env").read_text()
    return dict(line.split("=", 1) for line in lines.splitlines())


def _config(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    argv = [tool("docker-compose"), "--project-directory", str(ROOT), "--env-file", "/dev/null", "--profile", "*"]
    mine = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [*argv, "config", "--format", "json"],
        env=mine | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def project(papers: Path) -> Project:
    ended = _config(_given(papers))
    assert ended.returncode == 0, ended.stderr
    return msgspec.json.decode(ended.stdout, type=Project)


@pytest.mark.parametrize("name", REQUIRED)
def test_nothing_is_rendered_without(name: str, papers: Path) -> None:
    ended = _config(_given(papers) | {name: ""})
    assert ended.returncode != 0
    assert f"required variable {name} is missing a value" in ended.stderr


def test_what_brain_secrets_writes_is_all_that_is_required(papers: Path) -> None:
    assert set(_given(papers)) == set(REQUIRED)


@pytest.mark.parametrize("name", IMAGES)
def test_a_program_gets_the_settings_that_it_reads_and_papers_that_there_are(
    name: str, project: Project, papers: Path
) -> None:
    program = project.services[name]
    given = of_image(name) | program.environment
    shapes = DURING_A_JOB.get(name) or (settings(name),)
    read = set().union(*(variables(shape) for shape in shapes))
    assert {key.removesuffix("_FILE") for key in given} - read == set()
    for shape in shapes:
        mine = {key: value for key, value in given.items() if key.removesuffix("_FILE") in variables(shape)}
        assert wrong_settings(shape, mine) == []
    (mount,) = (each for each in program.volumes if each.target == "/run/brain")
    assert Path(mount.source) == papers / name
    assert mount.read_only
    assert papers_used(given) == {path.name for path in (papers / name).iterdir()}


def test_only_what_people_reach_is_published_and_only_on_this_machine(project: Project) -> None:
    published = {
        name: [(port.host_ip, port.target) for port in each.ports]
        for name, each in project.services.items()
        if each.ports
    }
    assert published == {"gateway": [("127.0.0.1", 8080)], "approvals": [("127.0.0.1", 8080)]}
    assert project.networks["inside"]["internal"] is True
    outside = {name for name, each in project.services.items() if "outside" in each.networks}
    assert outside == set(published)


def test_services_wait_for_what_they_need_and_come_back_by_themselves(project: Project) -> None:
    for name in SERVICES:
        program = project.services[name]
        assert program.depends_on["prepare"].condition == "service_completed_successfully"
        assert (program.restart, program.read_only, program.cap_drop) == ("unless-stopped", True, ["ALL"])
        assert program.user
    waits = {name: each.condition for name, each in project.services["prepare"].depends_on.items()}
    assert waits == {"postgres": "service_healthy", "nats": "service_healthy"}
    assert all(project.services[server].healthcheck for server in waits)


def test_images_are_named_by_tag(project: Project) -> None:
    tags = [each.image.rpartition(":")[2] for each in project.services.values() if ":" in each.image]
    assert len(tags) == len(project.services)
    assert "latest" not in tags


@pytest.fixture
def nats_config(project: Project, tmp_path: Path) -> Path:
    """The configuration as the container sees it, but for the place of the data."""
    mounts = {each.target: each.source for each in project.services["nats"].volumes if each.type == "bind"}
    text = Path(mounts["/etc/nats/config/nats.conf"]).read_text(encoding="utf-8")
    assert "sync_interval: always" in [line.strip() for line in text.splitlines()]
    (tmp_path / "config").mkdir()
    (tmp_path / "papers").symlink_to(mounts["/etc/nats/papers"])
    config = tmp_path / "config" / "nats.conf"
    config.write_text(text.replace("store_dir: /data", f'store_dir: "{tmp_path}/data"'), encoding="utf-8")
    return config


async def test_the_rendered_nats_syncs_every_write_and_takes_the_ledger(nats_config: Path, papers: Path) -> None:
    port, monitor = free_port(), free_port()
    argv = (tool("nats-server"), "-c", str(nats_config), "-a", "127.0.0.1", "-p", str(port), "-m", str(monitor))
    server = await child.start(child.Program("nats", argv, nats_config.with_name("log")))
    try:
        varz = await asyncio.wait_for(_answer(f"http://127.0.0.1:{monitor}/varz"), 20)
        require_sync(varz)
        url = read_secret(papers / "gateway" / "NATS_URL").replace("nats:4222", f"127.0.0.1:{port}")
        client = await nats_client.connect(url, allow_reconnect=False)
        nats.require(msgspec.json.decode(varz, type=nats.Varz))
        await provision(client)
        await client.close()
        assert await _knock(port, "") == "-ERR 'Authorization Violation'"
    finally:
        await server.end()


def read_secret(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


async def _answer(address: str) -> bytes:
    """What the server says as soon as it listens."""
    while True:
        try:
            return await asyncio.to_thread(_get, address)
        except OSError:
            await asyncio.sleep(0.03)


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=5) as reply:
        body: bytes = reply.read()
        return body


async def _knock(port: int, password: str) -> str:
    """What the server answers to somebody who has not got the password."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await reader.readline()
        writer.write(b"CONNECT " + msgspec.json.encode({"user": nats.USER, "pass": password}) + b"\r\nPING\r\n")
        return (await reader.readline()).decode().strip()
    finally:
        writer.close()
        await writer.wait_closed()
