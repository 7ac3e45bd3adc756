"""The only place that constructs things: bus, database, projections, and the reads that stand on them."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from nats.aio.client import Client

from chassis import health, log, nats, rpc, telemetry
from chassis.postgres import Pool
from chassis.settings import read
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import retrieval_messages as messages
from contracts.ids import BrainId
from eventlog.projector import Projector
from eventlog.signing import Verifier
from retrieval import database
from retrieval.projections.wiring import projections
from retrieval.reads.contested import Contentions
from retrieval.reads.embedded import Embeddings
from retrieval.reads.finding import Finding
from retrieval.reads.questions import Questions
from retrieval.reads.reading import Reading
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval.settings import Settings

SERVICE = "retrieval"


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    projectors: list[Projector] = []
    parts = {"index": "starting"}

    async def ready() -> dict[str, str]:
        troubles = [(each.name, each.trouble()) for each in projectors]
        return {part: reason for part, reason in [*parts.items(), *troubles] if reason}

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        ring = KeyRing.load(settings.brain_keyring)
        serve = await database.serving(settings.serve_dsn)
        stack.push_async_callback(serve.close)
        client = await stack.enter_async_context(_bus(settings, serve, ring))
        if "project" in settings.brain_roles:
            project = await database.projecting(settings.postgres_dsn)
            stack.push_async_callback(project.close)
            await stack.enter_async_context(_projecting(settings, client, project, ring, projectors))
        parts["index"] = ""
        log.get().info("service_started", roles=settings.brain_roles)
        await stop.wait()
        log.get().info("service_stopping")


@asynccontextmanager
async def _bus(settings: Settings, pool: Pool, ring: KeyRing) -> AsyncIterator[Client]:
    """Everything that the bus asks of this service. The reads need a connection, so they are routed once one stands."""
    server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
    client = await nats.connect(settings.nats_url, SERVICE)
    nats.require(client)
    brain = BrainId(settings.brain_id)
    if "serve" in settings.brain_roles:
        sights = Sights(client, pool, brain)
        embeddings = Embeddings(client, pool, brain)
        await embeddings.start()
        server.route(messages.SEARCH, messages.Search, Searches(sights, Questions(client), _now).search)
        server.route(messages.FIND_PAGE, messages.FindPage, Finding(sights, _now).find)
        server.route(messages.READ_PAGE, messages.ReadPage, Reading(sights, ContentStore(ring), _now).read)
        server.route(messages.CONTESTED, messages.FindContested, Contentions(sights).find)
        server.route(messages.VECTORS, messages.AskVectors, embeddings.missing)
    await server.start()
    try:
        yield client
    finally:
        await server.stop()
        await client.drain()


@asynccontextmanager
async def _projecting(
    settings: Settings, client: Client, pool: Pool, ring: KeyRing, projectors: list[Projector]
) -> AsyncIterator[None]:
    verifier = Verifier.load(settings.brain_signers)
    brain = BrainId(settings.brain_id)
    projectors += [Projector(client, pool, brain, each, verifier) for each in projections(ring)]
    async with asyncio.TaskGroup() as tasks:  # a projection that ends by itself ends the process
        running = [tasks.create_task(each.run()) for each in projectors]
        yield
        for task in running:
            task.cancel()


def _now() -> datetime:
    return datetime.now(UTC)
