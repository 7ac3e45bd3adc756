from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx2
import msgspec
import pytest
from nats.aio.msg import Msg

from approvals.commands.deciding import Deciding
from approvals.web.site import Site
from approvals_world import World, living
from chassis import http
from contracts import replies
from contracts.enums import Role, Tier
from contracts.errors import Refused
from contracts.gateway_messages import SESSION, AskSession, Session
from contracts.ids import PrincipalId
from ledgers import Ledger
from servers import Database, free_port


@pytest.fixture
async def world(tmp_path: Path, ledger: Ledger, database: Database) -> AsyncIterator[World]:
    async with living(tmp_path, ledger, database) as world:
        yield world


@pytest.fixture
async def client(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    async def answer(message: Msg) -> None:
        cookie = msgspec.json.decode(message.data, type=AskSession).cookie
        try:
            who = PrincipalId(UUID(cookie))
        except ValueError:
            await message.respond(replies.failure(Refused("not_signed_in", "No.")))
            return
        session = Session(principal=who, name="somebody", role=Role.MEMBER, tier=Tier.ADMIN, csrf=f"csrf-{who}")
        await message.respond(replies.success(session))

    neighbour = await world.nc.subscribe(SESSION, cb=answer)
    try:
        chosen = free_port()
        site = Site(world.desk, Deciding(world.desk), "http://127.0.0.1:1", "http://127.0.0.1:2", chosen)
        async with (
            http.serve(site.app(), chosen) as port,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
        ):
            yield client
    finally:
        await neighbour.unsubscribe()
