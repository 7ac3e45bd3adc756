"""A brain as approvals meets it: members and grants said by gateway, its own commands on a real log and database."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import msgspec
from nats.aio.client import Client

from approvals import app
from approvals.asking import Asking
from approvals.commands.building import Building
from approvals.commands.deciding import Deciding
from approvals.commands.submitting import Submissions
from approvals.desk import Desk
from approvals.ledger.projector import NAME as LEDGER
from approvals.settings import Settings
from chassis import postgres
from chassis.postgres import Pool, transaction
from chassis.settings import Secret
from content.bodies import Put, Slot
from content.keyring import KeyRing
from contracts import access_facts, subjects
from contracts.approvals_messages import (
    AskProposal,
    Decide,
    Decided,
    OpenBuild,
    PageWrite,
    SubmitPage,
    Submitted,
    WritePages,
)
from contracts.content import ContentRef
from contracts.enums import Gate, Origin, PageAction, Permission, PrincipalKind, Reason, Role, Tier, Verdict
from contracts.ids import BrainId, BuildId, CommandId, ContentId, GrantId, PrincipalId, ProposalId, service_principal
from eventlog import leader
from eventlog.archive import Archiver
from eventlog.follower import Follower
from eventlog.log import Append
from eventlog.projector import Projector
from ledgers import Ledger
from servers import Database

TABLES = ("proposals", "drafts", "builds", "votes", "pages", "gates")


def page_text(title: str, text: str = "It is so.", *, owner: str = "alice", more: str = "") -> bytes:
    """A page's bytes as an author writes them."""
    access = "" if "access:" in more else "access: department\n"
    return f"---\ntype: topic\ntitle: {title}\nowner: {owner}\n{access}{more}---\n\n{text}\n".encode()


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@dataclass(slots=True)
class World:
    """One brain, with alice (owner, tier admin, approve on everything) and whoever joins."""

    desk: Desk
    ledger: Ledger
    database: Database
    settings: Settings
    followers: list[Follower]
    alice: PrincipalId = field(default_factory=lambda: PrincipalId(uuid4()))
    tasks: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)

    @property
    def brain(self) -> BrainId:
        return self.desk.brain

    @property
    def nc(self) -> Client:
        return self.desk.nc

    @property
    def submissions(self) -> Submissions:
        return Submissions(self.desk)

    @property
    def building(self) -> Building:
        return Building(self.desk)

    @property
    def asking(self) -> Asking:
        return Asking(self.desk)

    async def say(self, facts: Sequence[tuple[str, msgspec.Struct]]) -> int:
        """What gateway says; gates moved by others are looked up."""
        expected = {}
        for subject, _ in facts:
            found = await leader.last(self.nc, "EVT", subject)
            expected[subject] = 0 if found is None else found.position
        command = CommandId(uuid4())
        return await self.ledger.log().append(Append(command, self.alice, command, tuple(facts), expected))

    async def store(self, *bodies: bytes, slot: Slot = Slot.PAGE) -> list[ContentRef]:
        async with transaction(self.desk.pool, self.brain) as db:
            puts = [Put(ContentId(uuid4()), body, slot) for body in bodies]
            return await self.desk.store.put(db, self.brain, puts)

    def _gates(self, *which: Gate) -> list[tuple[str, msgspec.Struct]]:
        return [(subjects.gate(self.brain, gate), access_facts.GateMoved(cause=self.brain)) for gate in which]

    async def open(self) -> None:
        (name,) = await self.store(b'{"name": "Northwind"}')
        opened: list[tuple[str, msgspec.Struct]] = [
            (subjects.brain_itself(self.brain), access_facts.BrainOpened(name=name))
        ]
        await self.say([*opened, *self._gates(Gate.ACCESS)])
        self.alice = await self.member("alice", Tier.ADMIN, Role.OWNER)
        await self.grant(self.alice, "**", Permission.APPROVE)
        last = (await leader.extent(self.nc, "EVT")).last
        for follower in self.followers:  # the stream is the session's, and may be long
            assert await follower.reached(last, 60), follower.trouble()

    async def member(
        self,
        name: str,
        tier: Tier = Tier.ADMIN,
        role: Role = Role.MEMBER,
        kind: PrincipalKind = PrincipalKind.PERSON,
    ) -> PrincipalId:
        who = PrincipalId(uuid4())
        (profile,) = await self.store(msgspec.json.encode({"name": name}))
        joined = access_facts.MemberJoined(member=who, kind=kind, profile=profile, role=role, tier=tier)
        await self.say([(subjects.access(self.brain, who), joined), *self._gates(Gate.ACCESS)])
        return who

    async def approver(self, name: str, scope: str = "**", tier: Tier = Tier.ADMIN) -> PrincipalId:
        who = await self.member(name, tier)
        await self.grant(who, scope, Permission.APPROVE)
        return who

    async def grant(self, who: PrincipalId, scope: str, permission: Permission) -> GrantId:
        grant = GrantId(uuid4())
        (ref,) = await self.store(scope.encode(), slot=Slot.SCOPE)
        fact = access_facts.Granted(grant=grant, subject=who, scope=ref, permission=permission)
        await self.say([(subjects.access(self.brain, who), fact), *self._gates(Gate.ACCESS)])
        return grant

    async def revoke(self, who: PrincipalId, grant: GrantId) -> int:
        fact = access_facts.Revoked(grant=grant, subject=who)
        return await self.say([(subjects.access(self.brain, who), fact), *self._gates(Gate.ACCESS, Gate.FENCE)])

    async def propose(
        self,
        path: str,
        body: bytes,
        author: PrincipalId | None = None,
        *,
        origin: Origin = Origin.PERSON,
        action: PageAction = PageAction.EDIT,
        command: CommandId | None = None,
    ) -> Submitted:
        (ref,) = await self.store(body)
        asked = SubmitPage(
            command=command or CommandId(uuid4()),
            author=author or self.alice,
            runner=None,
            origin=origin,
            write=PageWrite(path=path, body=ref, action=action),
        )
        return await self.submissions.submit_page(asked)

    async def shown(self, proposal: ProposalId) -> str:
        """The digest that a reviewer is shown."""
        return (await self.asking.proposal(AskProposal(by=self.alice, proposal=proposal))).line.digest

    async def publish(self, path: str, body: bytes) -> None:
        """Propose a page as alice, and approve it."""
        submitted = await self.propose(path, body)
        await self.approve(submitted.proposal, self.alice, digest(body))

    async def build(
        self, pages: dict[str, bytes], *, ends: Sequence[str] = (), runner: PrincipalId | None = None
    ) -> tuple[BuildId, PrincipalId]:
        """A build of the importer's, with pages written, the ends of others too, and not submitted."""
        build, author = BuildId(uuid4()), service_principal(self.brain, "ingest")
        run_by = runner or self.alice
        opened = OpenBuild(command=CommandId(uuid4()), build=build, author=author, runner=run_by, origin=Origin.IMPORT)
        await self.building.open_build(opened)
        refs = await self.store(*pages.values())
        writes = [PageWrite(path=path, body=ref) for path, ref in zip(pages, refs, strict=True)]
        if ends:
            (none,) = await self.store(b"")
            writes += [PageWrite(path=path, body=none, action=PageAction.DEPRECATE) for path in ends]
        for start in range(0, len(writes), 250):
            part = tuple(writes[start : start + 250])
            await self.building.write_pages(
                WritePages(command=CommandId(uuid4()), build=build, author=author, writes=part)
            )
        return build, author

    def ballot(
        self,
        proposal: ProposalId,
        by: PrincipalId,
        shown: str | None,
        *,
        verdict: Verdict = Verdict.APPROVE,
        reason: Reason | None = None,
        note: str = "",
        command: CommandId | None = None,
    ) -> Decide:
        return Decide(
            command=command or CommandId(uuid4()),
            by=by,
            proposal=proposal,
            verdict=verdict,
            digest=shown,
            reason=reason,
            note=note,
        )

    async def approve(self, proposal: ProposalId, by: PrincipalId, shown: str) -> Decided:
        return await Deciding(self.desk).decide(self.ballot(proposal, by, shown))

    async def rows(self) -> dict[str, list[dict[str, object]]]:
        """Everything that the fold holds of this brain."""
        async with transaction(self.desk.pool, self.brain) as db:
            found = {table: await db.fetch(f"select * from {table} order by 1, 2, 3") for table in TABLES}
        return {table: [dict(row) for row in rows] for table, rows in found.items()}

    def run(self, follower: Follower) -> None:
        self.tasks[follower.name] = asyncio.create_task(follower.run())

    async def stop(self, name: str) -> None:
        """End a projection as a crash would: nothing is tidied."""
        task = self.tasks.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def rebuild(self, position: int) -> None:
        """Forget the fold and make it again from the log, by a projector that has read nothing yet."""
        await self.stop(LEDGER)
        async with transaction(self.desk.pool, self.brain) as db:
            for table in TABLES:
                await db.execute(f"delete from {table}")
            await db.execute("update checkpoints set position = 0, fact_id = '' where projection = $1", LEDGER)
        fresh = app.desk_of(self.settings, self.nc, self.desk.pool)
        (follower,) = [each for each in projectors(fresh, self.ledger) if each.name == LEDGER]
        self.run(follower)
        assert await follower.reached(position, 30), follower.trouble()

    async def last_of(self, subject: str) -> leader.Stored | None:
        return await leader.last(self.nc, "EVT", subject)


@asynccontextmanager
async def living(folder: Path, ledger: Ledger, database: Database) -> AsyncIterator[World]:
    """A brain whose projections and archive run."""
    KeyRing.create(folder / "keyring")
    settings = Settings(
        brain_id=ledger.brain,
        nats_url=Secret(ledger.url),
        postgres_dsn=database.secret("approvals"),
        archive_dsn=database.secret("archive"),
        brain_keyring=folder / "keyring",
        brain_signing_key=ledger.keys / "approvals",
        brain_signers=ledger.keys / "signers.json",
        health_port=0,
        http_port=0,
        public_url="http://127.0.0.1:1",
        web_url="http://127.0.0.1:2",
    )
    pool = await postgres.connect(settings.postgres_dsn, "approvals", service="approvals", largest=14)
    archive = await postgres.connect(settings.archive_dsn, "archive", service="archive", largest=4)
    desk = app.desk_of(settings, ledger.nc, pool)
    followers: list[Follower] = projectors(desk, ledger)
    followers.append(Archiver(ledger.nc, archive, desk.brain, "EVT"))
    world = World(desk, ledger, database, settings, followers)
    for follower in followers:
        world.run(follower)
    try:
        await world.open()
        yield world
    finally:
        for name in list(world.tasks):
            await world.stop(name)
        await pool.close()
        await archive.close()


def projectors(desk: Desk, ledger: Ledger, pool: "Pool | None" = None) -> list[Follower]:
    return [Projector(desk.nc, pool or desk.pool, desk.brain, each, ledger.verifier) for each in app.projections(desk)]
