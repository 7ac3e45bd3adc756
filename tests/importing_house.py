"""One brain with ingest running in this process, members with grants, an archive, and approvals as its protocol."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
from nats.aio.client import Client

from chassis import nats, postgres, rpc
from chassis.settings import Secret
from content.bodies import Put, Slot
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import access_facts as facts
from contracts import approvals_messages as approvals
from contracts import ingest_messages as messages
from contracts import subjects
from contracts.content import ContentRef
from contracts.enums import Gate, Origin, Permission, PrincipalKind, ProposalKind, Role, Tier
from contracts.errors import Refused, Unavailable
from contracts.ids import BuildId, ContentId, GrantId, ImportId, PageId, PrincipalId, ProposalId, derived
from contracts.replies import Accepted
from eventlog import fence
from eventlog.archive import Archiver
from eventlog.log import Append
from ingest import app
from ledgers import Ledger, command
from servers import Database, free_port, in_process


@dataclass
class Approvals:
    """Stands in approvals' place on the bus: keeps what it is asked, and refuses the paths that a test names.

    A request whose name is in `silent` is carried out, but nobody hears of it. `states`: what became of a proposal,
    which is open where nothing is said.
    """

    asked: list[msgspec.Struct] = field(default_factory=list)
    live: dict[str, ContentRef] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    states: dict[ProposalId, str] = field(default_factory=dict)

    @property
    def written(self) -> dict[str, approvals.PageWrite]:
        """Every page that reached approvals, by path."""
        writes = [write for one in self.asked if isinstance(one, approvals.WritePages) for write in one.writes]
        writes += [one.write for one in self.asked if isinstance(one, approvals.SubmitPage)]
        return {write.path: write for write in writes}

    def kinds(self) -> list[str]:
        """The names of the requests, in order."""
        return [type(one).__name__ for one in self.asked]

    def serve(self, server: rpc.Server) -> None:
        """Answer as approvals would where all goes well."""
        server.route(approvals.OPEN_BUILD, approvals.OpenBuild, self._accept)
        server.route(approvals.WRITE_PAGES, approvals.WritePages, self._write)
        server.route(approvals.SUBMIT_BUILD, approvals.SubmitBuild, self._submit_build)
        server.route(approvals.SUBMIT_PAGE, approvals.SubmitPage, self._submit_page)
        server.route(approvals.LIVE_PAGES, approvals.AskLivePages, self._live)
        server.route(approvals.PROPOSAL, approvals.AskProposal, self._proposal)

    async def _accept(self, asked: msgspec.Struct) -> Accepted:
        self._keep(asked)
        return Accepted(1, archived=True)

    def _keep(self, asked: msgspec.Struct) -> None:
        self.asked.append(asked)
        if type(asked).__name__ in self.silent:
            raise Unavailable("approvals does not answer")

    async def _write(self, asked: approvals.WritePages) -> Accepted:
        for write in asked.writes:
            if write.path in self.refused:
                raise self.refused[write.path]
        return await self._accept(asked)

    async def _submit_build(self, asked: approvals.SubmitBuild) -> approvals.Submitted:
        self._keep(asked)
        return approvals.Submitted(proposal=proposal_of(asked.build), position=2, archived=True)

    async def _submit_page(self, asked: approvals.SubmitPage) -> approvals.Submitted:
        if asked.write.path in self.refused:
            raise self.refused[asked.write.path]
        self._keep(asked)
        return approvals.Submitted(proposal=ProposalId(derived(asked.command, "proposal")), position=2, archived=True)

    async def _live(self, asked: approvals.AskLivePages) -> approvals.LivePages:
        pages = [
            approvals.LivePage(path=path, page=PageId(uuid4()), revision=1, body=self.live[path])
            for path in asked.paths
            if path in self.live
        ]
        return approvals.LivePages(pages=tuple(pages))

    async def _proposal(self, asked: approvals.AskProposal) -> approvals.ProposalView:
        line = approvals.ProposalLine(
            id=asked.proposal,
            kind=ProposalKind.PAGE,
            title="",
            path="",
            change="",
            digest="",
            base=0,
            origin=Origin.IMPORT,
            proposer="ingest",
            waiting_since=datetime(2026, 9, 2, tzinfo=UTC),
            needs="",
        )
        state = self.states.get(asked.proposal, "open")
        return approvals.ProposalView(line=line, state=state, may_decide=True, ballots=(), pages=(), body=b"")


def proposal_of(build: BuildId) -> ProposalId:
    """The proposal that a build waits as."""
    return ProposalId(derived(build, "proposal"))


@dataclass
class House:
    """What a test of imports works with."""

    ledger: Ledger
    nc: Client
    pool: postgres.Pool
    store: ContentStore
    approvals: Approvals
    members: dict[str, PrincipalId] = field(default_factory=dict)

    async def join(
        self,
        name: str,
        grants: Sequence[tuple[str, Permission]] = (),
        tier: Tier = Tier.ADMIN,
        role: Role = Role.OWNER,
    ) -> None:
        """Let a person join and hold these grants."""
        member = PrincipalId(uuid4())
        history = subjects.access(self.ledger.brain, member)
        gate = subjects.gate(self.ledger.brain, Gate.ACCESS)
        puts = [Put(ContentId(uuid4()), msgspec.json.encode({"name": name}), Slot.NAME)]
        puts += [Put(ContentId(uuid4()), scope.encode(), Slot.SCOPE) for scope, _ in grants]
        async with postgres.transaction(self.pool, self.ledger.brain) as db:
            profile, *scopes = await self.store.put(db, self.ledger.brain, puts)
        joined = facts.MemberJoined(member=member, kind=PrincipalKind.PERSON, profile=profile, role=role, tier=tier)
        granted = [
            facts.Granted(grant=GrantId(uuid4()), subject=member, scope=scope, permission=permission)
            for scope, (_, permission) in zip(scopes, grants, strict=True)
        ]
        said = (*((history, fact) for fact in (joined, *granted)), (gate, facts.GateMoved(cause=member)))
        stands = await fence.gate(self.nc, self.ledger.brain, Gate.ACCESS)
        await self.ledger.log().append(Append(command(), member, uuid4(), said, {history: 0, gate: stands}))
        self.members[name] = member

    def options(
        self, *, owner: str = "alice", acl: tuple[str, ...] = (), source: str = "notes"
    ) -> messages.ImportOptions:
        return messages.ImportOptions(source=source, owner=owner, acl=acl)

    async def send(
        self,
        files: dict[str, bytes],
        *,
        import_id: ImportId | None = None,
        by: str = "alice",
        part: int = 0,
        options: messages.ImportOptions | None = None,
        colliding: tuple[str, ...] = (),
        seconds: float = 60,
    ) -> tuple[ImportId, messages.ImportedPart]:
        """Send one part."""
        import_id = import_id or ImportId(uuid4())
        asked = messages.ImportFiles(
            import_id=import_id,
            part=part,
            by=self.members[by],
            options=options or self.options(),
            files=tuple(messages.ImportFile(path=name, text=body) for name, body in files.items()),
            colliding=colliding,
        )
        told = await rpc.ask(self.nc, messages.IMPORT_FILES, asked, messages.ImportedPart, seconds=seconds)
        return import_id, told

    async def finish(
        self,
        import_id: ImportId,
        *,
        by: str = "alice",
        sync: bool = False,
        present: tuple[str, ...] = (),
        options: messages.ImportOptions | None = None,
        seconds: float = 60,
    ) -> messages.Imported:
        """End the import."""
        asked = messages.FinishImport(
            import_id=import_id,
            by=self.members[by],
            options=options or self.options(),
            sync=sync,
            present=present,
        )
        return await rpc.ask(self.nc, messages.FINISH_IMPORT, asked, messages.Imported, seconds=seconds)

    async def take(
        self,
        files: dict[str, bytes],
        *,
        by: str = "alice",
        sync: bool = False,
        options: messages.ImportOptions | None = None,
    ) -> tuple[messages.ImportedPart, messages.Imported]:
        """A whole import of one part."""
        import_id, part = await self.send(files, by=by, options=options)
        return part, await self.finish(import_id, by=by, options=options, sync=sync, present=tuple(files))

    async def file(
        self, external_id: str, *, text: str = "Words.", by: str = "alice", source: str = "inbox"
    ) -> messages.Filed:
        """Keep one text as a capture."""
        asked = messages.FileCapture(
            command=command(),
            by=self.members[by],
            title="A note",
            text=text,
            external_id=external_id,
            source=source,
        )
        return await rpc.ask(self.nc, messages.FILE_CAPTURE, asked, messages.Filed, seconds=20)

    async def body(self, ref: ContentRef) -> bytes:
        """The bytes behind a reference."""
        async with postgres.transaction(self.pool, self.ledger.brain) as db:
            return (await self.store.get(db, self.ledger.brain, [ref]))[ref.id]

    async def rows(self, query: str) -> list[tuple[object, ...]]:
        """Rows of this brain as ingest's own role sees them."""
        async with postgres.transaction(self.pool, self.ledger.brain) as db:
            return [tuple(row) for row in await db.fetch(query)]


def environ(ledger: Ledger, database: Database, ring: Path) -> dict[str, str]:
    """What the launcher would give the service."""
    return {
        "BRAIN_ID": str(ledger.brain),
        "NATS_URL": ledger.url,
        "POSTGRES_DSN": database.dsn("ingest"),
        "BRAIN_KEYRING": str(ring),
        "BRAIN_SIGNING_KEY": str(ledger.keys / "ingest"),
        "BRAIN_SIGNERS": str(ledger.keys / "signers.json"),
        "HEALTH_PORT": str(free_port()),
    }


@asynccontextmanager
async def ingesting(env: dict[str, str]) -> AsyncIterator[None]:
    """Run the service while the block runs."""
    async with in_process(app.main, env):
        yield


@asynccontextmanager
async def housed(
    ledger: Ledger, database: Database, archive: postgres.Pool, ring: Path, *, inside: bool = True
) -> AsyncIterator[House]:
    """A brain of one owner, `alice`, who may suggest everywhere. `inside`: ingest runs in this process."""
    async with AsyncExitStack() as stack:
        pool = await postgres.connect(Secret(database.dsn("ingest")), "ingest", service="test")
        stack.push_async_callback(pool.close)
        neighbour = rpc.Server(nats.broker(Secret(ledger.url), "approvals"), "approvals")
        house = House(ledger, ledger.nc, pool, ContentStore(KeyRing.load(ring)), Approvals())
        house.approvals.serve(neighbour)
        await neighbour.start()
        stack.push_async_callback(neighbour.stop)
        archivers = [
            asyncio.create_task(Archiver(ledger.nc, archive, ledger.brain, stream).run()) for stream in ("EVT", "CAP")
        ]
        stack.push_async_callback(_end, archivers)
        if inside:
            await stack.enter_async_context(ingesting(environ(ledger, database, ring)))
        await house.join("alice", [("**", Permission.APPROVE)])
        yield house


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task
