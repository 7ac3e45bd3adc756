"""Pulling: all that is there at once, no request lost, and no cancellation swallowed."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from contracts.errors import Unavailable
from eventlog import leader
from eventlog.pull import Pull
from ledgers import Ledger
from scratch import say

PATIENT = 15.0


@pytest.fixture
async def durable(ledger: Ledger) -> AsyncIterator[str]:
    """A consumer of this test's brain alone."""
    name = f"pulled-{ledger.brain}"
    config = {"durable_name": name, "ack_policy": "explicit", "filter_subject": f"evt.{ledger.brain}.>"}
    body = msgspec.json.encode({"stream_name": "EVT", "config": config})
    await leader.request(ledger.nc, f"$JS.API.CONSUMER.CREATE.EVT.{name}", body)
    yield name
    await leader.request(ledger.nc, f"$JS.API.CONSUMER.DELETE.EVT.{name}", b"")


async def collected(pull: Pull, wanted: int) -> list[int]:
    """Positions of the next messages, as they are handed over."""
    found: list[int] = []
    async with asyncio.timeout(PATIENT):
        while len(found) < wanted:
            found += [message.metadata.sequence.stream for message in await pull.next(PATIENT)]
    return found


async def test_everything_is_handed_over_in_order_over_many_requests(ledger: Ledger, durable: str) -> None:
    last = await say(ledger, 100)
    async with Pull(ledger.nc, "EVT", durable, most=7) as pull:
        assert await collected(pull, 100) == list(range(last - 99, last + 1))


async def test_no_more_than_asked_for_is_on_its_way(ledger: Ledger, durable: str) -> None:
    await say(ledger, 20)
    async with Pull(ledger.nc, "EVT", durable, most=7) as pull:
        first = await pull.next(PATIENT)
        await ledger.nc.flush()  # whatever the server was to deliver has arrived
        assert len(first) + len(pull.waiting) == 7


async def test_a_reader_who_waits_is_told_that_nothing_came(ledger: Ledger, durable: str) -> None:
    async with Pull(ledger.nc, "EVT", durable, most=7) as pull:
        assert await pull.next(0.1) == []
        last = await say(ledger)
        assert await collected(pull, 1) == [last]


async def test_a_request_that_expired_is_asked_again(ledger: Ledger, durable: str) -> None:
    async with Pull(ledger.nc, "EVT", durable, most=7, expires=0.2) as pull:
        assert await pull.next(0.7) == []  # the server has ended the request by then, more than once
        last = await say(ledger)
        assert await collected(pull, 1) == [last]


async def test_what_was_not_handed_over_is_delivered_to_the_next_reader(ledger: Ledger, durable: str) -> None:
    last = await say(ledger, 5)
    async with Pull(ledger.nc, "EVT", durable, most=7) as first:
        taken = await first.next(PATIENT)
        for message in taken:
            await message.nak()
        await first.hand_back()
    async with Pull(ledger.nc, "EVT", durable, most=7) as second:
        assert sorted(await collected(second, 5)) == list(range(last - 4, last + 1))


async def test_a_consumer_that_does_not_exist_is_unavailable(ledger: Ledger) -> None:
    async with Pull(ledger.nc, "EVT", "nobody", most=7) as pull:
        with pytest.raises(Unavailable, match="nobody does not deliver: 503"):
            await pull.next(PATIENT)


async def test_a_consumer_that_goes_away_is_unavailable(ledger: Ledger, durable: str) -> None:
    async with Pull(ledger.nc, "EVT", durable, most=7) as pull:
        assert await pull.next(0.1) == []
        await leader.request(ledger.nc, f"$JS.API.CONSUMER.DELETE.EVT.{durable}", b"")
        with pytest.raises(Unavailable, match="409 Consumer Deleted"):
            await pull.next(PATIENT)


async def test_a_cancelled_reader_ends_even_while_messages_arrive(ledger: Ledger, durable: str) -> None:
    async with Pull(ledger.nc, "EVT", durable, most=500) as pull:

        async def read() -> None:
            while True:
                await pull.next(PATIENT)

        for _ in range(20):
            reading = asyncio.create_task(read())
            await say(ledger)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(reading, PATIENT)
