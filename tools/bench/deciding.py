"""Decisions that are acknowledged, beside the same batches published bare."""

import hashlib
import time
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import msgspec
from nats.aio.client import Client

from bench.table import Line, p50
from bench.world import at_width, brain_id, bus, keyring, pool, principal
from chassis import postgres, rpc
from content.bodies import Put, Slot
from content.store import ContentStore
from contracts import codec
from contracts.approvals_messages import DECIDE, SUBMIT_PAGE, Decide, Decided, PageWrite, SubmitPage, Submitted
from contracts.content import ContentRef
from contracts.enums import Origin, PageAction, Verdict
from contracts.ids import CommandId, ContentId, PrincipalId, ProposalId
from contracts.retrieval_messages import VECTORS, AskVectors, Vectors
from eventlog import leader
from houses import House

CLIENTS = 16
SINGLE = 40
PAGE = """---
type: topic
title: Bench page {n}
owner: alice
access: department
---

# Bench page {n}

Page {n} of a benchmark says that {n} is its number.
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal that waits, with the digest of its bytes."""

    proposal: ProposalId
    digest: str


async def submit(house: House, client: Client, count: int) -> list[Waiting]:
    """Propose so many small pages and wait for their vectors: what is timed then is the decision alone."""
    brain, alice, store = brain_id(house), await principal(house, "alice"), ContentStore(keyring(house))
    bodies = [PAGE.format(n=f"{n}-{uuid4().hex[:8]}").encode() for n in range(count)]
    async with pool(house, "ingest", "content") as db, postgres.transaction(db, brain) as connection:
        refs = await store.put(connection, brain, [Put(ContentId(uuid4()), body, Slot.PAGE) for body in bodies])
    waiting: list[Waiting] = []

    async def one(ref: ContentRef, body: bytes) -> None:
        write = PageWrite(path=f"bench/{ref.id}.md", body=ref, action=PageAction.CREATE)
        request = SubmitPage(command=CommandId(uuid4()), author=alice, runner=None, origin=Origin.PERSON, write=write)
        told = await rpc.ask(client, SUBMIT_PAGE, request, Submitted, seconds=30)
        waiting.append(Waiting(told.proposal, hashlib.sha256(body).hexdigest()))

    await at_width(4, [partial(one, ref, body) for ref, body in zip(refs, bodies, strict=True)])
    missing = count
    while missing:
        asked = AskVectors(bodies=tuple(ref.id for ref in refs), wait=4.0)
        missing = (await rpc.ask(client, VECTORS, asked, Vectors, seconds=10)).missing
    return waiting


async def decide(client: Client, alice: PrincipalId, waiting: Waiting) -> tuple[float, int]:
    """Approve one; seconds and position."""
    request = Decide(
        command=CommandId(uuid4()),
        by=alice,
        proposal=waiting.proposal,
        verdict=Verdict.APPROVE,
        digest=waiting.digest,
    )
    began = time.perf_counter()
    told = await rpc.ask(client, DECIDE, request, Decided, seconds=60)
    if not told.archived or told.outcome != "approved":
        raise SystemExit(f"a decision was not acknowledged as archived: {told}")
    return time.perf_counter() - began, told.position


async def batch_at(client: Client, position: int) -> list[leader.Stored]:
    """The messages of the decision whose last fact stands at `position`."""
    last = await leader.at(client, "EVT", position)
    assert last is not None
    batch = codec.decode_envelope(last.body).batch
    size = batch.of if batch else 1
    found = [await leader.at(client, "EVT", position - size + 1 + n) for n in range(size)]
    return [message for message in found if message is not None]


async def publish_bare(client: Client, like: list[leader.Stored]) -> None:
    """One atomic batch of the same sizes, expecting its subjects to be new, on a stream that nobody follows."""
    batch, home = uuid4().hex, uuid4().hex
    answer = b""
    for number, message in enumerate(like, start=1):
        headers = {
            "Nats-Msg-Id": uuid4().hex,
            "Nats-Expected-Last-Subject-Sequence": "0",
            "Nats-Batch-Id": batch,
            "Nats-Batch-Sequence": str(number),
        }
        subject = f"bare.{home}.{number}"
        if number < len(like):
            await client.publish(subject, message.body, headers=headers)
        else:
            reply = await client.request(
                subject, message.body, timeout=30, headers={**headers, "Nats-Batch-Commit": "1"}
            )
            answer = reply.data
    if b'"error"' in answer:
        raise SystemExit(f"the bare batch was refused: {answer!r}")


async def deciding(house: House, count: int) -> list[Line]:
    """Decisions per second at 16 clients, and the latency of a single one, each beside the same batches bare."""
    alice = await principal(house, "alice")
    async with bus(house) as client:
        ready = await submit(house, client, count + SINGLE)
        alone = [await decide(client, alice, waiting) for waiting in ready[:SINGLE]]
        positions: list[int] = []

        async def one(waiting: Waiting) -> None:
            positions.append((await decide(client, alice, waiting))[1])

        began = time.perf_counter()
        await at_width(CLIENTS, [partial(one, waiting) for waiting in ready[SINGLE:]])
        rate = count / (time.perf_counter() - began)
        like = await batch_at(client, alone[-1][1])
        single, bare = await _bare(client, like, count)
    return [
        Line(
            f"acknowledged decisions of {len(like)} facts, {CLIENTS} clients",
            f"{rate:.0f}/s",
            f"the same batches bare: {bare:.0f}/s",
            rate / bare,
            0.5,
            at_least=True,
        ),
        Line(
            "one decision at a time, p50",
            f"{p50([seconds for seconds, _ in alone]):.1f} ms",
            f"the same batch bare: {p50(single):.1f} ms",
            p50([seconds for seconds, _ in alone]),
            250,
            at_least=False,
            unit=" ms",
        ),
    ]


async def _bare(client: Client, like: list[leader.Stored], count: int) -> tuple[list[float], float]:
    config = {"name": "BARE", "subjects": ["bare.>"], "storage": "file", "allow_atomic": True, "num_replicas": 1}
    await leader.request(client, "$JS.API.STREAM.CREATE.BARE", msgspec.json.encode(config))
    single = []
    for _ in range(SINGLE):
        began = time.perf_counter()
        await publish_bare(client, like)
        single.append(time.perf_counter() - began)
    began = time.perf_counter()
    await at_width(CLIENTS, [partial(publish_bare, client, like)] * count)
    rate = count / (time.perf_counter() - began)
    await leader.request(client, "$JS.API.STREAM.DELETE.BARE", b"")
    return single, rate
