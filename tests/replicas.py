"""A second gateway and a second retrieval beside those of a brain that runs, and a reader who asks both gateways."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import httpx2
import msgspec

import gateway_world
import inside
from brain.stack import child, programs
from chassis.postgres import transaction
from content.bodies import Put, Slot
from contracts import approvals_messages as approvals
from contracts import gateway_api, gateway_messages
from contracts.content import ContentRef
from contracts.enums import Origin, PageAction
from contracts.ids import ContentId, PrincipalId
from houses import House
from servers import Database, Postgres, free_port

READY_SECONDS = 60.0
SERVING = {"BRAIN_ROLES": "serve"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and text of an answer, without the id of its request."""

    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader is told of one page by every way there is to look."""

    found: Answer
    searched: Answer
    read: Answer
    resource: Answer

    def all(self) -> tuple[Answer, ...]:
        return (self.found, self.searched, self.read, self.resource)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that a story is about: its title and text hold words that no other page has."""

    path: str
    title: str
    word: str

    def text(self, more: str = "access: department\n", tail: str = "") -> str:
        """Its bytes; `more` is further front matter."""
        front = f"type: topic\ntitle: {self.title}\nowner: alice\n{more}"
        return f"---\n{front}---\n\n# {self.title}\n\nThe {self.word} stands here.{tail}\n"

    def shown(self, seen: Seen) -> bool:
        """Whether every answer shows it. That some do and others do not is a fault."""
        told = (
            f'"{self.path}"' in seen.found.text,
            f'"{self.path}"' in seen.searched.text,
            f"The {self.word} stands" in seen.read.text,
            f"The {self.word} stands" in seen.resource.text,
        )
        assert len(set(told)) == 1, seen
        return told[0]

    def leaks(self, seen: Seen) -> bool:
        """Whether any answer holds its title or text, or its path where that was not part of the question."""
        named = any(self.path in answer.text for answer in (seen.found, seen.searched))
        return named or any(told in answer.text for told in (self.title, f"The {self.word}") for answer in seen.all())


@dataclass(frozen=True, slots=True)
class Twins:
    """Two gateways and two retrievals of one brain. `first` is what `brain up` started, `second` came to it.

    `alice` is the secret of the owner's sign-in.
    """

    house: House
    within: inside.Inside
    brain: gateway_world.House
    second: str
    alice: str
    traces: Path

    @property
    def first(self) -> str:
        return self.brain.address

    async def tell(self, path: str, asked: msgspec.Struct, address: str = "") -> dict[str, object]:
        """A command of alice at the first gateway, acknowledged."""
        async with connected(address or self.first, self.alice) as http:
            answer = await http.post(path, content=msgspec.json.encode(asked))
        assert answer.status_code == 200, answer.text
        return msgspec.json.decode(answer.content, type=dict[str, object])

    async def why(self, person: str, path: str) -> list[object]:
        """What both gateways answer to `brain why`, the second first."""
        answers = []
        for address in (self.second, self.first):
            async with connected(address, self.alice) as http:
                answer = await http.get(gateway_api.WHY, params={"person": person, "path": path})
            answers.append(answer.json().get("visible", answer.status_code))
        return answers

    async def look(self, secret: str, page: Page) -> list[Seen]:
        """What the reader sees at both gateways, asked at once and the second first."""
        return list(await asyncio.gather(*(look(address, secret, page) for address in (self.second, self.first))))

    async def write(
        self, author: PrincipalId, path: str, text: str, action: PageAction = PageAction.EDIT
    ) -> approvals.Submitted:
        """Propose a page by its path."""
        async with self.within.store("approvals") as (pool, store), transaction(pool, self.brain.brain) as db:
            (body,) = await store.put(db, self.brain.brain, [Put(ContentId(uuid4()), text.encode(), Slot.PAGE)])
        return await self._submit(author, path, body, action)

    async def _submit(
        self, author: PrincipalId, path: str, body: ContentRef, action: PageAction
    ) -> approvals.Submitted:
        asked = approvals.SubmitPage(
            command=gateway_world.command(),
            author=author,
            runner=None,
            origin=Origin.PERSON,
            write=approvals.PageWrite(path=path, body=body, action=action),
        )
        return await self.brain.ask(approvals.SUBMIT_PAGE, asked, approvals.Submitted)

    async def approve(self, submitted: approvals.Submitted) -> None:
        """Approve it at the first gateway."""
        asked = approvals.AskProposals(by=self.brain.alice)
        lines = (await self.brain.ask(approvals.PROPOSALS, asked, approvals.ProposalLines)).proposals
        (digest,) = [line.digest for line in lines if line.id == submitted.proposal]
        done = await self.tell(gateway_api.APPROVE, gateway_api.Approve(proposal=submitted.proposal, digest=digest))
        assert done["outcome"] == "approved", done


async def look(address: str, secret: str, page: Page) -> Seen:
    """What a reader sees at one gateway."""
    async with connected(address, secret) as http:

        async def call(method: str, **params: object) -> Answer:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = await http.post("/api/mcp", json=body)
            return Answer(answer.status_code, answer.text.replace(answer.headers["x-request-id"], "ID"))

        def tool(name: str, **arguments: object) -> "asyncio.Future[Answer]":
            return asyncio.ensure_future(call("tools/call", name=name, arguments=arguments))

        told = await asyncio.gather(
            tool("find_page", query=page.word),
            tool("search", query=page.word),
            tool("read_page", path=page.path),
            call("resources/read", uri=f"brain://page/{page.path}"),
        )
    return Seen(*told)


def connected(address: str, secret: str) -> httpx2.AsyncClient:
    """A client of one gateway with a bearer."""
    bearer = {"authorization": f"Bearer {secret}"}
    return httpx2.AsyncClient(base_url=address, headers=bearer, trust_env=False, timeout=60)


@asynccontextmanager
async def twins(house: House, folder: Path, database_port: int = 0) -> AsyncIterator[Twins]:
    """Start the second two beside a brain that runs. `database_port`: their own way to PostgreSQL."""
    traces = folder / "second.jsonl"
    gateway, gateway_port = _second(house, "gateway", folder, database_port), free_port()
    gateway = replace(gateway, env={**gateway.env, "HTTP_PORT": str(gateway_port)})
    retrieval = _second(house, "retrieval", folder, database_port)
    retrieval = replace(retrieval, env={**retrieval.env, "BRAIN_TRACE_FILE": str(traces)})
    started = [await child.start(program) for program in (gateway, retrieval)]
    try:
        for one in started:
            await _ready(one)
        async with inside.look(house) as within:
            cluster = programs.cluster(house.home, house.ports)
            brain = gateway_world.House(
                brain=within.brain,
                nc=within.nc,
                address=f"http://127.0.0.1:{house.ports.gateway}",
                neighbour=gateway_world.Neighbour(within.nc),
                web=programs.urls(house.ports)["web"],
                database=Database(Postgres(cluster, {}), programs.DATABASE),
                environ={},
                alice=await within.member("alice"),
            )
            asked = gateway_messages.SignIn(command=gateway_world.command(), name="alice")
            signed = await brain.ask(gateway_messages.SIGN_IN, asked, gateway_messages.Issued)
            yield Twins(house, within, brain, f"http://127.0.0.1:{gateway_port}", signed.secret, traces)
    finally:
        for one in started:
            await one.end()


def _second(house: House, name: str, folder: Path, database_port: int) -> child.Program:
    program = programs.service(name, house.home, house.ports, house.settings)
    straight, other = f":{house.ports.postgres}/", f":{database_port or house.ports.postgres}/"
    dsns = {key: value.replace(straight, other) for key, value in program.env.items() if key.endswith("_DSN")}
    env = {**program.env, **SERVING, **dsns, "HEALTH_PORT": str(free_port())}
    return replace(program, env=env, log=folder / f"second-{name}.log")


async def _ready(started: child.Child) -> None:
    address = f"http://127.0.0.1:{started.program.env['HEALTH_PORT']}/readyz"
    async with httpx2.AsyncClient(trust_env=False) as http, asyncio.timeout(READY_SECONDS):
        while True:
            assert started.alive, child.tail(started.program.log)
            try:
                if (await http.get(address)).status_code == 200:
                    return
            except httpx2.TransportError:
                pass  # it does not listen yet
            await asyncio.sleep(0.05)
