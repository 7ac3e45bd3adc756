"""Answers that get lost, and messages that come twice: a command is carried out once, however often it is asked."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest
from nats.js.errors import APIError

import inside
import loads
from brain.stack import home as homes
from brain.stack import programs
from breaking import Faulty, people, under_load
from eventlog.leader import Stored
from houses import build
from lossy import Lossy, lossy

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

ENOUGH = 10
"""Acknowledgements that have to get lost before the load ends."""
OWN = "Nats-Expected-Last-Subject-Sequence"
FOREIGN = f"{OWN}-Subject"


@pytest.fixture(name="behind_a_proxy")
async def brain_behind_a_proxy(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Faulty, Lossy]]:
    """A brain whose approvals reach the bus only through the proxy."""
    house = build(tmp_path_factory.mktemp("lossy"), EMBEDDER_PROFILE="hashing")
    homes.prepare(house.home)
    async with lossy(house.ports.nats) as proxy:
        url = programs.bus(house.home, house.ports).url.reveal()
        house.settings["APPROVALS_NATS_URL"] = url.replace(f":{house.ports.nats}", f":{proxy.port}")
        started = await asyncio.to_thread(house.command, "up", "--detach")
        try:
            assert started.code == 0, (started.result, started.said)
            yield await asyncio.to_thread(people, house), proxy
        finally:
            await asyncio.to_thread(house.command, "down")


async def test_a_command_whose_acknowledgement_was_lost_is_carried_out_once(
    behind_a_proxy: tuple[Faulty, Lossy], tell: Callable[[str], None]
) -> None:
    """Fault 15 of the matrix."""
    faulty, proxy = behind_a_proxy

    async def harm(load: loads.Load) -> float:
        slowest = 0.0
        while proxy.dropped < ENOUGH:
            slowest = max(slowest, await load.resumed(time.monotonic()))
        return slowest

    verdict, load = await under_load(faulty, harm)
    lost = proxy.dropped / (proxy.dropped + proxy.passed)
    tell(f"{verdict.line('F15 acknowledgements dropped')}; {proxy.dropped} dropped, {lost:.0%} of all")
    proxy.share = 0.0
    async with (
        inside.look(faulty.house) as within,
        loads.working(faulty.house, faulty.author, faulty.friend, faulty.stranger) as later,
    ):
        stood = [one for one in await within.messages("EVT") if OWN in one.headers and FOREIGN not in one.headers]
        before = await within.position()
        await forget_duplicates(within, stood[-1])
        for page in load.pages[:: max(1, len(load.pages) // 20)]:
            assert page.submitted is not None
            assert page.decided is not None
            submitted, decided = page.submitted, page.decided
            assert (await later.propose(page)).proposal == submitted.proposal
            assert (await later.approve(page)).position == decided.position
        for one in stood[-40:]:
            with pytest.raises(APIError):
                await within.nc.jetstream().publish(one.subject, one.body, headers=sent(one))
        assert await within.position() == before
    tell(f"F15 duplicates beyond the window: {len(stood[-40:])} stored messages sent again, none taken")


async def forget_duplicates(within: inside.Inside, stored: Stored) -> None:
    """Shorten the window in which the server recognises a message by its id, and wait until it has passed."""
    stream = within.nc.jetstream()
    config = (await stream.stream_info("EVT")).config
    config.duplicate_window = 0.1
    await stream.update_stream(config)
    async with asyncio.timeout(10):
        with suppress(APIError):
            while (await stream.publish(stored.subject, stored.body, headers=sent(stored))).duplicate:
                continue


def sent(stored: Stored) -> dict[str, str]:
    """The headers that a message was sent with, but for those of its batch."""
    return {name: value for name, value in stored.headers.items() if not name.startswith("Nats-Batch")}
