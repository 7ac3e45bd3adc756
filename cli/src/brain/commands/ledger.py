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
from contracts.errors import Unavailable
from contracts.ids import BrainId, CommandId, content_id, service_principal
from contracts.operations import LogQuarantined
from contracts.topology import STREAMS
from eventlog.log import Append, Conflict, EventLog
from eventlog.projector import read
from eventlog.quarantine import Skipped, examine
from eventlog.signing import Signer, Verifier
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
@click.option("--digest", help="SHA-256 of the message's bytes, as this command shows it when asked without.")
@output.json_option
def quarantine(*, position: int, stream: str, reason: str, digest: str | None, as_json: bool) -> None:
    """Let readers pass over the one message at POSITION that this release cannot read.

    Asked without --digest it quarantines nothing, and tells why the message cannot be read and what its digest is.
    Whoever can read the message, such as a newer release, reads it all the same. There is no way back.
    """
    at, already = asyncio.run(_quarantine(locate(os.environ), LogStream(stream), position, reason, digest))
    told = f"{stream} {position} is skipped by whoever cannot read it, said at position {at}"
    if already:
        told = f"{stream} {position} is quarantined already, said at position {at}; nothing was changed"
    output.show(
        {"stream": stream, "quarantined": position, "position": at, "already": already}, [told], as_json=as_json
    )


async def _quarantine(
    home: Home, stream: LogStream, position: int, reason: str, digest: str | None
) -> tuple[int, bool]:
    """Where in EVT the quarantine stands, and whether it stood there before."""
    ports = Ports(first_port(os.environ, home))
    brain = BrainId(home.papers().brain)
    command = CommandId(uuid4())
    history = subjects.log(brain)
    verifier = Verifier.load(home.signers)
    async with console.bus(home) as client, _database(home, ports, "approvals", "content") as pool:
        found = await examine(client, brain, stream.value, position, digest, lambda stored: read(stored, verifier))
        if isinstance(found, Skipped):
            return found.said, True
        async with postgres.transaction(pool, brain) as db:
            put = Put(content_id(command, "reason"), reason.encode(), Slot.REASON)
            (kept,) = await ContentStore(KeyRing.load(home.keyring)).put(db, brain, [put])
        fact = LogQuarantined(stream=stream, sequence=position, reason=kept)
        said = EventLog(client, "EVT", brain, Signer.load(home.signing_key("operator"), "operator"), _now)
        operator = service_principal(brain, "operator")
        decision = Append(command, operator, uuid4(), ((history, fact),), {history: found.after})
        try:
            return await said.append(decision), False
        except Conflict as error:
            raise Unavailable("somebody else quarantined a message at this moment") from error


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
