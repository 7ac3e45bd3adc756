"""Replicas that are cut off from the database, and transactions that are cancelled: no right outlives its end."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

import replicas
import story
from chassis.postgres import Pool, connect, transaction
from contracts import gateway_api as api
from contracts.enums import Permission, Role, Tier
from houses import build
from replicas import Page, Twins
from servers import Database
from severed import Severable, severable

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

Tell = Callable[[str], None]

CUT_SECONDS = 15.0
REFUSED_SECONDS = 45.0
"""A cut connection is given up after the patience of a statement; until then a request waits."""
HEALED_SECONDS = 60.0
TRANSACTIONS, BRAINS, TOGETHER = 10_000, 5, 40


@pytest_asyncio.fixture(loop_scope="session", name="cut")
async def second_two_behind_a_proxy(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Twins, Severable]]:
    house = build(tmp_path_factory.mktemp("cut"), EMBEDDER_PROFILE="hashing")
    started = await asyncio.to_thread(house.command, "up", "--detach")
    try:
        assert started.code == 0, (started.result, started.said)
        await asyncio.to_thread(story.revoke, house, "everyone", "read", "**")
        async with (
            severable(house.ports.postgres) as proxy,
            replicas.twins(house, tmp_path_factory.mktemp("second"), proxy.port) as twins,
        ):
            yield twins, proxy
    finally:
        await asyncio.to_thread(house.command, "down")


async def test_replicas_that_are_cut_off_from_the_database_refuse_and_show_nothing_old(
    cut: tuple[Twins, Severable], tell: Tell
) -> None:
    """Fault 12: gateway and retrieval apart from PostgreSQL, for a while."""
    twins, proxy = cut
    page = Page("rights/cut-1.md", "Heron and Cut", "cut")
    author = await twins.brain.join("fay", Role.MEMBER, Tier.ADMIN)
    await twins.brain.grant("fay", Permission.SUGGEST, "**")
    await twins.approve(await twins.write(author, page.path, page.text()))
    readers = {}
    for name in ("staying", "leaving"):
        who = await twins.brain.join(name)
        await twins.brain.grant(name, Permission.READ, "rights/**")
        readers[name] = (await twins.brain.token(who)).secret
        assert [page.shown(seen) for seen in await twins.look(readers[name], page)] == [True, True]
    revoked = api.GrantText(subject="leaving", permission=Permission.READ, scope="rights/**")
    told: Counter[str] = Counter()
    slowest = 0.0

    async def asks(address: str, name: str, until: float) -> None:
        nonlocal slowest
        while time.monotonic() < until:
            begun = time.monotonic()
            seen = await replicas.look(address, readers[name], page)
            slowest = max(slowest, time.monotonic() - begun)
            for answer in seen.all():
                told[f"{name} {answer.status}"] += 1
            assert {answer.status for answer in seen.all()} <= {200, 503}, seen
            if name == "leaving":
                assert not page.leaks(seen)

    with proxy.severed():
        await twins.tell(api.GRANT_REVOKE, revoked)
        until = time.monotonic() + CUT_SECONDS
        async with asyncio.TaskGroup() as group:
            for address in (twins.first, twins.second):
                for name in readers:
                    group.create_task(asks(address, name, until))
    healed = await heals(twins, readers["staying"], page)
    for seen in await twins.look(readers["leaving"], page):
        assert not page.leaks(seen)
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(told.items()))
    tell(f"F12 cut off from PostgreSQL: {counted}; slowest {slowest:.1f} s, healed in {healed:.1f} s")
    assert slowest < REFUSED_SECONDS
    assert healed < HEALED_SECONDS


async def heals(twins: Twins, secret: str, page: Page) -> float:
    """Seconds until everything is answered whole again."""
    begun = time.monotonic()
    async with asyncio.timeout(HEALED_SECONDS):
        while True:
            seen = await twins.look(secret, page)
            if all(answer.status == 200 for each in seen for answer in each.all()):
                assert all(page.shown(each) for each in seen)
                return time.monotonic() - begun


async def test_cancelled_transactions_leave_no_brain_behind(database: Database, tell: Tell) -> None:
    """Fault 19: interleaved transactions of several brains on few connections, some cancelled in the middle."""
    pool = await connect(database.secret("gateway"), "gateway", service="test", largest=4)
    chance = random.Random(19)
    brains = [uuid4() for _ in range(BRAINS)]
    try:
        for brain in brains:
            async with transaction(pool, brain) as db:
                member = "insert into members (brain, id, kind, name, role, tier, active, source_seq)"
                await db.execute(f"{member} values ($1, $1, 'person', 'a', 'member', 'employee', true, 1)", brain)
        finished = cancelled = 0
        for _ in range(TRANSACTIONS // TOGETHER):
            tasks = [asyncio.create_task(_sees_its_own(pool, chance.choice(brains))) for _ in range(TOGETHER)]
            for task in chance.sample(tasks, TOGETHER // 5):
                for _ in range(chance.randrange(6)):
                    await asyncio.sleep(0)
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert [one for one in ended if isinstance(one, Exception)] == []
            cancelled += sum(isinstance(one, asyncio.CancelledError) for one in ended)
            finished += sum(one is None for one in ended)
            async with pool.acquire() as db:
                assert not await db.fetchval("select current_setting('brain.id', true)")
        tell(f"F19 cancelled transactions: {finished} finished, {cancelled} cancelled, no row of another brain")
        assert finished + cancelled == TRANSACTIONS
    finally:
        await pool.close()


async def _sees_its_own(pool: Pool, brain: UUID) -> None:
    async with transaction(pool, brain, readonly=True) as db:
        assert await db.fetchval("select current_setting('brain.id')") == str(brain)
        assert [row["brain"] for row in await db.fetch("select brain from members")] == [brain]
