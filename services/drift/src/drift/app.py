"""The only place that constructs things: bus, database, the projection and the sweep."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime

from chassis import health, log, nats, postgres, rpc, telemetry
from chassis.settings import read
from contracts.ids import BrainId
from drift import sweep
from drift.projection import FRESHNESS
from drift.settings import Settings
from eventlog.projector import Projector
from eventlog.signing import Verifier

SERVICE = "drift"


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    brain = BrainId(settings.brain_id)
    async with AsyncExitStack() as stack:
        server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
        client = await server.start()
        stack.push_async_callback(server.stop)
        nats.require(client)
        pool = await postgres.connect(settings.postgres_dsn, SERVICE, service=SERVICE, largest=4)
        stack.push_async_callback(pool.close)
        projector = Projector(client, pool, brain, FRESHNESS, Verifier.load(settings.brain_signers))

        async def ready() -> dict[str, str]:
            troubles = {"nats": "" if client.is_connected else "not connected"}
            if "project" in settings.brain_roles:
                troubles[FRESHNESS.name] = projector.trouble()
            return {part: reason for part, reason in troubles.items() if reason}

        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        async with asyncio.TaskGroup() as tasks:  # a role that ends by itself ends the process
            running: list[asyncio.Task[None]] = []
            if "project" in settings.brain_roles:
                running.append(tasks.create_task(projector.run()))
            if "react" in settings.brain_roles:
                looking = sweep.run(client, pool, brain, lambda: datetime.now(UTC), stop, settings.sweep_seconds)
                running.append(tasks.create_task(looking))
            log.get().info("service_started", roles=settings.brain_roles)
            await stop.wait()
            for task in running:
                task.cancel()
