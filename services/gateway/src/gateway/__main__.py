"""Run the service: `python -m gateway`."""

import asyncio
import os
from pathlib import Path
from uuid import UUID

import msgspec

from chassis import health, log, nats, postgres, process, rpc, telemetry
from chassis.settings import Secret, read


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the variable of the same name in upper case."""

    brain_id: UUID
    nats_url: Secret
    postgres_dsn: Secret
    health_port: int
    otlp_endpoint: str = ""
    brain_trace_file: Path | None = None


async def main(stop: asyncio.Event) -> None:
    """Connect, answer roll calls and questions about health, until `stop` is set."""
    settings = read(Settings, os.environ)
    log.configure("gateway")
    telemetry.configure("gateway", settings.otlp_endpoint, settings.brain_trace_file)
    server = rpc.Server(nats.broker(settings.nats_url, "gateway"), "gateway")
    client = await server.start()
    nats.require(client)
    pool = await postgres.connect(settings.postgres_dsn, "gateway", service="gateway")

    async def ready() -> dict[str, str]:
        return {} if client.is_connected else {"nats": "not connected"}

    async with health.serve(settings.health_port, ready):
        await stop.wait()
    await server.stop()
    await pool.close()


if __name__ == "__main__":
    process.run(main)
