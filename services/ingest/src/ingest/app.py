"""The only place that constructs things: bus, database, logs, projections, and the commands that are served."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import cache

from nats.aio.client import Client

from chassis import health, log, nats, postgres, rpc, telemetry
from chassis.postgres import Pool
from chassis.settings import read
from content.keyring import KeyRing
from content.store import ContentStore
from contracts.ids import BrainId
from contracts.ingest_messages import FILE_CAPTURE, FINISH_IMPORT, IMPORT_FILES, FileCapture, FinishImport, ImportFiles
from eventlog.archive import Archived
from eventlog.log import EventLog
from eventlog.projector import Projector
from eventlog.signing import Signer, Verifier
from eventlog.wait import Watch
from ingest import projection
from ingest.commands.files import Files
from ingest.commands.filing import Filing
from ingest.commands.finish import Finish
from ingest.desk import Desk
from ingest.settings import Settings
from ingest.texts import checked

SERVICE = "ingest"


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    async with AsyncExitStack() as stack:
        pool = await postgres.connect(settings.postgres_dsn, SERVICE, service=SERVICE, largest=12)
        stack.push_async_callback(pool.close)
        ring = KeyRing.load(settings.brain_keyring)
        client = await stack.enter_async_context(_bus(settings, pool, ring))
        projectors = _projectors(settings, client, pool, ring) if "project" in settings.brain_roles else []

        async def ready() -> dict[str, str]:
            reasons = {} if client.is_connected else {"nats": "not connected"}
            return reasons | {each.name: reason for each in projectors if (reason := each.trouble())}

        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        await stack.enter_async_context(_running(projectors))
        log.get().info("service_started", roles=settings.brain_roles)
        await stop.wait()
        log.get().info("service_stopping")


@asynccontextmanager
async def _bus(settings: Settings, pool: Pool, ring: KeyRing) -> AsyncIterator[Client]:
    """Serve what ingest is asked, while the block runs."""
    server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
    if "serve" in settings.brain_roles:
        _serve(server, settings, pool, ring)
    client = await server.start()
    try:
        nats.require(client)
        yield client
    finally:
        await server.stop()


def _serve(server: rpc.Server, settings: Settings, pool: Pool, ring: KeyRing) -> None:
    brain = BrainId(settings.brain_id)
    signer = Signer.load(settings.brain_signing_key, SERVICE)

    @cache
    def desk() -> Desk:
        client = server.connection
        return Desk(
            nc=client,
            pool=pool,
            brain=brain,
            store=ContentStore(ring),
            key=ring.derive("digests of captures"),
            recordings=EventLog(client, "CAP", brain, signer, _now),
            sights=EventLog(client, "EVT", brain, signer, _now),
            captures=Watch(client, pool, brain, projection.CAPTURES),
            access=Watch(client, pool, brain, projection.ACCESS),
            archived=Archived(client, pool, brain),
            clock=_now,
        )

    server.route(IMPORT_FILES, ImportFiles, lambda asked: Files(desk()).take(checked(asked)))
    server.route(FINISH_IMPORT, FinishImport, lambda asked: Finish(desk()).take(checked(asked)))
    server.route(FILE_CAPTURE, FileCapture, lambda asked: Filing(desk()).take(checked(asked)))


def _projectors(settings: Settings, client: Client, pool: Pool, ring: KeyRing) -> list[Projector]:
    brain, verifier = BrainId(settings.brain_id), Verifier.load(settings.brain_signers)
    store = ContentStore(ring)
    models = (projection.captures(store), projection.access(store))
    return [Projector(client, pool, brain, model, verifier) for model in models]


@asynccontextmanager
async def _running(projectors: Sequence[Projector]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:  # a projector that ends by itself ends the process
        running = [tasks.create_task(projector.run()) for projector in projectors]
        yield
        for task in running:
            task.cancel()


def _now() -> datetime:
    return datetime.now(UTC)
