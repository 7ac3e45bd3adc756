"""What may be quarantined: only a message of one's own brain that is there, cannot be read, and was looked at."""

from uuid import uuid4

import msgspec
import pytest

from contracts import codec, subjects
from contracts.content import ContentRef
from contracts.enums import LogStream
from contracts.envelope import Recorded
from contracts.errors import Refused
from contracts.ids import BrainId, ContentId
from contracts.operations import LogQuarantined
from eventlog import leader
from eventlog.follower import Pool
from eventlog.leader import Stored
from eventlog.log import Append
from eventlog.projector import read
from eventlog.quarantine import Skipped, Unread, digest_of, examine, quarantined
from ledgers import Ledger, command, left, someone
from scratch import projector, running, say, seen

PATIENT = 15.0


async def put(ledger: Ledger, body: bytes, subject: str = "") -> int:
    """Bytes in the log that no service wrote, under a type that is heard."""
    heard = {codec.TYPE_HEADER: "member_left"}
    ack = await ledger.nc.jetstream().publish(subject or subjects.access(ledger.brain, someone()), body, headers=heard)
    return ack.seq


async def forge(ledger: Ledger) -> int:
    """A member_left that drift signed, which may not say it."""
    who = someone()
    history = subjects.access(ledger.brain, who)
    decision = Append(command(), who, uuid4(), ((history, left(who)),), {history: 0})
    return await ledger.log("drift").append(decision)


async def quarantine(ledger: Ledger, position: int) -> int:
    """The operator's fact, whatever stands at the position."""
    history = subjects.log(ledger.brain)
    last = await leader.last(ledger.nc, "EVT", history)
    fact = LogQuarantined(stream=LogStream.EVT, sequence=position, reason=ContentRef(ContentId(uuid4()), "00"))
    expected = {history: last.position if last else 0}
    return await ledger.log("operator").append(Append(command(), someone(), uuid4(), ((history, fact),), expected))


async def digest(ledger: Ledger, position: int) -> str:
    found = await leader.at(ledger.nc, "EVT", position)
    assert found is not None
    return digest_of(found)


async def ask(ledger: Ledger, position: int, named: str | None = None) -> Unread | Skipped:
    def verified(stored: Stored) -> Recorded[msgspec.Struct]:
        return read(stored, ledger.verifier)

    return await examine(ledger.nc, ledger.brain, "EVT", position, named, verified)


async def refusal(ledger: Ledger, position: int, named: str | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        await ask(ledger, position, named)
    assert caught.value.where == f"EVT {position}"
    assert caught.value.remedy
    return caught.value


async def test_a_fact_that_can_be_read_is_not_quarantined(ledger: Ledger) -> None:
    good = await say(ledger)
    assert (await refusal(ledger, good, await digest(ledger, good))).code == "message_readable"


async def test_a_position_that_is_not_written_yet_is_not_quarantined(ledger: Ledger) -> None:
    last = await say(ledger)
    refused = await refusal(ledger, last + 999_999, "00")
    assert refused.code == "no_such_message"
    assert str((await leader.extent(ledger.nc, "EVT")).last) in refused.what


async def test_another_brains_message_is_not_quarantined(ledger: Ledger) -> None:
    other = Ledger(ledger.nc, BrainId(uuid4()), ledger.verifier, ledger.keys, ledger.url)
    bad = await forge(other)
    assert (await refusal(ledger, bad, await digest(ledger, bad))).code == "message_of_another_brain"


async def test_what_is_unreadable_or_forged_is_quarantined_by_who_names_its_digest(ledger: Ledger) -> None:
    for bad in (await put(ledger, b"{"), await forge(ledger)):
        shown = await digest(ledger, bad)
        refused = await refusal(ledger, bad)
        assert (refused.code, shown in refused.remedy) == ("digest_needed", True)
        assert (await refusal(ledger, bad, "0" * 64)).code == "digest_differs"
        assert await ask(ledger, bad, shown) == Unread(bad, 0)


async def test_a_second_quarantine_of_a_message_is_told_where_the_first_stands(ledger: Ledger) -> None:
    bad = await forge(ledger)
    said = await quarantine(ledger, bad)
    assert await ask(ledger, bad) == Skipped(bad, said)


async def test_a_projection_applies_a_quarantined_fact_that_it_can_read(ledger: Ledger, pool: Pool) -> None:
    good = await say(ledger)
    await quarantine(ledger, good)
    after = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(after, PATIENT)
    assert await seen(pool) == [good, after]


async def test_a_quarantine_that_the_operator_did_not_sign_skips_nothing(ledger: Ledger) -> None:
    bad = await forge(ledger)
    history = subjects.log(ledger.brain)
    fact = LogQuarantined(stream=LogStream.EVT, sequence=bad, reason=ContentRef(ContentId(uuid4()), "00"))
    decision = Append(command(), someone(), uuid4(), ((history, fact),), {history: 0})
    said = await ledger.log("drift").append(decision)

    def verified(stored: Stored) -> Recorded[msgspec.Struct]:
        return read(stored, ledger.verifier)

    with pytest.raises(codec.Unreadable, match=f"position {said} "):
        await quarantined(ledger.nc, ledger.brain, "EVT", verified)


async def test_what_is_unreadable_among_the_quarantines_can_be_quarantined_itself(ledger: Ledger, pool: Pool) -> None:
    bad = await put(ledger, b"{", subjects.log(ledger.brain))
    assert await ask(ledger, bad, await digest(ledger, bad)) == Unread(bad, bad)
    await quarantine(ledger, bad)
    after = await say(ledger)
    model = projector(ledger, pool)
    async with running(model):
        assert await model.reached(after, PATIENT)
    assert await seen(pool) == [after]
