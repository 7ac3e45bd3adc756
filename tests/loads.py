"""Load on a running brain: writers who propose and approve small pages, readers, and a prober who may see nothing."""

import asyncio
import hashlib
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

import asyncpg
import httpx2
import nats.errors
from nats.aio.client import Client

from brain.stack import programs
from chassis import nats as bus
from chassis import postgres, rpc
from chassis.postgres import Pool
from content.bodies import Put, Slot
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import approvals_messages as approvals
from contracts.content import ContentRef
from contracts.enums import Origin, Verdict
from contracts.errors import Unavailable
from contracts.ids import BrainId, CommandId, PrincipalId, ProposalId, content_id, derived
from houses import House

R = TypeVar("R")

CANARY = "kakapolaster"
"""A word of every page of the load: whoever may see nothing may not see it."""
PATIENCE = 60.0
"""Seconds that a writer goes on asking for an answer."""


@dataclass(slots=True)
class Page:
    """What one writer asked for, and what was acknowledged of it."""

    path: str
    submit: CommandId
    decide: CommandId
    digest: str = ""
    body: ContentRef | None = None
    submitted: approvals.Submitted | None = None
    decided: approvals.Decided | None = None

    @property
    def proposal(self) -> ProposalId:
        return ProposalId(derived(self.submit, "proposal"))


@dataclass(slots=True)
class Load:
    """Who works on a brain, and everything that was seen."""

    house: House
    nc: Client
    pool: Pool
    author: PrincipalId
    approver: PrincipalId
    friend: str
    stranger: str
    pages: list[Page] = field(default_factory=list)
    unknown: int = 0
    answered: list[tuple[float, float]] = field(default_factory=list)
    reads: Counter[str] = field(default_factory=Counter)
    probes: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    run: str = field(default_factory=lambda: uuid4().hex[:8])
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def acknowledged(self) -> int:
        """How many pages were proposed and approved, both acknowledged."""
        return sum(page.decided is not None for page in self.pages)

    @asynccontextmanager
    async def running(self, writers: int = 12, readers: int = 3) -> AsyncIterator[None]:
        """Work while the block runs; afterwards every writer ends what he has begun."""
        async with asyncio.TaskGroup() as group:
            for number in range(writers):
                group.create_task(self._write(number))
            for _ in range(readers):
                group.create_task(self._read())
            group.create_task(self._probe())
            try:
                yield
            finally:
                self._stop.set()

    async def resumed(self, since: float, seconds: float = PATIENCE) -> float:
        """Seconds from `since` (monotonic) until a decision that was asked for after it is acknowledged."""
        async with asyncio.timeout(seconds):
            while not (done := [end for start, end in self.answered if start > since]):  # noqa: ASYNC110 - many writers
                await asyncio.sleep(0.05)
        return min(done) - since

    async def _write(self, number: int) -> None:
        for turn in itertools.count():
            if self._stop.is_set():
                return
            page = Page(f"load/{self.run}/w{number}-{turn}.md", CommandId(uuid4()), CommandId(uuid4()))
            self.pages.append(page)
            await self.propose(page)
            await self.approve(page)

    async def propose(self, page: Page) -> approvals.Submitted:
        """Propose a page; asked again it is the same command."""
        if page.body is None:
            page.body = await self._keep(page)
        asked = approvals.SubmitPage(
            command=page.submit,
            author=self.author,
            runner=None,
            origin=Origin.PERSON,
            write=approvals.PageWrite(path=page.path, body=page.body),
        )
        page.submitted = await self._until_answered(
            lambda: rpc.ask(self.nc, approvals.SUBMIT_PAGE, asked, approvals.Submitted, seconds=5)
        )
        return page.submitted

    async def approve(self, page: Page) -> approvals.Decided:
        """Approve it; asked again it is the same command."""
        asked = approvals.Decide(
            command=page.decide,
            by=self.approver,
            proposal=page.proposal,
            verdict=Verdict.APPROVE,
            digest=page.digest,
        )
        begun = time.monotonic()
        page.decided = await self._until_answered(
            lambda: rpc.ask(self.nc, approvals.DECIDE, asked, approvals.Decided, seconds=15)
        )
        self.answered.append((begun, time.monotonic()))
        return page.decided

    async def _keep(self, page: Page) -> ContentRef:
        text = f"---\ntype: topic\ntitle: {page.path}\nowner: alice\naccess: department\n---\n\n{CANARY} {page.path}.\n"
        body = text.encode()
        page.digest = hashlib.sha256(body).hexdigest()
        brain = BrainId(self.house.home.papers().brain)
        store = ContentStore(KeyRing.load(self.house.home.keyring))
        put = Put(content_id(page.submit, "page"), body, Slot.PAGE)

        async def keep() -> ContentRef:
            async with postgres.transaction(self.pool, brain) as db:
                return (await store.put(db, brain, [put]))[0]

        return await self._until_answered(keep)

    async def _until_answered(self, ask: Callable[[], Awaitable[R]]) -> R:
        """Ask until there is an answer, as a client that never got one does. What is refused fails the test."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return await ask()
            except (Unavailable, OSError, TimeoutError, nats.errors.Error, *_DATABASE) as error:
                self.unknown += 1
                if time.monotonic() > deadline:
                    raise AssertionError("no answer for a minute") from error
                await asyncio.sleep(0.2)

    async def _read(self) -> None:
        async with self._client(self.friend) as http:
            while not self._stop.is_set():
                found = await _ask(http, "search", query=CANARY)
                self.reads[found[0]] += 1

    async def _probe(self) -> None:
        """Somebody whose grant was revoked asks all the time, and never gets a word."""
        async with self._client(self.stranger) as http:
            for turn in itertools.count():
                if self._stop.is_set():
                    return
                path = self.pages[turn % len(self.pages)].path if self.pages else "load/page.md"
                for tool, asked in (("search", {"query": CANARY}), ("read_page", {"path": path})):
                    outcome, said = await _ask(http, tool, **asked)
                    self.probes[outcome] += 1
                    if CANARY in said or "load/" in said or '"revision"' in said:
                        self.leaks.append(said)

    def _client(self, token: str) -> httpx2.AsyncClient:
        address = f"http://127.0.0.1:{self.house.ports.gateway}"
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        return httpx2.AsyncClient(base_url=address, headers=headers, timeout=20, trust_env=False)


_DATABASE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


async def _ask(http: httpx2.AsyncClient, tool: str, **arguments: str) -> tuple[str, str]:
    """How a call of a tool ended, in a word, and everything that it said."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    try:
        reply = await http.post("/api/mcp", json=call)
    except httpx2.TransportError:
        await asyncio.sleep(0.1)
        return "no answer", ""
    if reply.status_code != httpx2.codes.OK:
        await asyncio.sleep(0.1)
        return str(reply.status_code), reply.text
    answer = reply.json()
    if "error" in answer:
        return f"error {answer['error']['code']}", reply.text
    return ("refused" if answer["result"].get("isError") else "answered"), reply.text


@asynccontextmanager
async def working(house: House, author: str, friend: str, stranger: str) -> AsyncIterator[Load]:
    """A load of this brain: `author` proposes, alice approves; the two tokens are a reader's and the prober's."""
    client = await bus.connect(programs.bus(house.home, house.ports).url, "load")
    pool = await postgres.connect(
        programs.dsn(house.home, house.ports, "approvals"), "content", service="load", largest=4
    )
    try:
        brain = BrainId(house.home.papers().brain)
        async with postgres.transaction(pool, brain) as db:
            await db.execute("set local search_path to approvals, public")
            rows = await db.fetch("select name, id from members where brain = $1 and active", brain)
        members = {row["name"]: PrincipalId(row["id"]) for row in rows}
        yield Load(house, client, pool, members[author], members["alice"], friend, stranger)
    finally:
        await pool.close()
        await client.close()
