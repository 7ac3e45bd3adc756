"""The service as it runs: asked over the bus, standing by while another projects, ready when it can answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from chassis import rpc
from contracts import retrieval_messages as messages
from contracts.errors import Refused
from contracts.ids import ContentId
from retrieval.app import main
from retrieval_world import World, page_text
from servers import free_port

pytestmark = pytest.mark.service


@asynccontextmanager
async def service(world: World) -> AsyncIterator[int]:
    """The process's own main, on its port for health."""
    port, stop = free_port(), asyncio.Event()
    environ = {
        "BRAIN_ID": str(world.brain),
        "NATS_URL": world.url,
        "POSTGRES_DSN": world.database.dsn("retrieval_project"),
        "SERVE_DSN": world.database.dsn("retrieval_serve"),
        "BRAIN_KEYRING": str(world.folder / "keyring"),
        "BRAIN_SIGNERS": str(world.folder / "signers.json"),
        "HEALTH_PORT": str(port),
    }
    running = asyncio.create_task(main(stop, environ))
    try:
        async with asyncio.timeout(20), httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            while not running.done():
                try:
                    if (await client.get("/readyz")).status_code == 200:
                        break
                except httpx2.HTTPError:
                    pass
                await asyncio.sleep(0.05)
        yield port
    finally:
        stop.set()
        await running


async def test_it_answers_over_the_bus_and_takes_over_when_the_other_process_ends(world: World) -> None:
    text = page_text("Leave", "Forty weeks of leave.")
    await world.promote({"people/leave.md": text}, embed=True)
    await world.caught_up()
    async with service(world), world.embedder():
        asker = world.asker()
        hits = await rpc.ask(
            world.nc, messages.SEARCH, messages.Search(asker=asker, query="forty weeks"), messages.Hits
        )
        assert ([hit.path for hit in hits.hits], hits.degraded) == (["people/leave.md"], ())
        found = await rpc.ask(
            world.nc, messages.FIND_PAGE, messages.FindPage(asker=asker, query="leave"), messages.PageHits
        )
        assert [page.title for page in found.pages] == ["Leave"]
        view = await rpc.ask(
            world.nc, messages.READ_PAGE, messages.ReadPage(asker=asker, path=found.pages[0].id), messages.PageView
        )
        assert (view.owner, view.text) == ("alice", "Forty weeks of leave.\n")
        with pytest.raises(Refused) as refused:
            await rpc.ask(
                world.nc, messages.READ_PAGE, messages.ReadPage(asker=asker, path="no/such.md"), messages.PageView
            )
        assert refused.value.code == "no_such_page"

        await world.rest()
        await world.promote({"people/sick.md": page_text("Sick leave", "Call before nine.")})
        asked = messages.Search(asker=asker, query="call before nine", position=world.ends["EVT"])
        hits = await rpc.ask(world.nc, messages.SEARCH, asked, messages.Hits)
        assert hits.hits[0].path == "people/sick.md"
        assert hits.position == world.ends["EVT"]


async def test_a_promotion_can_wait_until_its_bodies_are_embedded(world: World) -> None:
    text = page_text("Leave", "Forty weeks of leave.")
    _, body = await world.submit(text)
    async with service(world):
        asked = messages.AskVectors(bodies=(body,))
        told = await rpc.ask(world.nc, messages.VECTORS, asked, messages.Vectors)
        assert told.missing == 1
        patient = messages.AskVectors(bodies=(body,), wait=10.0)
        waiting = asyncio.create_task(rpc.ask(world.nc, messages.VECTORS, patient, messages.Vectors, seconds=15))
        await world.embed({body: text})
        assert (await waiting).missing == 0
        never = messages.AskVectors(bodies=(body, ContentId(world.brain)))
        assert (await rpc.ask(world.nc, messages.VECTORS, never, messages.Vectors)).missing == 1
