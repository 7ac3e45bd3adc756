"""Append with expectation, on a real server."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from contracts import codec, subjects
from contracts.access_facts import GateMoved
from contracts.enums import Gate
from contracts.ids import CommandId, PrincipalId, fact_id
from eventlog import leader
from eventlog.log import Append, Conflict, EventLog
from ledgers import Ledger, command, left, someone


def leaving(ledger: Ledger, who: PrincipalId, after: int = 0, command_id: CommandId | None = None) -> Append:
    history = subjects.access(ledger.brain, who)
    return Append(command_id or command(), who, uuid4(), ((history, left(who)),), {history: after})


async def test_a_fact_is_appended_signed_and_says_its_type(ledger: Ledger) -> None:
    who = someone()
    position = await ledger.log().append(leaving(ledger, who))
    stored = await leader.at(ledger.nc, "EVT", position)
    assert stored is not None
    assert stored.headers["Brain-Type"] == "member_left"
    recorded = codec.decode(stored.position, stored.subject, stored.body)
    ledger.verifier.check(stored.subject, recorded.envelope)
    assert recorded.fact == left(who)


async def test_a_stale_expectation_is_a_conflict_and_stores_nothing(ledger: Ledger) -> None:
    who = someone()
    first = await ledger.log().append(leaving(ledger, who))
    with pytest.raises(Conflict) as caught:
        await ledger.log().append(leaving(ledger, who, after=first - 1))
    assert caught.value.last == first
    last = await leader.last(ledger.nc, "EVT", subjects.access(ledger.brain, who))
    assert last is not None
    assert last.position == first


async def test_a_retry_of_the_same_command_is_recognised_as_its_own_success(ledger: Ledger) -> None:
    decision = leaving(ledger, someone())
    position = await ledger.log().append(decision)
    assert await ledger.log().append(decision) == position


async def test_a_retried_batch_is_recognised_and_not_stored_twice(ledger: Ledger) -> None:
    who = someone()
    history, gate = subjects.access(ledger.brain, who), subjects.gate(ledger.brain, Gate.FENCE)
    decision = Append(
        command(), who, uuid4(), ((history, left(who)), (gate, GateMoved(cause=who))), {history: 0, gate: 0}
    )
    position = await ledger.log().append(decision)
    assert await ledger.log().append(decision) == position
    assert (await leader.extent(ledger.nc, "EVT")).last == position


async def test_a_batch_is_whole_or_absent(ledger: Ledger) -> None:
    who, other = someone(), someone()
    taken = await ledger.log().append(leaving(ledger, other))
    mine, theirs = subjects.access(ledger.brain, who), subjects.access(ledger.brain, other)
    decision = Append(command(), who, uuid4(), ((mine, left(who)), (theirs, left(other))), {mine: 0, theirs: taken - 1})
    with pytest.raises(Conflict):
        await ledger.log().append(decision)
    assert await leader.last(ledger.nc, "EVT", mine) is None


async def test_a_gate_that_moved_refuses_a_decision_that_expected_it(ledger: Ledger) -> None:
    who = someone()
    history, gate = subjects.access(ledger.brain, who), subjects.gate(ledger.brain, Gate.ACCESS)
    moved = await ledger.log().append(Append(command(), who, uuid4(), ((gate, GateMoved(cause=who)),), {gate: 0}))
    facts = ((history, left(who)), (history, left(who)))
    with pytest.raises(Conflict):
        await ledger.log().append(Append(command(), who, uuid4(), facts, {history: 0, gate: 0}))
    assert await leader.last(ledger.nc, "EVT", history) is None
    await ledger.log().append(Append(command(), who, uuid4(), facts, {history: 0, gate: moved}))


async def test_an_append_without_expectation_is_impossible(ledger: Ledger) -> None:
    who = someone()
    with pytest.raises(ValueError, match="never append without an expectation"):
        await ledger.log().append(replace(leaving(ledger, who), expected={}))


async def test_an_expectation_that_no_fact_can_carry_is_refused(ledger: Ledger) -> None:
    who = someone()
    history = subjects.access(ledger.brain, who)
    with pytest.raises(ValueError, match="can carry the expectation"):
        await ledger.log().append(
            replace(leaving(ledger, who), expected={history: 0, subjects.gate(ledger.brain, Gate.ACCESS): 0})
        )


async def test_twenty_contradictory_decisions_leave_exactly_one(ledger: Ledger) -> None:
    who = someone()

    async def one(log: EventLog) -> int | None:
        try:
            return await log.append(leaving(ledger, who))
        except Conflict:
            return None

    told = await asyncio.gather(*(one(ledger.log()) for _ in range(20)))
    assert len([position for position in told if position is not None]) == 1


async def test_a_bulk_append_goes_on_where_a_first_try_stopped(ledger: Ledger) -> None:
    who = someone()
    history = subjects.access(ledger.brain, who)
    whole = Append(command(), who, uuid4(), tuple((history, left(who)) for _ in range(600)), {history: 0})
    begun = await ledger.log().append(replace(whole, facts=whole.facts[:250]))
    end = await ledger.log().append_many(whole)
    assert end == begun + 350
    last = await leader.last(ledger.nc, "EVT", history)
    assert last is not None
    assert last.id == str(fact_id(whole.command, 599))


async def test_independent_decisions_land_together_each_with_its_own_position(ledger: Ledger) -> None:
    pair = [leaving(ledger, someone()), leaving(ledger, someone())]
    first, second = await ledger.log().append_together(pair)
    assert second[0].position == first[0].position + 1
    for decision, told in zip(pair, (first, second), strict=True):
        found = await leader.at(ledger.nc, "EVT", told[0].position)
        assert found is not None
        assert found.id == str(fact_id(decision.command, 0))
        assert codec.decode(found.position, found.subject, found.body) == told[0]


async def test_one_stale_decision_keeps_its_whole_group_out(ledger: Ledger) -> None:
    gone = someone()
    stood = await ledger.log().append(leaving(ledger, gone))
    good = leaving(ledger, someone())
    with pytest.raises(Conflict):
        await ledger.log().append_together([good, leaving(ledger, gone, after=stood - 1)])
    assert await leader.last(ledger.nc, "EVT", good.facts[0][0]) is None


async def test_a_decision_that_landed_in_another_group_is_a_conflict_and_never_a_wrong_position(
    ledger: Ledger,
) -> None:
    landed, other = leaving(ledger, someone()), leaving(ledger, someone())
    position = await ledger.log().append(landed)
    await ledger.log().append(leaving(ledger, someone()))
    with pytest.raises(Conflict) as caught:
        await ledger.log().append_together([landed, other])
    assert (caught.value.subject, caught.value.last) == (landed.facts[0][0], position)
    assert await leader.last(ledger.nc, "EVT", other.facts[0][0]) is None


async def test_a_command_that_said_something_shorter_before_is_a_conflict(ledger: Ledger) -> None:
    who = someone()
    history = subjects.access(ledger.brain, who)
    before = leaving(ledger, who)
    position = await ledger.log().append(before)
    longer = replace(before, facts=((history, left(who)), (history, left(who))))
    with pytest.raises(Conflict) as caught:
        await ledger.log().append(longer)
    assert caught.value.last == position + 1
