"""`brain log`: whether the ledger is whole, and the one fact that an operator may say about it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

import click
import msgspec

from brain import console, output
from brain.groups import Group
from brain.stack import programs
from brain.stack.home import Home, Ports, first_port, locate
from chassis import postgres
from content.bodies import Put, Slot
from content.errors import ContentMissing, ContentTampered
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import subjects
from contracts.enums import LogStream
from contracts.ids import BrainId, CommandId, content_id, service_principal
from contracts.operations import LogQuarantined
from contracts.topology import STREAMS
from eventlog import leader
from eventlog.log import Append, EventLog
from eventlog.signing import Signer
from eventlog.verify import Verified, verify

FAILED = 1
_PART = 200


class Problem(msgspec.Struct, frozen=True):
    """What is wrong at one position of one stream; position 0 for a body, which several facts may name."""

    stream: str
    position: int
    what: str


class Report(msgspec.Struct, frozen=True):
    """The ledger, walked from end to end. `head`: the hash of EVT's last archived fact."""

    ok: bool
    facts: int
    head: str
    position: int
    problems: tuple[Problem, ...]


@click.group(cls=Group)
def log() -> None:
    """Look after the ledger of facts."""


@log.command("verify")
@output.json_option
def verify_log(*, as_json: bool) -> int:
    """Compare every fact with its archived copy, the chain of hashes with both, and bodies with what names them."""
    report = asyncio.run(_verify(locate(os.environ)))
    lines = [f"{problem.stream} {problem.position}: {problem.what}" for problem in report.problems]
    word, facts = "whole" if report.ok else "NOT WHOLE", output.count(report.facts, "fact")
    lines.append(f"{word}: {facts} up to {report.position}, {report.head}")
    output.show(report, lines, as_json=as_json)
    return 0 if report.ok else FAILED


@log.command()
@click.argument("position", type=click.IntRange(1))
@click.option("--stream", type=click.Choice([each.value for each in LogStream]), default="EVT", show_default=True)
@click.option("--reason", required=True, help="Why; kept in the content store, not in the log.")
@output.json_option
def quarantine(*, position: int, stream: str, reason: str, as_json: bool) -> None:
    """Have every reader skip exactly the one message at POSITION that none of them can read."""
    at = asyncio.run(_quarantine(locate(os.environ), LogStream(stream), position, reason))
    told = f"{stream} {position} is skipped from now on, said at position {at}"
    output.show({"stream": stream, "quarantined": position, "position": at}, [told], as_json=as_json)


async def _quarantine(home: Home, stream: LogStream, position: int, reason: str) -> int:
    ports = Ports(first_port(os.environ, home))
    brain = BrainId(home.papers().brain)
    command = CommandId(uuid4())
    history = subjects.log(brain)
    async with console.bus(home) as client, _database(home, ports, "approvals", "content") as pool:
        async with postgres.transaction(pool, brain) as db:
            put = Put(content_id(command, "reason"), reason.encode(), Slot.REASON)
            (kept,) = await ContentStore(KeyRing.load(home.keyring)).put(db, brain, [put])
        fact = LogQuarantined(stream=stream, sequence=position, reason=kept)
        said = EventLog(client, "EVT", brain, Signer.load(home.signing_key("operator"), "operator"), _now)
        last = await leader.last(client, "EVT", history)
        expected = {history: last.position if last else 0}
        operator = service_principal(brain, "operator")
        return await said.append(Append(command, operator, uuid4(), ((history, fact),), expected))


@asynccontextmanager
async def _database(home: Home, ports: Ports, role: str, schema: str) -> AsyncIterator[postgres.Pool]:
    pool = await postgres.connect(programs.dsn(home, ports, role), schema, service="console", largest=2)
    try:
        yield pool
    finally:
        await pool.close()


def _now() -> datetime:
    return datetime.now(UTC)


async def _verify(home: Home) -> Report:
    ports = Ports(first_port(os.environ, home))
    brain = BrainId(home.papers().brain)
    store = ContentStore(KeyRing.load(home.keyring))
    walked, bodies = [], []
    async with console.bus(home) as client, _database(home, ports, "archive", "archive") as pool:
        for stream in (stream.name for stream in STREAMS if stream.ledger):
            async with postgres.transaction(pool, brain, readonly=True) as db:
                found = await verify(client, db, brain, stream)
                bodies += await _bodies(db, store, brain, found)
            walked.append(found)
    broken = [Problem(each.stream, each.position, each.what) for found in walked for each in found.broken]
    ledger = walked[0]
    facts = sum(found.facts for found in walked)
    return Report(not broken and not bodies, facts, ledger.head, ledger.position, (*broken, *bodies))


async def _bodies(db: postgres.Pooled, store: ContentStore, brain: BrainId, found: Verified) -> list[Problem]:
    """The bodies that facts name and the store does not hold, or holds changed."""
    problems = []
    for start in range(0, len(found.named), _PART):
        refs = found.named[start : start + _PART]
        while refs:
            try:
                await store.get(db, brain, refs)
            except ContentMissing as error:
                problems += [Problem(found.stream, 0, f"body {key} is missing") for key in error.ids]
                refs = [ref for ref in refs if ref.id not in error.ids]
            except ContentTampered as error:
                problems.append(Problem(found.stream, 0, f"body {error.id} is not what was committed to"))
                refs = [ref for ref in refs if ref.id != error.id]
            else:
                break
    return problems
