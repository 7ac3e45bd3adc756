"""The whole process on the bus: commands, the archive, readiness, and what follows from an accepted text."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx2
import msgspec
import pytest
from nats.aio.msg import Msg

from approvals import app
from approvals_world import World, digest, page_text
from chassis import rpc
from contracts import approvals_messages as messages
from contracts import replies
from contracts.enums import Origin, ProposalKind, Verdict
from contracts.errors import Refused
from contracts.ids import CaptureId, CommandId, ProposalId
from contracts.ingest_messages import FILE_CAPTURE, FileCapture, Filed
from contracts.retrieval_messages import VECTORS, AskVectors, Vectors
from servers import free_port

BODY = page_text("Discount ceiling", "Up to 12 %.")


@pytest.fixture
async def service(world: World) -> AsyncIterator[tuple[World, int]]:
    """The process as `python -m approvals` runs it, and its health port; the test's own projections make way."""
    await world.desk.catch_up(0)
    for name in list(world.tasks):
        await world.stop(name)
    settings, stop, port = world.settings, asyncio.Event(), free_port()
    environ = {
        "BRAIN_ID": str(settings.brain_id),
        "NATS_URL": settings.nats_url.reveal(),
        "POSTGRES_DSN": settings.postgres_dsn.reveal(),
        "ARCHIVE_DSN": settings.archive_dsn.reveal(),
        "BRAIN_KEYRING": str(settings.brain_keyring),
        "BRAIN_SIGNING_KEY": str(settings.brain_signing_key),
        "BRAIN_SIGNERS": str(settings.brain_signers),
        "HEALTH_PORT": str(port),
        "HTTP_PORT": str(free_port()),
        "PUBLIC_URL": "http://127.0.0.1:1",
        "WEB_URL": "http://127.0.0.1:2",
    }
    running = asyncio.create_task(app.main(stop, environ))
    try:
        async with httpx2.AsyncClient() as client:
            for _ in range(200):
                try:
                    if (await client.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
                await asyncio.wait({running}, timeout=0.05)
                assert not running.done(), running.exception()
        yield world, port
    finally:
        stop.set()
        await running


async def test_a_page_is_proposed_and_decided_over_the_bus(service: tuple[World, int]) -> None:
    world, port = service
    (ref,) = await world.store(BODY)
    asked = messages.SubmitPage(
        command=CommandId(uuid4()),
        author=world.alice,
        runner=None,
        origin=Origin.PERSON,
        write=messages.PageWrite(path="a.md", body=ref),
    )
    submitted = await rpc.ask(world.nc, messages.SUBMIT_PAGE, asked, messages.Submitted, seconds=10)
    lines = await rpc.ask(world.nc, messages.PROPOSALS, messages.AskProposals(by=world.alice), messages.ProposalLines)
    assert [line.id for line in lines.proposals] == [submitted.proposal]
    ballot = world.ballot(submitted.proposal, world.alice, digest(BODY))
    decided = await rpc.ask(world.nc, messages.DECIDE, ballot, messages.Decided, seconds=10)
    assert (decided.outcome, decided.archived) == ("approved", True)
    with pytest.raises(Refused) as caught:
        await rpc.ask(world.nc, messages.DECIDE, world.ballot(ProposalId(uuid4()), world.alice, None), messages.Decided)
    assert caught.value.code == "no_such_proposal"
    async with httpx2.AsyncClient() as client:
        ready = (await client.get(f"http://127.0.0.1:{port}/readyz")).json()
    assert ready == {"ready": True, "reasons": {}}


async def test_a_promotion_waits_for_vectors_that_come(service: tuple[World, int]) -> None:
    world, _ = service
    asked: list[float] = []

    async def answer(message: Msg) -> None:
        asked.append(msgspec.json.decode(message.data, type=AskVectors).wait)
        await message.respond(replies.success(Vectors(missing=1 if len(asked) < 3 else 0)))

    neighbour = await world.nc.subscribe(VECTORS, cb=answer)
    try:
        submitted = await world.propose("a.md", BODY)
        ballot = world.ballot(submitted.proposal, world.alice, digest(BODY))
        decided = await rpc.ask(world.nc, messages.DECIDE, ballot, messages.Decided, seconds=40)
    finally:
        await neighbour.unsubscribe()
    assert decided.vectors is True
    assert asked[0] == 0
    assert len(asked) == 3


async def test_an_accepted_text_is_filed_as_a_capture_once(service: tuple[World, int]) -> None:
    world, _ = service
    filed: asyncio.Queue[FileCapture] = asyncio.Queue()

    async def answer(message: Msg) -> None:
        await message.respond(replies.success(Filed(capture=CaptureId(uuid4()), position=1, archived=True)))
        filed.put_nowait(msgspec.json.decode(message.data, type=FileCapture))

    neighbour = await world.nc.subscribe(FILE_CAPTURE, cb=answer)
    try:
        text = messages.SubmitText(
            command=CommandId(uuid4()),
            author=world.alice,
            origin=Origin.AGENT,
            kind=ProposalKind.OBSERVATION,
            title="Seen in a call",
            body="The ceiling is fifteen.",
        )
        submitted = await rpc.ask(world.nc, messages.SUBMIT_TEXT, text, messages.Submitted, seconds=10)
        view = await rpc.ask(
            world.nc,
            messages.PROPOSAL,
            messages.AskProposal(by=world.alice, proposal=submitted.proposal),
            messages.ProposalView,
        )
        ballot = world.ballot(submitted.proposal, world.alice, view.line.digest, verdict=Verdict.APPROVE)
        await rpc.ask(world.nc, messages.DECIDE, ballot, messages.Decided, seconds=10)
        async with asyncio.timeout(15):
            capture = await filed.get()
    finally:
        await neighbour.unsubscribe()
    assert (capture.title, capture.text, capture.by) == ("Seen in a call", "The ceiling is fifteen.", world.alice)
    assert capture.external_id == str(submitted.proposal)
