"""Projections: whole decisions, exactly once in effect, and never past what cannot be read."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import msgspec
import pytest

from contracts import codec, subjects
from contracts.access_facts import GateMoved
from contracts.content import ContentRef
from contracts.enums import Gate, LogStream
from contracts.envelope import Recorded
from contracts.ids import BrainId, ContentId, fact_id
from contracts.operations import LogQuarantined
from eventlog import leader
from eventlog.follower import Connection, Pool
from eventlog.log import Append
from eventlog.projector import Projection, Projector
from eventlog.wait import reached
from ledgers import Ledger, command, left, someone
from scratch import DURABLE, projector, remember, running, say, seen

PATIENT = 15.0


async def test_facts_are_projected_in_order_once(ledger: Ledger, pool: Pool) -> None:
    last = await say(ledger, 700)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(last, PATIENT)
    assert await seen(pool) == list(range(last - 699, last + 1))


async def test_a_projection_that_crashed_after_its_commit_repeats_nothing(ledger: Ledger, pool: Pool) -> None:
    first = await say(ledger, 3)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(first, PATIENT)
    second = await say(ledger, 2)
    again = projector(ledger, pool)
    async with running(again):
        assert await again.reached(second, PATIENT)
    assert await seen(pool) == list(range(first - 2, second + 1))


async def test_a_failing_batch_leaves_no_rows_and_is_tried_again(ledger: Ledger, pool: Pool) -> None:
    tries = 0

    async def stumble(db: Connection, facts: Sequence[Recorded[msgspec.Struct]]) -> None:
        nonlocal tries
        tries += 1
        await remember(db, facts)
        if tries == 1:
            raise OSError("the disk hiccups")

    last = await say(ledger, 3)
    model = Projector(
        ledger.nc, pool, ledger.brain, Projection(DURABLE, "EVT", frozenset({"member_left"}), stumble), ledger.verifier
    )
    async with running(model):
        assert await model.reached(last, PATIENT)
    assert tries == 2
    assert await seen(pool) == [last - 2, last - 1, last]


async def test_a_decision_larger_than_one_pull_is_committed_whole(ledger: Ledger, pool: Pool) -> None:
    sizes: list[int] = []

    async def measure(db: Connection, facts: Sequence[Recorded[msgspec.Struct]]) -> None:
        sizes.append(len(facts))
        await remember(db, facts)

    who = someone()
    history = subjects.access(ledger.brain, who)
    facts = tuple((history, left(who)) for _ in range(900))
    last = await ledger.log().append(Append(command(), who, uuid4(), facts, {history: 0}))
    model = Projector(
        ledger.nc, pool, ledger.brain, Projection(DURABLE, "EVT", frozenset({"member_left"}), measure), ledger.verifier
    )
    async with running(model):
        assert await model.reached(last, PATIENT)
    assert sizes == [900]


async def test_another_brains_facts_are_not_heard(ledger: Ledger, pool: Pool) -> None:
    other = Ledger(ledger.nc, BrainId(uuid4()), ledger.verifier, ledger.keys, ledger.url)
    await say(other, 2)
    mine = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(mine, PATIENT)
    assert await seen(pool) == [mine]


async def forge(ledger: Ledger, service: str) -> int:
    """A member_left that `service` signed: nobody but gateway may say it."""
    who = someone()
    history = subjects.access(ledger.brain, who)
    return await ledger.log(service).append(Append(command(), who, uuid4(), ((history, left(who)),), {history: 0}))


async def trouble(model: Projector) -> str:
    async with asyncio.timeout(PATIENT):
        while model.trouble() in {"", "starting"}:  # noqa: ASYNC110 - trouble is polled by readiness as well
            await asyncio.sleep(0.01)
    return model.trouble()


async def test_a_fact_signed_by_who_may_not_say_it_stops_the_projection(ledger: Ledger, pool: Pool) -> None:
    good = await say(ledger)
    bad = await forge(ledger, "drift")
    model = projector(ledger, pool)
    async with running(model):
        assert f"position {bad} cannot be read" in await trouble(model)
    assert bad not in await seen(pool)
    assert set(await seen(pool)) <= {good}


async def test_an_operator_quarantines_exactly_what_cannot_be_read(ledger: Ledger, pool: Pool) -> None:
    bad = await forge(ledger, "drift")
    after = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        await trouble(model)
        history = subjects.log(ledger.brain)
        fact = LogQuarantined(stream=LogStream.EVT, sequence=bad, reason=ContentRef(ContentId(uuid4()), "00"))
        await ledger.log("operator").append(Append(command(), someone(), uuid4(), ((history, fact),), {history: 0}))
        assert await model.reached(after, PATIENT)
        assert model.trouble() == ""
    assert await seen(pool) == [after]


async def test_a_log_that_holds_another_fact_at_the_checkpoint_stops_everything(ledger: Ledger, pool: Pool) -> None:
    last = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(last, PATIENT)
    async with pool.acquire() as db, db.transaction():
        await db.execute("select set_config('brain.id', $1, true)", str(ledger.brain))
        await db.execute("update checkpoints set fact_id = 'another' where brain = $1", ledger.brain)
    again = projector(ledger, pool)
    async with running(again):
        assert "holds another fact" in await trouble(again)


async def test_a_checkpoint_ahead_of_the_log_stops_everything(ledger: Ledger, pool: Pool) -> None:
    last = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(last, PATIENT)
    async with pool.acquire() as db, db.transaction():
        await db.execute("select set_config('brain.id', $1, true)", str(ledger.brain))
        await db.execute("update checkpoints set position = position + 1000 where brain = $1", ledger.brain)
    again = projector(ledger, pool)
    async with running(again):
        assert "has read up to" in await trouble(again)


async def test_a_waiter_in_another_process_hears_of_the_checkpoint(ledger: Ledger, pool: Pool) -> None:
    model = projector(ledger, pool)
    async with running(model):
        last = await say(ledger)
        assert await reached(ledger.nc, pool, ledger.brain, DURABLE, last, PATIENT)
    assert not await reached(ledger.nc, pool, ledger.brain, DURABLE, last + 1, 0.05)


async def test_two_processes_of_one_projection_project_once(ledger: Ledger, pool: Pool) -> None:
    last = await say(ledger, 20)
    one, two = projector(ledger, pool), projector(ledger, pool)
    async with running(one, two):
        assert await reached(ledger.nc, pool, ledger.brain, DURABLE, last, PATIENT)
        more = await say(ledger, 20)
        assert await reached(ledger.nc, pool, ledger.brain, DURABLE, more, PATIENT)
    assert await seen(pool) == list(range(last - 19, more + 1))


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"type": 1}', b"[" * 10_000])
def test_what_is_no_envelope_is_unreadable_and_nothing_else(body: bytes) -> None:
    with pytest.raises(codec.Unreadable):
        codec.decode_envelope(body)


async def test_ids_follow_from_the_command(ledger: Ledger) -> None:
    who, named = someone(), command()
    history, gate = subjects.access(ledger.brain, who), subjects.gate(ledger.brain, Gate.FENCE)
    last = await ledger.log().append(
        Append(named, who, uuid4(), ((history, left(who)), (gate, GateMoved(cause=who))), {history: 0, gate: 0})
    )
    found = await leader.at(ledger.nc, "EVT", last)
    assert found is not None
    assert found.id == str(fact_id(named, 1))
