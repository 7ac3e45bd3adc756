"""The only place that constructs things: model, bus, database, and the roles that this process runs."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from nats.aio.client import Client

from chassis import health, log, nats, postgres, rpc, telemetry
from chassis.settings import read
from content.keyring import KeyRing
from content.store import ContentStore
from contracts.embedder_messages import EMBED, Embed
from contracts.ids import BrainId
from embedder import chunk_stream, models
from embedder.chunk_stream import ChunkStream
from embedder.embedding import Embedding
from embedder.questions import Questions
from embedder.reactions import drafts
from embedder.reactions.drafts import Drafts
from embedder.reactions.parking import Parking
from embedder.settings import Settings
from embedder.vectors import Memory
from embedder.worker import Worker, working
from eventlog.log import EventLog
from eventlog.signing import Signer, Verifier

SERVICE = "embedder"


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    async with AsyncExitStack() as stack:
        parts: dict[str, str] = {"model": "loading"}
        if "react" in settings.brain_roles:
            parts["drafts"] = "starting"
        reaction: list[Drafts] = []

        async def ready() -> dict[str, str]:
            troubles = [("drafts", each.trouble()) for each in reaction]
            return {part: reason for part, reason in [*parts.items(), *troubles] if reason}

        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        worker = await stack.enter_async_context(working(lambda: _model(settings)))
        parts["model"] = ""
        client = await stack.enter_async_context(_bus(settings, worker))
        if "react" in settings.brain_roles:
            reaction.append(await stack.enter_async_context(_reacting(settings, client, worker)))
            parts["drafts"] = ""
        log.get().info("service_started", roles=settings.brain_roles, model=worker.model.model_id)
        await stop.wait()
        log.get().info("service_stopping")


def _model(settings: Settings) -> models.Model:
    address = None
    if settings.embedder_endpoint_url:
        address = models.Address(
            settings.embedder_endpoint_url,
            settings.embedder_endpoint_model,
            settings.embedder_endpoint_dim,
            key=settings.embedder_endpoint_key.reveal(),
        )
    return models.select(settings.embedder_profile, threads=settings.embedder_threads, address=address)


@asynccontextmanager
async def _bus(settings: Settings, worker: Worker) -> AsyncIterator[Client]:
    server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
    if "serve" in settings.brain_roles:
        server.route(EMBED, Embed, Questions(worker).embed)
    client = await server.start()
    try:
        nats.require(client)
        yield client
    finally:
        await server.stop()


@asynccontextmanager
async def _reacting(settings: Settings, client: Client, worker: Worker) -> AsyncIterator[Drafts]:
    brain = BrainId(settings.brain_id)
    ring = KeyRing.load(settings.brain_keyring)
    signer = Signer.load(settings.brain_signing_key, SERVICE)
    verifier = Verifier.load(settings.brain_signers)
    pool = await postgres.connect(settings.postgres_dsn, "content", service=SERVICE, largest=4)
    written = EventLog(client, chunk_stream.STREAM, brain, signer, lambda: datetime.now(UTC))
    stream = ChunkStream(client, brain, written, verifier)
    memory = Memory()
    embedding = Embedding(pool, brain, ContentStore(ring), ring.chunk_key, worker, stream, memory)
    parking = Parking(client.jetstream(), brain, SERVICE, drafts.DURABLE)
    reaction = Drafts(client, brain, verifier, embedding, parking)
    await stream.warm(memory)
    log.get().info("memory_warmed", vectors=len(memory))
    try:
        async with reaction.running():
            yield reaction
    finally:
        await pool.close()
