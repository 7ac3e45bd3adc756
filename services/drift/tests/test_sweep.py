"""The sweep on real NATS and PostgreSQL; approvals is a neighbour that speaks its own messages."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import pytest
from nats.aio.msg import Msg

from chassis import postgres
from chassis.postgres import Pool
from contracts import controls, replies, subjects
from contracts.approvals_messages import RAISE_REVIEW, RaiseReview, Submitted
from contracts.enums import Origin, ProposalKind, Verdict
from contracts.errors import Refused
from contracts.ids import PageId, ProposalId
from contracts.proposals import PagePromoted, PageVerified, ProposalDecided, ProposalSubmitted
from drift.projection import FRESHNESS
from drift.sweep import Swept, sweep
from eventlog.log import Append
from eventlog.projector import Projector
from ledgers import Ledger, command, someone
from scratch import running
from servers import Database

pytestmark = pytest.mark.service
VERIFIED = datetime(2026, 1, 1, tzinfo=UTC)
LATER = VERIFIED + timedelta(days=90)


@pytest.fixture
async def drift_pool(database: Database) -> AsyncIterator[Pool]:
    pool = await postgres.connect(database.secret("drift"), "drift", service="drift")
    yield pool
    await pool.close()


@pytest.fixture
async def asked(ledger: Ledger) -> AsyncIterator[list[RaiseReview]]:
    """What approvals was asked to raise; it refuses pages whose id begins with 0."""
    heard: list[RaiseReview] = []

    async def answer(message: Msg) -> None:
        request = msgspec.json.decode(message.data, type=RaiseReview)
        heard.append(request)
        if str(request.page).startswith("0"):
            await message.respond(replies.failure(Refused("no_such_page", "There is no such page.")))
            return
        await message.respond(replies.success(Submitted(proposal=ProposalId(uuid4()), position=1, archived=True)))

    subscription = await ledger.nc.subscribe(RAISE_REVIEW, cb=answer)
    yield heard
    await subscription.unsubscribe()


def page_id(digit: str) -> PageId:
    """An id that begins with this digit: the neighbour refuses those that begin with 0."""
    return PageId(UUID(f"{digit}{str(uuid4())[1:]}"))


async def say(ledger: Ledger, subject: str, *facts: msgspec.Struct) -> int:
    decision = Append(command(), someone(), uuid4(), tuple((subject, fact) for fact in facts), {subject: 0})
    return await ledger.log("approvals").append(decision)


def promoted(page: PageId) -> PagePromoted:
    example = next(fact for fact in controls.EXAMPLES if isinstance(fact, PagePromoted))
    return msgspec.structs.replace(example, page=page, review_days=90)


async def verified_page(ledger: Ledger, page: PageId) -> int:
    fact = PageVerified(page=page, revision=1, by=someone(), at=VERIFIED)
    return await say(ledger, subjects.page(ledger.brain, page), promoted(page), fact)


def projector(ledger: Ledger, pool: Pool) -> Projector:
    return Projector(ledger.nc, pool, ledger.brain, FRESHNESS, ledger.verifier)


async def test_a_passed_window_raises_one_review_and_only_one(
    ledger: Ledger, drift_pool: Pool, asked: list[RaiseReview]
) -> None:
    page = page_id("a")
    last = await verified_page(ledger, page)
    model = projector(ledger, drift_pool)
    async with running(model):
        assert await model.reached(last, 15)
    assert await sweep(ledger.nc, drift_pool, ledger.brain, LATER - timedelta(seconds=1)) == Swept(0, 0)
    first = await sweep(ledger.nc, drift_pool, ledger.brain, LATER)
    second = await sweep(ledger.nc, drift_pool, ledger.brain, LATER + timedelta(minutes=1))
    assert (first, second) == (Swept(1, 1), Swept(1, 0))
    assert asked == [RaiseReview(page=page, due=LATER)]


async def test_a_page_that_was_never_verified_has_no_window(
    ledger: Ledger, drift_pool: Pool, asked: list[RaiseReview]
) -> None:
    page = PageId(uuid4())
    last = await say(ledger, subjects.page(ledger.brain, page), promoted(page))
    model = projector(ledger, drift_pool)
    async with running(model):
        assert await model.reached(last, 15)
    assert await sweep(ledger.nc, drift_pool, ledger.brain, LATER + timedelta(days=999)) == Swept(0, 0)
    assert asked == []


async def test_one_refused_review_does_not_hold_up_the_others(
    ledger: Ledger, drift_pool: Pool, asked: list[RaiseReview]
) -> None:
    gone, there = page_id("0"), page_id("f")
    await verified_page(ledger, gone)
    last = await verified_page(ledger, there)
    model = projector(ledger, drift_pool)
    async with running(model):
        assert await model.reached(last, 15)
    assert await sweep(ledger.nc, drift_pool, ledger.brain, LATER) == Swept(2, 1)
    assert {request.page for request in asked} == {gone, there}


async def test_a_rejected_review_is_raised_again_after_its_rest(
    ledger: Ledger, drift_pool: Pool, asked: list[RaiseReview]
) -> None:
    page, proposal = page_id("a"), ProposalId(uuid4())
    await verified_page(ledger, page)
    submitted = ProposalSubmitted(
        proposal=proposal,
        kind=ProposalKind.REVIEW,
        origin=Origin.FRESHNESS,
        author=someone(),
        page=page,
        due=LATER,
    )
    decided = ProposalDecided(proposal=proposal, reviewer=someone(), verdict=Verdict.REJECT)
    last = await say(ledger, subjects.proposal(ledger.brain, proposal), submitted, decided)
    model = projector(ledger, drift_pool)
    async with running(model):
        assert await model.reached(last, 15)
    rejected_at = datetime(2026, 9, 2, tzinfo=UTC)  # the ledger fixture's clock
    assert (await sweep(ledger.nc, drift_pool, ledger.brain, rejected_at + timedelta(days=13))).raised == 0
    assert (await sweep(ledger.nc, drift_pool, ledger.brain, rejected_at + timedelta(days=14))).raised == 1
    assert asked == [RaiseReview(page=page, due=rejected_at + timedelta(days=14))]


async def test_replaying_the_facts_leaves_the_same_rows(ledger: Ledger, drift_pool: Pool, database: Database) -> None:
    pages = [PageId(uuid4()) for _ in range(5)]
    last = 0
    for page in pages:
        last = await verified_page(ledger, page)

    async def rows() -> list[tuple[object, ...]]:
        async with postgres.transaction(drift_pool, ledger.brain) as db:
            return [tuple(row.values()) for row in await db.fetch("select * from pages order by page")]

    model = projector(ledger, drift_pool)
    async with running(model):
        assert await model.reached(last, 15)
    first = await rows()
    assert len(first) == len(pages)
    async with postgres.transaction(drift_pool, ledger.brain) as db:
        await db.execute("update checkpoints set position = 0, fact_id = ''")
    again = projector(ledger, drift_pool)
    async with running(again):
        assert await again.reached(last, 15)
    assert await rows() == first
