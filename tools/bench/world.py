"""A running brain of the benchmark's own, and ways into it that an operator has."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import psutil
from nats.aio.client import Client

from brain.stack import programs
from chassis import nats, postgres
from chassis.postgres import Pool
from content.keyring import KeyRing
from contracts.ids import BrainId, PrincipalId
from houses import House, build


@contextmanager
def brain(folder: Path) -> Iterator[tuple[House, float]]:
    """A new brain, and the seconds of what `make up` does once everything is installed."""
    house = build(folder)
    began = time.perf_counter()
    for words in (("up", "--detach"), ("welcome",)):
        done = house.command(*words)
        if done.code:
            raise SystemExit(f"brain {words[0]} failed: {done.said}")
    took = time.perf_counter() - began
    try:
        yield house, took
    finally:
        house.command("down")


@asynccontextmanager
async def bus(house: House, name: str = "bench") -> AsyncIterator[Client]:
    """A connection to the brain's NATS."""
    client = await nats.connect(programs.bus(house.home, house.ports).url, name)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def pool(house: House, role: str, schema: str, **settings: str) -> AsyncIterator[Pool]:
    """A pool on the brain's database as one of its roles."""
    opened = await postgres.connect(
        programs.dsn(house.home, house.ports, role), schema, service="bench", largest=4, settings=settings
    )
    try:
        yield opened
    finally:
        await opened.close()


def brain_id(house: House) -> BrainId:
    return BrainId(house.home.papers().brain)


def keyring(house: House) -> KeyRing:
    return KeyRing.load(house.home.keyring)


async def principal(house: House, name: str) -> PrincipalId:
    """The member of that name."""
    async with pool(house, "approvals", "approvals") as db, postgres.transaction(db, brain_id(house)) as connection:
        return PrincipalId(await connection.fetchval("select id from members where name = $1 and active", name))


def token(house: House, *scopes: str) -> str:
    """A token of alice's."""
    words = [word for scope in scopes for word in ("--scope", scope)]
    issued = house.command("token", "issue", "--as", "alice", "--tier", "admin", *words)
    return str(issued.result["token"])


def open_proposals(house: House) -> list[dict[str, object]]:
    found = house.command("proposals", "--as", "alice").result["proposals"]
    return msgspec.convert(found, list[dict[str, object]])


def approve_all(house: House) -> None:
    """Approve everything that waits, as alice."""
    for proposal in open_proposals(house):
        told = house.command(
            "approve", str(proposal["id"]), "--digest", str(proposal["digest"]), "--as", "alice", seconds=600
        )
        if told.code:
            raise SystemExit(f"not approved: {told.result}")


def memory(house: House) -> dict[str, float]:
    """Proportional set size in MB of every process of this brain, by name."""
    root = house.home.pid("supervisor")
    if root is None:
        raise SystemExit("the brain does not run")
    supervisor = psutil.Process(root)
    found: dict[str, float] = {}
    for process in (supervisor, *supervisor.children(recursive=True)):
        try:
            size, words = process.memory_full_info().pss / 1e6, process.cmdline()
        except psutil.NoSuchProcess:  # a backend of PostgreSQL that has just ended
            continue
        found[_name(words)] = found.get(_name(words), 0.0) + size
    return found


def _name(words: list[str]) -> str:
    line = " ".join(words)
    for known in ("postgres", "nats-server"):
        if known in line:
            return known
    return words[-1].rsplit(".", 1)[-1]


async def at_width(width: int, work: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Run the jobs, `width` at a time."""
    jobs = list(reversed(work))

    async def one() -> None:
        while jobs:
            await jobs.pop()()

    await asyncio.gather(*(one() for _ in range(width)))


THREADS = int(os.environ.get("EMBEDDER_THREADS", "2"))
"""Cores that a local model may use, in the brain and beside it."""
