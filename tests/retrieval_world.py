"""A brain as retrieval meets it: facts on a real log, bodies in the real content store, projections that run."""

import asyncio
import base64
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import nats as nats_client
import numpy as np
from nats.aio.client import Client
from nats.aio.msg import Msg

from brain.stack import nats
from chassis.postgres import Pool, connect, transaction
from chassis.settings import Secret
from content.bodies import Put, Slot
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import access_facts, captures, chunks, proposals, replies, subjects
from contracts.content import ContentRef
from contracts.embedder_messages import EMBED, Embed, Embedded
from contracts.enums import (
    Access,
    AuthorKind,
    Gate,
    Knowledge,
    Origin,
    Outcome,
    PageAction,
    Permission,
    PrincipalKind,
    ProposalKind,
    Reach,
    Region,
    Role,
    Tier,
)
from contracts.ids import (
    BrainId,
    CaptureId,
    CommandId,
    ContentId,
    GrantId,
    PageId,
    PrincipalId,
    ProposalId,
    everyone,
)
from contracts.retrieval_messages import Asker, FindPage, Hits, PageHits, PageView, ReadPage, Search
from corpus import chunks as chunking
from corpus import page as pages
from eventlog.log import Append, EventLog
from eventlog.projector import Projector
from eventlog.provision import provision
from eventlog.signing import Signer, Verifier, create_key
from retrieval import database
from retrieval.projections.pages import CROSSOVER
from retrieval.projections.wiring import projections
from retrieval.reads.finding import Finding
from retrieval.reads.questions import Questions
from retrieval.reads.reading import Reading
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval.rebuild import CHECKSUM
from servers import Database, free_port

MODEL = "bag-of-words"
NOW = datetime(2026, 9, 2, 12, tzinfo=UTC)
_STREAMS = {"gateway": "EVT", "approvals": "EVT", "ingest": "CAP", "embedder": "CHK"}

NOBODY = PrincipalId(UUID(int=1))

Facts = Sequence[tuple[str, msgspec.Struct]]


def bag_of_words(text: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    """A vector that is near another where they share words: enough to tell arms apart without a model."""
    vector = np.zeros(384, dtype=np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % 384] += 1.0
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-6), dtype=np.float32)


def encoded(text: str) -> str:
    return base64.b64encode(bag_of_words(text).astype("<f2").tobytes()).decode()


def page_text(title: str, text: str, *, access: str = "public", sensitivity: str = "ordinary", more: str = "") -> str:
    """A page's bytes as an author writes them; `more` is further front matter."""
    front = f"type: topic\ntitle: {title}\nowner: alice\naccess: {access}\nsensitivity: {sensitivity}\n{more}"
    return f"---\n{front}---\n{text}\n"


@dataclass(slots=True)
class World:
    """One brain. `last` holds what an append must expect; `ends` how far each stream is written."""

    brain: BrainId
    nc: Client
    url: str
    folder: Path
    database: Database
    ring: KeyRing
    verifier: Verifier
    project: Pool
    serve: Pool
    author: Pool
    logs: dict[str, EventLog]
    projectors: list[Projector]
    tasks: list[asyncio.Task[None]]
    last: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=lambda: {"EVT": 0, "CAP": 0, "CHK": 0})
    alice: PrincipalId = NOBODY
    live: dict[str, tuple[PageId, int]] = field(default_factory=dict)
    now: datetime = NOW

    async def say(self, service: str, facts: Facts, *, stream: str | None = None) -> int:
        """Append one decision."""
        log = self.logs[f"{service}/{stream}" if stream else service]
        expected = {subject: self.last.get(subject, 0) for subject, _ in facts}
        command = CommandId(uuid4())
        position = await log.append(Append(command, self.alice, command, tuple(facts), expected))
        for index, (subject, _) in enumerate(facts):
            self.last[subject] = position - len(facts) + 1 + index
        family = "EVT" if facts[0][0].startswith("evt") else "CAP" if facts[0][0].startswith("cap") else "CHK"
        self.ends[family] = position
        return position

    async def store(self, *bodies: bytes, slot: Slot = Slot.TEXT) -> list[ContentRef]:
        async with transaction(self.author, self.brain) as db:
            puts = [Put(ContentId(uuid4()), body, slot) for body in bodies]
            return await ContentStore(self.ring).put(db, self.brain, puts)

    async def caught_up(self) -> None:
        """Wait until every projection has taken in all that was said."""
        for projector in self.projectors:
            assert await projector.reached(self.ends[projector.stream], 60), (projector.name, projector.trouble())

    async def rest(self) -> None:
        """Stop projecting."""
        while running := [task for task in self.tasks if not task.done()]:
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=1)

    def _gates(self, *which: Gate) -> list[tuple[str, msgspec.Struct]]:
        return [(subjects.gate(self.brain, gate), access_facts.GateMoved(cause=self.brain)) for gate in which]

    async def open(self) -> None:
        """The brain, its owner alice, and no grant but the one that she holds on everything."""
        (name,) = await self.store(b'{"name": "Northwind"}')
        opened = [(subjects.brain_itself(self.brain), access_facts.BrainOpened(name=name))]
        await self.say("gateway", [*opened, *self._gates(Gate.ACCESS)])
        self.alice = await self.member("alice", Tier.ADMIN, Role.OWNER)
        await self.grant(self.alice, "**", Permission.APPROVE)

    async def member(self, name: str, tier: Tier = Tier.EMPLOYEE, role: Role = Role.MEMBER) -> PrincipalId:
        who = PrincipalId(uuid4())
        (profile,) = await self.store(msgspec.json.encode({"name": name}))
        joined = access_facts.MemberJoined(member=who, kind=PrincipalKind.PERSON, profile=profile, role=role, tier=tier)
        await self.say("gateway", [(subjects.access(self.brain, who), joined), *self._gates(Gate.ACCESS)])
        return who

    async def grant(self, who: PrincipalId, scope: str, permission: Permission = Permission.READ) -> GrantId:
        grant = GrantId(uuid4())
        (ref,) = await self.store(scope.encode())
        fact = access_facts.Granted(grant=grant, subject=who, scope=ref, permission=permission)
        await self.say("gateway", [(subjects.access(self.brain, who), fact), *self._gates(Gate.ACCESS)])
        return grant

    async def revoke(self, who: PrincipalId, grant: GrantId) -> int:
        fact = access_facts.Revoked(grant=grant, subject=who)
        return await self.say(
            "gateway", [(subjects.access(self.brain, who), fact), *self._gates(Gate.ACCESS, Gate.FENCE)]
        )

    async def everyone_reads(self) -> None:
        await self.grant(everyone(self.brain), "**")

    async def promote(self, pages_: dict[str, str], *, verified: bool = True, embed: bool = False) -> dict[str, PageId]:
        """Promote pages by path in one decision, each a new one or the next revision of the page at that path."""
        bodies = await self.store(*(text.encode() for text in pages_.values()), slot=Slot.PAGE)
        paths = await self.store(*(path.encode() for path in pages_), slot=Slot.PATH)
        if embed:
            await self.embed(dict(zip([ref.id for ref in bodies], pages_.values(), strict=True)))
        proposal = ProposalId(uuid4())
        facts: list[tuple[str, msgspec.Struct]] = []
        for (path, text), body, path_ref in zip(pages_.items(), bodies, paths, strict=True):
            front = pages.parse(text.encode()).front
            page, revision = self.live.get(path, (PageId(uuid4()), 0))
            self.live[path] = (page, revision + 1)
            promoted = proposals.PagePromoted(
                page=page,
                revision=revision + 1,
                body=body,
                path=path_ref,
                owner=self.alice,
                access=Access(front.access.value),
                reach=Reach(front.sensitivity.value),
                knowledge=Knowledge((front.knowledge or pages.Knowledge.HYPOTHESIS).value),
                review_days=front.review_days,
                proposal=proposal,
                approver=self.alice,
            )
            facts.append((subjects.page(self.brain, page), promoted))
            if verified and not revision and promoted.knowledge is Knowledge.VERIFIED:
                at = proposals.PageVerified(page=page, revision=1, by=self.alice, at=NOW)
                facts.append((subjects.page(self.brain, page), at))
        await self.say("approvals", facts)
        return {path: self.live[path][0] for path in pages_}

    async def deprecate(self, path: str) -> None:
        page, revision = self.live.pop(path)
        fact = proposals.PageDeprecated(page=page, revision=revision, proposal=ProposalId(uuid4()), approver=self.alice)
        await self.say("approvals", [(subjects.page(self.brain, page), fact), *self._gates(Gate.FENCE, Gate.PATH)])

    async def submit(self, text: str) -> tuple[ProposalId, ContentId]:
        """Propose a page; its body is not live."""
        body, path = await self.store(text.encode(), b"drafts/new.md")
        proposal, page = ProposalId(uuid4()), PageId(uuid4())
        draft = proposals.PageDraft(page=page, action=PageAction.CREATE, base=0, body=body, path=path)
        fact = proposals.ProposalSubmitted(
            proposal=proposal, kind=ProposalKind.PAGE, origin=Origin.PERSON, author=self.alice, draft=draft
        )
        await self.say("approvals", [(subjects.proposal(self.brain, proposal), fact)])
        return proposal, body.id

    async def reject(self, proposal: ProposalId) -> None:
        fact = proposals.ProposalResolved(proposal=proposal, outcome=Outcome.REJECTED)
        await self.say("approvals", [(subjects.proposal(self.brain, proposal), fact)])

    async def embed(self, bodies: dict[ContentId, str]) -> None:
        """What the embedder says of bodies, with vectors of the bag of words."""
        for body, text in bodies.items():
            parsed = pages.parse(text.encode())
            title = parsed.front.title
            said = []
            for chunk in chunking.chunk(parsed.text):
                key = chunking.chunk_key(self.ring.chunk_key, chunk)
                vector_key = chunking.vector_key(self.ring.chunk_key, key, title, MODEL)
                vector = encoded(chunking.context(title, chunk))
                said.append(chunks.EmbeddedChunk(key, vector_key, chunk.start, chunk.end, vector))
            fact = chunks.BodyEmbedded(
                body=body, model=MODEL, dim=384, chunker=chunking.CHUNKER, recipe=chunking.RECIPE, chunks=tuple(said)
            )
            await self.say("embedder", [(subjects.chunks(self.brain, body), fact)])

    async def capture(self, reference: str, acl: captures.Acl, supersedes: CaptureId | None = None) -> CaptureId:
        capture = CaptureId(uuid4())
        source = reference.removeprefix("capture:").split("/")[0]
        descriptor = {"source": source, "external_id": reference.partition("/")[2], "reference": reference}
        body, described = await self.store(b"as it was sent", msgspec.json.encode(descriptor))
        fact = captures.CaptureRecorded(
            capture=capture,
            body=body,
            descriptor=described,
            acl=acl,
            author=AuthorKind.PERSON,
            occurred_at=NOW,
            region=Region.LOCAL,
            supersedes=supersedes,
        )
        await self.say("ingest", [(subjects.capture_recording(self.brain, capture), fact)])
        return capture

    async def withdraw(self, capture: CaptureId) -> None:
        fact = captures.CaptureWithdrawn(capture=capture)
        facts: Facts = [(subjects.capture_sight(self.brain, capture), fact), *self._gates(Gate.FENCE)]
        await self.say("ingest", facts, stream="EVT")

    async def change_acl(self, capture: CaptureId, acl: captures.Acl) -> None:
        fact = captures.CaptureAclChanged(capture=capture, acl=acl)
        facts: Facts = [(subjects.capture_sight(self.brain, capture), fact), *self._gates(Gate.FENCE)]
        await self.say("ingest", facts, stream="EVT")

    @asynccontextmanager
    async def embedder(self) -> AsyncIterator[None]:
        """The neighbour that turns queries into vectors."""

        async def answer(message: Msg) -> None:
            asked = msgspec.json.decode(message.data, type=Embed)
            await message.respond(replies.success(Embedded(model=MODEL, dim=384, vector=encoded(asked.query))))

        subscription = await self.nc.subscribe(EMBED, cb=answer)
        yield
        await subscription.unsubscribe()

    def asker(self, who: PrincipalId | None = None) -> Asker:
        return Asker(principal=who or self.alice)

    async def search(
        self,
        query: str,
        who: PrincipalId | None = None,
        *,
        limit: int = 10,
        position: int = 0,
        own: int = 0,
        rights: int = 0,
        exact: int = CROSSOVER,
    ) -> Hits:
        searching = Searches(Sights(self.nc, self.serve, self.brain), Questions(self.nc), lambda: self.now, exact=exact)
        return await searching.search(
            Search(asker=self.asker(who), query=query, limit=limit, position=position, own=own, rights=rights)
        )

    async def find(self, query: str, who: PrincipalId | None = None, *, own: int = 0) -> PageHits:
        finding = Finding(Sights(self.nc, self.serve, self.brain), lambda: self.now)
        return await finding.find(FindPage(asker=self.asker(who), query=query, own=own))

    async def read(self, path: str, who: PrincipalId | None = None, *, own: int = 0) -> PageView:
        reading = Reading(Sights(self.nc, self.serve, self.brain), ContentStore(self.ring), lambda: self.now)
        return await reading.read(ReadPage(asker=self.asker(who), path=path, own=own))

    async def sums(self) -> dict[str, tuple[int, str]]:
        """What the index says, part by part."""
        async with transaction(self.project, self.brain) as db:
            return {row["part"]: (row["lines"], row["sum"]) for row in await db.fetch(CHECKSUM.checksum)}


@asynccontextmanager
async def living(folder: Path, database_: Database, *, crossover: int = 0) -> AsyncIterator[World]:
    """A brain on a bus of its own, its projections running; small as it is, both vector arms can be tried on it."""
    bus = nats.Bus(
        folder / "store", free_port(), free_port(), Secret(secrets.token_urlsafe(24)), folder / "nats.log",
        quota=16 * 1024**3,
    )  # fmt: skip
    running = await nats.start(bus)
    nc = await nats_client.connect(bus.url.reveal())
    try:
        await provision(nc)
        brain = BrainId(uuid4())
        signers = {service: create_key(folder / f"{service}.key") for service in _STREAMS}
        (folder / "signers.json").write_bytes(msgspec.json.encode(signers))
        ring = KeyRing.create(folder / "keyring")
        verifier = Verifier.load(folder / "signers.json")

        def log(service: str, stream: str) -> EventLog:
            return EventLog(nc, stream, brain, Signer.load(folder / f"{service}.key", service), lambda: NOW)

        logs = {service: log(service, stream) for service, stream in _STREAMS.items()}
        logs["ingest/EVT"] = log("ingest", "EVT")
        project = await database.projecting(database_.secret("retrieval_project"))
        serve = await database.serving(database_.secret("retrieval_serve"))
        author = await connect(database_.secret("approvals"), "content", service="test")
        projectors = [Projector(nc, project, brain, each, verifier) for each in projections(ring, crossover=crossover)]
        tasks = [asyncio.create_task(projector.run()) for projector in projectors]
        world = World(
            brain=brain, nc=nc, url=bus.url.reveal(), folder=folder, database=database_, ring=ring, verifier=verifier,
            project=project, serve=serve, author=author, logs=logs, projectors=projectors, tasks=tasks,
        )  # fmt: skip
        try:
            await world.open()
            yield world
        finally:
            await world.rest()
            for pool in (project, serve, author):
                await pool.close()
    finally:
        await nc.close()
        await running.end()
