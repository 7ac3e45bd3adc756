"""Rebuild: the whole index built anew beside the live one, compared with it, and switched only where they are equal."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from uuid import UUID

import asyncpg
import msgspec
from nats.aio.client import Client

from chassis import nats, sql
from chassis.migrations import Source, migrate
from chassis.postgres import Connection, Pool
from chassis.settings import BadSettings, Secret, read
from content.keyring import KeyRing
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId
from contracts.topology import Durable
from eventlog import leader
from eventlog.projector import Projection, Projector
from eventlog.provision import drop_durable, ensure_durable
from eventlog.signing import Verifier
from retrieval import database
from retrieval.projections.wiring import projections

STATEMENTS = sql.load("retrieval", "rebuild.sql")
CHECKSUM = sql.load("retrieval", "checksum.sql")

LIVE = "retrieval"
NEXT = "retrieval_next"
OLD = "retrieval_old"
SUFFIX = "-next"
ROLES = ("retrieval_project", "retrieval_serve", "retrieval_search")
OWNER_OF_SEARCH = "retrieval_search"

STALL = 120.0
"""Seconds without any progress after which a rebuild gives up; the live index serves on."""
MEETINGS = 40
"""Tries to find both indexes at the same positions; while facts keep coming one of them is always ahead."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the variable of the same name in upper case. `migrator_dsn`: the role that owns the schemas."""

    brain_id: UUID
    nats_url: Secret
    postgres_dsn: Secret
    migrator_dsn: Secret
    brain_keyring: Path
    brain_signers: Path


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild did. `differs` names the parts that were not equal; then the old index serves on."""

    switched: bool
    differs: tuple[str, ...]
    lines: dict[str, int]
    positions: dict[str, int]
    seconds: float


class Stalled(Exception):
    """The new index does not get on; says which projection, at which position, and why."""


async def rebuild(settings: Settings) -> Rebuilt:
    """Build, compare, switch.

    Raises `Stalled`, `Refused` (rebuild_runs) or `Unavailable`, and leaves the live index as it is.
    """
    begun = time.monotonic()
    brain = BrainId(settings.brain_id)
    client = await nats.connect(settings.nats_url, "retrieval-rebuild")
    migrator = await asyncpg.connect(
        settings.migrator_dsn.reveal(), timeout=10, server_settings={"timezone": "UTC", "jit": "off"}
    )
    try:
        if not await migrator.fetchval(STATEMENTS.alone, str(brain)):
            raise Refused(
                "rebuild_runs", "Another rebuild of this index is running.", "", "Wait until it ends, or end it."
            )
        await _prepare(settings.migrator_dsn, migrator)
        ring, verifier = KeyRing.load(settings.brain_keyring), Verifier.load(settings.brain_signers)
        pool = await database.projecting(settings.postgres_dsn, NEXT)
        try:
            async with _building(client, pool, brain, projections(ring, SUFFIX), verifier) as projectors:
                outcome = await _meet(client, migrator, brain, projectors)
        finally:
            await pool.close()
        await migrator.execute(STATEMENTS.forget.format(schema=OLD if outcome.switched else NEXT))
        return msgspec.structs.replace(outcome, seconds=round(time.monotonic() - begun, 3))
    finally:
        await migrator.close()
        await client.close()


async def _prepare(dsn: Secret, migrator: Connection) -> None:
    """An empty schema beside the live one, with every migration; what an interrupted rebuild left goes first."""
    for schema in (NEXT, OLD):
        await migrator.execute(STATEMENTS.forget.format(schema=schema))
    await migrator.execute(STATEMENTS.create.format(schema=NEXT))
    for role in ROLES:
        await migrator.execute(STATEMENTS.let_look.format(schema=NEXT, role=role))
    await migrator.execute(STATEMENTS.let_create.format(schema=NEXT, role=OWNER_OF_SEARCH))
    words = {"schema": NEXT, "writer": "retrieval_project", "reader": "retrieval_serve"}
    sources = [
        Source(f"{package}/migrations", Path(str(files(package))) / "migrations", words)
        for package in ("eventlog", "access", "retrieval")
    ]
    await migrate(dsn, NEXT, sources)


@asynccontextmanager
async def _building(
    client: Client, pool: Pool, brain: BrainId, wanted: list[Projection], verifier: Verifier
) -> AsyncIterator[list[Projector]]:
    """Project from the first fact with durables of our own. Pages come last: their vectors are there by then."""
    for each in wanted:
        await ensure_durable(client, Durable(each.name, each.stream, ordered=True, owner="retrieval"))
    projectors = [Projector(client, pool, brain, each, verifier) for each in wanted]
    running: list[asyncio.Task[None]] = []
    try:
        last = [each for each in projectors if "-pages-" in each.name]
        for group in ([each for each in projectors if each not in last], last):
            running += [asyncio.create_task(each.run()) for each in group]
            await _to_the_end(client, group)
        yield projectors
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for each in wanted:
            await drop_durable(client, each.stream, each.name)


async def _to_the_end(client: Client, projectors: list[Projector]) -> None:
    for each in projectors:
        await _until(each, (await leader.extent(client, each.stream)).last)


async def _until(projector: Projector, position: int) -> None:
    before = -1
    while not await projector.reached(position, STALL):
        if projector.position == before:
            raise Stalled(f"{projector.name} stands at {before} of {position}: {projector.trouble() or 'no progress'}")
        before = projector.position


async def _meet(client: Client, migrator: Connection, brain: BrainId, projectors: list[Projector]) -> Rebuilt:
    """Hold both indexes at the same positions, compare them there, and switch in the same transaction."""
    for _ in range(MEETINGS):
        await _to_the_end(client, projectors)
        async with migrator.transaction():
            await migrator.execute("select set_config('brain.id', $1, true)", str(brain))
            live = await _hold(migrator, brain, LIVE)
            beside = {name.removesuffix(SUFFIX): at for name, at in (await _hold(migrator, brain, NEXT)).items()}
            if live == beside:
                return await _compare(migrator, brain, live)
        await asyncio.sleep(0.25)
    raise Stalled("facts keep coming: both indexes never stood at the same positions; try again when it is calmer")


async def _compare(migrator: Connection, brain: BrainId, positions: dict[str, int]) -> Rebuilt:
    live, beside = await _checksum(migrator, LIVE), await _checksum(migrator, NEXT)
    differs = tuple(sorted(part for part in live.keys() | beside.keys() if live.get(part) != beside.get(part)))
    if not differs:
        await migrator.execute(STATEMENTS.take_over, brain, SUFFIX)
        await migrator.execute(STATEMENTS.rename.format(schema=LIVE, name=OLD))
        await migrator.execute(STATEMENTS.rename.format(schema=NEXT, name=LIVE))
    lines = {part: count for part, (count, _) in beside.items()}
    return Rebuilt(switched=not differs, differs=differs, lines=lines, positions=positions, seconds=0.0)


async def _hold(migrator: Connection, brain: BrainId, schema: str) -> dict[str, int]:
    await migrator.execute(STATEMENTS.look_into, f"{schema}, public")
    return {row["projection"]: row["position"] for row in await migrator.fetch(STATEMENTS.hold, brain)}


async def _checksum(migrator: Connection, schema: str) -> dict[str, tuple[int, str]]:
    await migrator.execute(STATEMENTS.look_into, f"{schema}, public")
    return {row["part"]: (row["lines"], row["sum"]) for row in await migrator.fetch(CHECKSUM.checksum)}


async def command(environ: Mapping[str, str] = os.environ) -> int:
    """Run a rebuild and print what it did as one JSON object. 0 switched, 1 not, 2 unusable settings, 5 unavailable."""
    try:
        outcome = await rebuild(read(Settings, environ))
    except BadSettings as error:
        return _said(2, {"error": "settings_unusable", "what": str(error)})
    except Stalled as error:
        return _said(1, {"error": "stalled", "what": str(error)})
    except Refused as refused:
        return _said(1, {"error": refused.code, "what": refused.what})
    except Unavailable as error:
        return _said(5, {"error": "unavailable", "what": error.what})
    return _said(0 if outcome.switched else 1, outcome)


def _said(code: int, outcome: object) -> int:
    sys.stdout.write(msgspec.json.encode(outcome).decode() + "\n")
    return code
