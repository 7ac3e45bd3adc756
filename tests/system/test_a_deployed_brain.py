"""A brain run as Kubernetes would: each role a process of its own, with the settings and papers of its manifest."""

import asyncio
import http.client
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from brain.deployment import opening, prepare, secrets
from brain.stack import child, nats, postgres
from chassis.settings import Secret
from house import manifests
from house.manifests import Workload
from house.repository import SERVICES, of_image
from servers import free_port

pytestmark = pytest.mark.system

BRAIN = UUID("5b6f3c1e-6c1b-4c9e-9c39-6b4b8a1f2d10")
LOOPBACK = "127.0.0.1"
READY_SECONDS = 120


class Deployed:
    """Both servers, the papers, and the port of each process's health."""

    def __init__(self, papers: Path, gateway: int, approvals: int) -> None:
        self.papers = papers
        self.http = {"gateway": gateway, "approvals": approvals}
        self.health: dict[str, int] = {}

    def word(self, *parts: str) -> str:
        return self.papers.joinpath(*parts).read_text(encoding="utf-8").strip()

    def mounted(self, each: Workload) -> Path:
        """The folder that the pod would see as /run/brain."""
        (secret,) = (volume.secret for volume in each.spec.template.spec.volumes if volume.secret)
        folder = self.papers / f"of-{each.metadata.name}"
        folder.mkdir(exist_ok=True)
        for item in secret.items:
            (folder / item.path).symlink_to(self.papers / secret.secret_name.removeprefix("brain-") / item.key)
        return folder

    def program(self, each: Workload) -> child.Program:
        """The process of one pod: its manifest's environment, with ports that are free here."""
        folder = self.mounted(each)
        self.health[each.metadata.name] = free_port()
        values = {name: text.replace("/run/brain", str(folder)) for name, text in each.environment.items()}
        urls = {"PUBLIC_URL": f"http://{LOOPBACK}:{self.http['gateway']}"}
        urls["WEB_URL"] = f"http://{LOOPBACK}:{self.http['approvals']}"
        configured = {"BRAIN_ID": str(BRAIN), **urls}
        env = of_image(each.program) | values | {name: configured[name] for name in values if name in configured}
        env |= {"HEALTH_HOST": LOOPBACK, "HEALTH_PORT": str(self.health[each.metadata.name])}
        if "HTTP_PORT" in env:
            env |= {"HTTP_HOST": LOOPBACK, "HTTP_PORT": str(self.http[each.program])}
        log = self.papers / f"{each.metadata.name}.log"
        return child.Program(each.metadata.name, (sys.executable, "-m", each.program), log, env=env)


@pytest.fixture
async def deployed(tmp_path: Path) -> AsyncIterator[Deployed]:
    ports = postgres_port, nats_port, monitor, gateway, approvals = [free_port() for _ in range(5)]
    assert len(set(ports)) == len(ports)
    place = secrets.Place(
        f"{LOOPBACK}:{postgres_port}",
        f"{LOOPBACK}:{nats_port}",
        f"http://{LOOPBACK}:{gateway}",
        f"http://{LOOPBACK}:{approvals}",
    )
    secrets.write(tmp_path / "papers", place, BRAIN)
    brain = Deployed(tmp_path / "papers", gateway, approvals)
    superuser = Secret(brain.word("postgres", "POSTGRES_PASSWORD"))
    cluster = postgres.Cluster(tmp_path / "cluster", postgres_port, superuser, tmp_path / "postgres.log")
    password = Secret(urlsplit(brain.word("prepare", "NATS_URL")).password or "")
    bus = nats.Bus(tmp_path / "nats", nats_port, monitor, password, tmp_path / "nats.log")
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(postgres.initialise, cluster)
        stack.push_async_callback((await postgres.start(cluster, {"fsync": "off"})).end)
        stack.push_async_callback((await nats.start(bus)).end)
        settings = prepare.Settings(
            nats_url=Secret(brain.word("prepare", "NATS_URL")),
            nats_monitor=bus.monitor,
            superuser_dsn=Secret(brain.word("prepare", "SUPERUSER_DSN")),
            role_passwords=brain.papers / "prepare" / "roles.json",
        )
        await prepare.prepare(settings)
        for each in manifests.workloads(manifests.render()):
            if each.program in SERVICES:
                stack.push_async_callback((await child.start(brain.program(each))).end)
        yield brain


def _get(port: int, path: str) -> tuple[int, str]:
    """Status and body, or the address that one is sent to."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.getheader("location") or reply.read().decode()
    except OSError as error:
        return 0, type(error).__name__
    finally:
        connection.close()


async def _all_ready(brain: Deployed) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            states = {name: await asyncio.to_thread(_get, port, "/readyz") for name, port in brain.health.items()}
            if all(status == http.client.OK for status, _ in states.values()):
                return
            await asyncio.sleep(0.2)


async def test_every_role_alone_becomes_ready_and_the_first_owner_gets_in(deployed: Deployed) -> None:
    await _all_ready(deployed)
    url = f"http://{LOOPBACK}:{deployed.http['gateway']}"
    settings = opening.Settings(brain_id=BRAIN, nats_url=Secret(deployed.word("prepare", "NATS_URL")), public_url=url)
    link = await opening.open_brain(settings, f"owner-{uuid4().hex[:8]}")
    assert link.startswith(f"{url}/signin?code=")
    path = link.removeprefix(url)
    status, address = await asyncio.to_thread(_get, deployed.http["gateway"], path)
    assert (status, address) == (303, f"http://{LOOPBACK}:{deployed.http['approvals']}")
    again, _ = await asyncio.to_thread(_get, deployed.http["gateway"], path)
    assert again == http.client.BAD_REQUEST
