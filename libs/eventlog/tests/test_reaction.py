"""Reactions: many at a time, tried a bounded number of times, then parked, never dropped."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import msgspec

from contracts import subjects
from contracts.envelope import Recorded
from contracts.errors import Unavailable
from contracts.ids import BuildId
from contracts.proposals import BuildAbandoned
from eventlog import leader
from eventlog.log import Append
from eventlog.reaction import Parked, React, Reaction
from ledgers import Ledger, command, someone

DURABLE = "embedder-on-draft-v1"


async def abandon(ledger: Ledger) -> BuildId:
    build = BuildId(uuid4())
    history = subjects.build(ledger.brain, build)
    fact = BuildAbandoned(build=build)
    await ledger.log("approvals").append(Append(command(), someone(), uuid4(), ((history, fact),), {history: 0}))
    return build


def reaction(ledger: Ledger, react: React, tries: int = 2) -> Reaction:
    parked = subjects.parked(ledger.brain, "embedder")
    hears = frozenset({"build_abandoned"})
    return Reaction(ledger.nc, DURABLE, "EVT", hears, react, ledger.verifier, parked, tries=tries)


def builds(ledger: Ledger, facts: Sequence[Recorded[msgspec.Struct]]) -> list[BuildId]:
    """Of this test's brain: the durable is shared by the session."""
    mine = [fact.fact for fact in facts if fact.envelope.brain == ledger.brain]
    return [fact.build for fact in mine if isinstance(fact, BuildAbandoned)]


async def test_one_bad_message_is_parked_and_the_others_are_reacted_to(ledger: Ledger) -> None:
    bad, good = await abandon(ledger), await abandon(ledger)
    reacted: list[BuildId] = []
    enough = asyncio.Event()

    async def react(facts: Sequence[Recorded[msgspec.Struct]]) -> None:
        mine = builds(ledger, facts)
        if bad in mine:
            raise ValueError("cannot")
        reacted.extend(mine)
        enough.set()

    put_away = await ledger.nc.subscribe(subjects.parked(ledger.brain, "embedder"))
    acting = asyncio.create_task(reaction(ledger, react).run())
    async with asyncio.timeout(30):
        await enough.wait()
        kept = await put_away.next_msg(timeout=30)
    acting.cancel()
    parked = msgspec.json.decode(kept.data, type=Parked)
    assert await leader.last(ledger.nc, "PARKED", subjects.parked(ledger.brain, "embedder")) is not None
    assert (parked.tries, parked.error) == (2, "ValueError")
    assert reacted == [good]


async def test_an_outside_that_does_not_answer_parks_nothing(ledger: Ledger) -> None:
    build = await abandon(ledger)
    times = 0
    done = asyncio.Event()

    async def react(facts: Sequence[Recorded[msgspec.Struct]]) -> None:
        nonlocal times
        if build in builds(ledger, facts):
            times += 1
            if times < 5:
                raise Unavailable("the model sleeps")
            done.set()

    acting = asyncio.create_task(reaction(ledger, react, tries=1).run())
    async with asyncio.timeout(60):
        await done.wait()
    acting.cancel()
    assert await leader.last(ledger.nc, "PARKED", subjects.parked(ledger.brain, "embedder")) is None
