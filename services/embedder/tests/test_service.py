"""The service on a real nats-server and PostgreSQL: drafts in, passages with vectors out, questions answered."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx2
import numpy as np
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.js import JetStreamContext

from chassis import nats, postgres, rpc
from chassis.settings import Secret
from content.bodies import Put, Slot
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import codec, subjects
from contracts.chunks import BodyEmbedded, EmbeddedChunk
from contracts.content import ContentRef
from contracts.embedder_messages import EMBED, Embed, Embedded
from contracts.enums import Origin, PageAction, ProposalKind
from contracts.envelope import Envelope
from contracts.errors import Unavailable
from contracts.ids import BrainId, BuildId, CommandId, ContentId, PageId, PrincipalId, ProposalId
from contracts.proposals import BuildPageWritten, PageDraft, ProposalSubmitted, ProposalWithdrawn
from embedder import chunk_stream
from embedder.app import main
from embedder.chunk_stream import ChunkStream
from embedder.embedding import Embedding, Tally
from embedder.models import Model, ModelUnavailable, Vectors, select
from embedder.models.hashing import Hashing
from embedder.reactions import drafts, parking
from embedder.reactions.drafts import Drafts
from embedder.reactions.parking import Parking
from embedder.vectors import Memory
from embedder.worker import working
from eventlog import leader
from eventlog.log import Append, EventLog
from eventlog.provision import provision
from eventlog.signing import Signer, Verifier, create_key
from servers import Database, NatsServer, free_port

pytestmark = pytest.mark.service

AUTHOR = PrincipalId(uuid4())
SERVICES = ("embedder", "approvals", "gateway")


def page(title: str, *sections: str) -> bytes:
    return "\n\n".join([f"---\ntype: policy\ntitle: {title}\naccess: public\n---", *sections]).encode()


TRAVEL = page("Travel", "# Travel\n\nBook early.", "## Trains\n\nTrains are preferred.", "## Flights\n\nAsk first.")


@dataclass
class House:
    """One brain, with approvals' pen, what embedder says in CHK, and all that an embedder is made of."""

    client: Client
    pool: postgres.Pool
    environ: dict[str, str]
    brain: BrainId
    ring: KeyRing
    signers: dict[str, Signer]
    verifier: Verifier
    chunks: JetStreamContext.PushSubscription
    ports: dict[str, int] = field(default_factory=dict)

    def log(self, stream: str, service: str) -> EventLog:
        return EventLog(self.client, stream, self.brain, self.signers[service], lambda: datetime.now(UTC))

    async def stored(self, *bodies: bytes) -> list[ContentRef]:
        puts = [Put(ContentId(uuid4()), body, Slot.PAGE) for body in bodies]
        async with postgres.transaction(self.pool, self.brain) as db:
            return await ContentStore(self.ring).put(db, self.brain, puts)

    async def draft(self, body: bytes, previous: ContentRef | None = None) -> PageDraft:
        kept, path = await self.stored(body, b"policies/travel.md")
        action = PageAction.EDIT if previous else PageAction.CREATE
        base = 1 if previous else 0
        return PageDraft(page=PageId(uuid4()), action=action, base=base, body=kept, path=path, previous=previous)

    async def submit(self, draft: PageDraft, *, signer: str = "approvals") -> None:
        proposal = ProposalId(uuid4())
        fact = ProposalSubmitted(
            proposal=proposal, kind=ProposalKind.PAGE, origin=Origin.PERSON, author=AUTHOR, draft=draft
        )
        subject = subjects.proposal(self.brain, proposal)
        command = CommandId(uuid4())
        await self.log("EVT", signer).append(Append(command, AUTHOR, command, ((subject, fact),), {subject: 0}))

    async def submitted(self, body: bytes, previous: ContentRef | None = None) -> ContentRef:
        draft = await self.draft(body, previous)
        await self.submit(draft)
        return draft.body

    async def heard(self) -> tuple[Envelope, BodyEmbedded]:
        message = await self.chunks.next_msg(timeout=30)
        recorded = codec.decode(message.metadata.sequence.stream, message.subject, message.data)
        self.verifier.check(message.subject, recorded.envelope)
        assert isinstance(recorded.fact, BodyEmbedded)
        return recorded.envelope, recorded.fact

    async def said(self) -> BodyEmbedded:
        return (await self.heard())[1]

    @asynccontextmanager
    async def running(self, **environ: str) -> AsyncIterator[None]:
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(main(stop, {**self.environ, "HEALTH_PORT": str(free_port()), **environ}))
            try:
                yield
            finally:
                stop.set()

    @asynccontextmanager
    async def embedding(self, model: Model | None = None) -> AsyncIterator[Embedding]:
        reading = Secret(self.environ["POSTGRES_DSN"])
        async with working(lambda: model or Hashing()) as worker:
            pool = await postgres.connect(reading, "content", service="embedder")
            stream = ChunkStream(self.client, self.brain, self.log(chunk_stream.STREAM, "embedder"), self.verifier)
            store = ContentStore(self.ring)
            try:
                yield Embedding(pool, self.brain, store, self.ring.chunk_key, worker, stream, Memory())
            finally:
                await pool.close()

    @asynccontextmanager
    async def reacting(self, embedding: Embedding, delays: Sequence[float] = drafts.DELAYS) -> AsyncIterator[Drafts]:
        kept = Parking(self.client.jetstream(), self.brain, "embedder", drafts.DURABLE)
        reaction = Drafts(self.client, self.brain, self.verifier, embedding, kept, delays)
        async with reaction.running():
            yield reaction

    async def parked(self) -> JetStreamContext.PushSubscription:
        return await self.client.jetstream().subscribe(subjects.parked(self.brain, "embedder"), ordered_consumer=True)


@pytest_asyncio.fixture(loop_scope="session")
async def house(nats_server: NatsServer, database: Database, tmp_path: Path) -> AsyncIterator[House]:
    brain = BrainId(uuid4())
    public = {service: create_key(tmp_path / f"{service}.key") for service in SERVICES}
    (tmp_path / "signers.json").write_text(json.dumps(public))
    ring = KeyRing.create(tmp_path / "ring.json")
    environ = {
        "BRAIN_ID": str(brain),
        "NATS_URL": nats_server.url,
        "POSTGRES_DSN": database.dsn("embedder"),
        "BRAIN_KEYRING": str(tmp_path / "ring.json"),
        "BRAIN_SIGNING_KEY": str(tmp_path / "embedder.key"),
        "BRAIN_SIGNERS": str(tmp_path / "signers.json"),
        "EMBEDDER_PROFILE": "hashing",
    }
    async with AsyncExitStack() as stack:
        client = await nats.connect(Secret(nats_server.url), "tests")
        stack.push_async_callback(client.close)
        await provision(client)
        pool = await postgres.connect(database.secret("approvals"), "content", service="tests")
        stack.push_async_callback(pool.close)
        chunks = await client.jetstream().subscribe(f"chk.{brain}.>", ordered_consumer=True)
        signers = {service: Signer.load(tmp_path / f"{service}.key", service) for service in SERVICES}
        verifier = Verifier.load(tmp_path / "signers.json")
        yield House(client, pool, environ, brain, ring, signers, verifier, chunks)


def unpacked(chunk: EmbeddedChunk) -> Vectors:
    return np.frombuffer(base64.b64decode(chunk.vector), "<f2").astype(np.float32)


async def test_a_submitted_page_gets_its_passages_and_vectors(house: House) -> None:
    async with house.running():
        body = await house.submitted(TRAVEL)
        fact = await house.said()
    assert (fact.body, fact.model, fact.dim, fact.computed, fact.n, fact.of) == (body.id, "hashing/1", 384, 3, 1, 1)
    assert len(fact.chunks) == 3
    assert all(float(np.linalg.norm(unpacked(chunk))) == pytest.approx(1, abs=1e-2) for chunk in fact.chunks)
    assert b"Trains" not in json.dumps([chunk.vector for chunk in fact.chunks]).encode()


async def test_an_edit_computes_only_what_changed(house: House) -> None:
    edited = TRAVEL.replace(b"Ask first.", b"Ask your lead first.")
    async with house.running():
        body = await house.submitted(TRAVEL)
        before = await house.said()
        await house.submitted(edited, previous=body)
        after = await house.said()
    assert (before.computed, after.computed) == (3, 1)
    kept = {chunk.vector_key: chunk.vector for chunk in before.chunks}
    assert [kept.get(chunk.vector_key) == chunk.vector for chunk in after.chunks] == [True, True, False]


async def test_a_new_title_changes_every_vector(house: House) -> None:
    async with house.running():
        body = await house.submitted(TRAVEL)
        before = await house.said()
        await house.submitted(TRAVEL.replace(b"title: Travel", b"title: Trips"), previous=body)
        after = await house.said()
    assert after.computed == 3
    assert [chunk.key for chunk in before.chunks] == [chunk.key for chunk in after.chunks]


async def test_a_restart_computes_nothing_twice(house: House) -> None:
    async with house.running():
        body = await house.submitted(TRAVEL)
        await house.said()
    async with house.running():
        await house.submitted(TRAVEL + b"\n\n## Hotels\n\nAny will do.", previous=body)
        assert (await house.said()).computed == 1


async def test_vectors_of_the_edited_revision_are_found_even_by_an_empty_memory(house: House) -> None:
    first = await house.draft(TRAVEL)
    async with house.embedding() as embedding:
        assert await embedding.embed([first]) == Tally(bodies=1, computed=3, reused=0)
    second = await house.draft(TRAVEL + b"\n\n## Hotels\n\nAny will do.", previous=first.body)
    async with house.embedding() as embedding:
        assert await embedding.embed([second]) == Tally(bodies=1, computed=1, reused=3)


async def test_embedding_a_body_again_changes_nothing(house: House) -> None:
    draft = await house.draft(TRAVEL)
    async with house.embedding() as embedding:
        await embedding.embed([draft, draft])
        assert await embedding.embed([draft]) == Tally(0, 0, 0)
    async with house.embedding() as embedding:
        assert await embedding.embed([draft]) == Tally(0, 0, 0)
        other = await house.draft(TRAVEL)
        await embedding.embed([other])
    assert [(await house.said()).body, (await house.said()).body] == [draft.body.id, other.body.id]


async def test_another_model_embeds_a_body_anew_and_mixes_nothing(house: House) -> None:
    draft = await house.draft(TRAVEL)
    async with house.embedding() as embedding:
        await embedding.embed([draft])
    async with house.embedding(select("english-fast")) as embedding:
        assert (await embedding.embed([draft])).computed == 3
    first, second = await house.said(), await house.said()
    assert first.model != second.model
    assert not {chunk.vector_key for chunk in first.chunks} & {chunk.vector_key for chunk in second.chunks}


async def test_two_embedders_at_once_say_each_body_once(house: House) -> None:
    bodies = [await house.draft(page(f"Page {number}", f"Word {number}.")) for number in range(6)]
    async with house.embedding() as one, house.embedding() as other:
        await asyncio.gather(one.embed(bodies), other.embed(bodies[::-1]))
    for draft in bodies:
        subject = subjects.chunks(house.brain, draft.body.id)
        first = await leader.first_after(house.client, "CHK", subject, 0)
        assert first is not None
        assert await leader.first_after(house.client, "CHK", subject, first.position) is None


async def test_many_pages_of_a_build_go_in_batches_and_share_their_vectors(house: House) -> None:
    build = BuildId(uuid4())
    subject = subjects.build(house.brain, build)
    bodies = [page("Page", "Everywhere alike.", f"## Here\n\nOnly page {number}.") for number in range(40)]
    refs = await house.stored(*bodies, b"a/path.md")
    written = [
        BuildPageWritten(
            build=build,
            draft=PageDraft(page=PageId(uuid4()), action=PageAction.CREATE, base=0, body=ref, path=refs[-1]),
        )
        for ref in refs[:-1]
    ]
    command = CommandId(uuid4())
    async with house.running():
        await house.log("EVT", "approvals").append(
            Append(command, AUTHOR, command, tuple((subject, fact) for fact in written), {subject: 0})
        )
        heard = [await house.heard() for _ in bodies]
    assert {fact.body for _, fact in heard} == {ref.id for ref in refs[:-1]}
    assert sum(fact.computed for _, fact in heard) == 41
    assert max(envelope.batch.of if envelope.batch else 1 for envelope, _ in heard) > 1


async def test_a_page_too_large_for_one_message_is_said_in_parts_of_one_batch(house: House) -> None:
    large = page("Lists", *[f"## Section {number}\n\nWords of section {number}." for number in range(800)])
    async with house.running():
        body = await house.submitted(large)
        envelope, first = await house.heard()
        parts = [first, *[await house.said() for _ in range(first.of - 1)]]
    assert first.of > 1
    assert envelope.batch is not None
    assert envelope.batch.of == first.of
    assert sum(len(part.chunks) for part in parts) == 800
    edited = await house.draft(large.replace(b"Words of section 9.", b"Else."), previous=body)
    async with house.embedding() as embedding:
        assert (await embedding.embed([edited])).computed == 1


async def test_a_body_that_is_no_page_is_parked_at_once_and_holds_up_nobody(house: House) -> None:
    parked = await house.parked()
    broken, fine = await house.draft(b"no front matter here"), await house.draft(TRAVEL)
    await house.submit(broken)
    await house.submit(fine)
    async with house.embedding() as embedding, house.reacting(embedding):
        assert (await house.said()).body == fine.body.id
        kept = await parked.next_msg(timeout=30)
    assert kept.headers is not None
    assert kept.headers[parking.REASON] == "frontmatter_missing"
    assert kept.headers[parking.BY] == drafts.DURABLE
    assert str(broken.body.id).encode() in kept.data


async def test_a_body_that_is_missing_is_tried_a_bounded_number_of_times(house: House) -> None:
    parked = await house.parked()
    draft = await house.draft(TRAVEL)
    async with postgres.transaction(house.pool, house.brain) as db:
        await ContentStore(house.ring).erase(db, house.brain, [draft.body.id])
    await house.submit(draft)
    async with house.embedding() as embedding, house.reacting(embedding, delays=(0.01, 0.01)):
        kept = await parked.next_msg(timeout=30)
    assert kept.headers is not None
    assert (kept.headers[parking.REASON], kept.headers[parking.TRIES]) == ("content_missing", "3")


async def test_a_fact_that_approvals_did_not_sign_is_parked(house: House) -> None:
    parked = await house.parked()
    await house.submit(await house.draft(TRAVEL), signer="gateway")
    fine = await house.draft(TRAVEL)
    await house.submit(fine)
    async with house.running():
        kept = await parked.next_msg(timeout=30)
        assert (await house.said()).body == fine.body.id
    assert kept.headers is not None
    assert kept.headers[parking.REASON] == "unreadable"


async def test_facts_that_name_no_draft_are_passed_over(house: House) -> None:
    withdrawn = ProposalId(uuid4())
    subject = subjects.proposal(house.brain, withdrawn)
    command = CommandId(uuid4())
    fact = ProposalWithdrawn(proposal=withdrawn)
    await house.log("EVT", "approvals").append(Append(command, AUTHOR, command, ((subject, fact),), {subject: 0}))
    async with house.running():
        body = await house.submitted(TRAVEL)
        assert (await house.said()).body == body.id


class Resting(Hashing):
    """Unavailable the first two times; asks what is told about it each time."""

    def __init__(self) -> None:
        super().__init__()
        self.ask: Callable[[], str] = str
        self.told: list[str] = []

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.told.append(self.ask())
        if len(self.told) <= 2:
            raise ModelUnavailable("back soon")
        return super().passages(texts)


async def test_an_outage_parks_nothing_and_is_waited_out(house: House) -> None:
    parked, model = await house.parked(), Resting()
    async with house.embedding(model) as embedding, house.reacting(embedding, delays=()) as reaction:
        model.ask = reaction.trouble
        body = await house.submitted(TRAVEL)
        assert (await house.said()).body == body.id
    assert [("back soon" in told) for told in model.told] == [False, True, True]
    assert parked.pending_msgs == 0


async def test_a_question_is_answered_with_the_models_vector(house: House) -> None:
    async with house.running(BRAIN_ROLES="serve"):
        await ready(house)
        found = await rpc.ask(house.client, EMBED, Embed(query="Which train?"), Embedded)
    vector = np.frombuffer(base64.b64decode(found.vector), "<f2").astype(np.float32)
    assert (found.model, found.dim) == ("hashing/1", 384)
    assert np.allclose(vector, Hashing().query("Which train?"), atol=1e-3)


async def ready(house: House) -> None:
    """Until embedder answers a roll call: it serves."""
    async with asyncio.timeout(30):
        while True:
            try:
                await rpc.ask(house.client, rpc.roll_call("embedder"), rpc.RollCall(), rpc.Present, seconds=0.5)
            except Unavailable:
                await asyncio.sleep(0.02)
            else:
                return


async def test_the_default_model_finds_across_languages_through_the_whole_service(house: House) -> None:
    norwegian = page("Reiser", "Tog er bedre enn fly.", "## Hotell\n\nHoteller bestilles av administrasjonen.")
    async with house.running(EMBEDDER_PROFILE="multilingual"):
        await house.submitted(norwegian)
        fact = await house.said()
        found = await rpc.ask(house.client, EMBED, Embed(query="Who books hotels?"), Embedded)
    question = np.frombuffer(base64.b64decode(found.vector), "<f2").astype(np.float32)
    likeness = [float(unpacked(chunk) @ question) for chunk in fact.chunks]
    assert found.model == fact.model
    assert likeness.index(max(likeness)) == 1


async def test_the_process_says_when_it_is_ready_and_ends_in_order(house: House) -> None:
    port = free_port()
    environ = {**os.environ, **house.environ, "HEALTH_PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "embedder", env=environ, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    seen: list[dict[str, object]] = []
    async with asyncio.timeout(60):
        while not (seen and seen[-1]["event"] == "service_started"):
            seen.append(json.loads(await process.stderr.readline()))
        body = await house.submitted(TRAVEL)
        assert (await house.said()).body == body.id
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"http://127.0.0.1:{port}/readyz")
            counted = await client.get(f"http://127.0.0.1:{port}/metrics")
        process.terminate()
        _, rest = await process.communicate()
    assert answer.status_code == 200
    assert 'embedder_vectors_total{origin="computed"} 3' in counted.text
    assert process.returncode == 0
    assert b"Trains" not in rest
