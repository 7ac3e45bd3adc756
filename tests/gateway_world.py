"""A whole gateway on a bus and database of its own, with the archive beside it and neighbours that answer by script."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import httpx2
import msgspec
import nats as nats_client
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from brain.stack import nats
from chassis import postgres, rpc
from chassis.settings import Secret
from content.keyring import KeyRing
from contracts import gateway_messages as messages
from contracts import replies
from contracts.enums import Permission, Role, Scope, Tier, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.ids import SERVICES, BrainId, CommandId, PrincipalId
from contracts.replies import Accepted
from eventlog.archive import Archiver
from eventlog.provision import provision
from eventlog.signing import create_key
from gateway.app import main
from servers import Database, free_port, in_process

R = TypeVar("R")


@dataclass
class Neighbour:
    """A service behind the gateway: answers a subject with what the test says, and keeps what it was asked."""

    nc: Client
    asked: list[bytes] = field(default_factory=list)
    answering: list[Subscription] = field(default_factory=list)

    async def falls_silent(self) -> None:
        """Answer nothing any more, and forget what was asked."""
        for subscription in self.answering:
            await subscription.unsubscribe()
        await self.nc.flush()
        self.answering.clear()
        self.asked.clear()

    async def answers(self, subject: str, result: msgspec.Struct | Refused | Unavailable) -> None:
        async def reply(message: Msg) -> None:
            self.asked.append(message.data)
            if isinstance(result, Refused | Unavailable):
                await message.respond(replies.failure(result))
            else:
                await message.respond(replies.success(result))

        self.answering.append(await self.nc.subscribe(subject, cb=reply))
        await self.nc.flush()


@dataclass
class House:
    """One brain and its running gateway."""

    brain: BrainId
    nc: Client
    address: str
    neighbour: Neighbour
    web: str
    database: Database
    environ: dict[str, str]
    alice: PrincipalId = field(default_factory=lambda: PrincipalId(uuid4()))

    async def ask(self, subject: str, request: msgspec.Struct, shape: type[R]) -> R:
        return await rpc.ask(self.nc, subject, request, shape)

    async def open(self) -> None:
        opened = await self.ask(
            messages.OPEN_BRAIN, messages.OpenBrain(command=command(), owner="alice"), messages.MemberAdded
        )
        self.alice = opened.member

    async def join(self, name: str, role: Role = Role.MEMBER, tier: Tier = Tier.EMPLOYEE) -> PrincipalId:
        asked = messages.AddMember(command=command(), by=self.alice, name=name, role=role, tier=tier)
        return (await self.ask(messages.ADD_MEMBER, asked, messages.MemberAdded)).member

    async def token(
        self,
        who: PrincipalId | None = None,
        *scopes: Scope,
        kind: TokenKind = TokenKind.PERSON,
        tier: Tier = Tier.EMPLOYEE,
    ) -> messages.Issued:
        asked = messages.IssueToken(command=command(), by=who or self.alice, kind=kind, tier=tier, scopes=scopes)
        return await self.ask(messages.ISSUE_TOKEN, asked, messages.Issued)

    async def sign_in(self, name: str = "alice", *, link: bool = False) -> str:
        asked = messages.SignIn(command=command(), name=name, link=link)
        return (await self.ask(messages.SIGN_IN, asked, messages.Issued)).secret

    async def grant(self, subject: str, permission: Permission, scope: str) -> messages.GrantMade:
        asked = messages.GrantTo(command=command(), by=self.alice, subject=subject, permission=permission, scope=scope)
        return await self.ask(messages.GRANT, asked, messages.GrantMade)

    async def revoke_token(self, issued: messages.Issued) -> Accepted:
        asked = messages.RevokeToken(command=command(), by=self.alice, token=issued.token)
        return await self.ask(messages.REVOKE_TOKEN, asked, Accepted)

    def client(self, token: str = "", **headers: str) -> httpx2.AsyncClient:
        bearer = {"authorization": f"Bearer {token}"} if token else {}
        return httpx2.AsyncClient(base_url=self.address, headers={**bearer, **headers}, trust_env=False, timeout=20)


def command() -> CommandId:
    return CommandId(uuid4())


@asynccontextmanager
async def gateway(environ: dict[str, str]) -> AsyncIterator[None]:
    """The service, in this process, from ready to stopped."""
    async with in_process(main, environ):
        yield


@asynccontextmanager
async def settled(folder: Path, database: Database) -> AsyncIterator[House]:
    bus = nats.Bus(
        folder / "store",
        free_port(),
        free_port(),
        Secret(secrets.token_urlsafe(24)),
        folder / "nats.log",
        quota=16 * 1024**3,
    )
    running = await nats.start(bus)
    nc = await nats_client.connect(bus.url.reveal())
    archive = await postgres.connect(database.secret("archive"), "archive", service="archive")
    copying: asyncio.Task[None] | None = None
    try:
        await provision(nc)
        brain = BrainId(uuid4())
        signers = {service: create_key(folder / f"{service}.key") for service in SERVICES}
        (folder / "signers.json").write_bytes(msgspec.json.encode(signers))
        KeyRing.create(folder / "keyring")
        copying = asyncio.create_task(Archiver(nc, archive, brain, "EVT").run())
        address, web = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        environ = {
            "BRAIN_ID": str(brain),
            "NATS_URL": bus.url.reveal(),
            "POSTGRES_DSN": database.dsn("gateway"),
            "BRAIN_KEYRING": str(folder / "keyring"),
            "BRAIN_SIGNING_KEY": str(folder / "gateway.key"),
            "BRAIN_SIGNERS": str(folder / "signers.json"),
            "HEALTH_PORT": str(free_port()),
            "HTTP_PORT": address.rsplit(":", 1)[1],
            "PUBLIC_URL": address,
            "WEB_URL": web,
        }
        async with gateway(environ):
            yield House(brain, nc, address, Neighbour(nc), web, database, environ)
    finally:
        if copying is not None:
            copying.cancel()
            await asyncio.gather(copying, return_exceptions=True)
        await archive.close()
        await nc.close()
        await running.end()
