"""Replays: the same facts leave the same index, whether they come once, twice, in one batch, or again after a crash."""

import asyncio
from collections.abc import Sequence

import asyncpg
import msgspec
import pytest

from chassis.postgres import transaction
from contracts.captures import Acl
from contracts.envelope import Recorded
from contracts.errors import Refused
from eventlog import leader
from eventlog.projector import Projection, Projector, read
from retrieval.projections.wiring import projections
from retrieval_world import World, page_text

CEILING = page_text(
    "Discount ceiling",
    "Up to 12% without escalation.[^1]\n\n## Above\n\nAsk Bob.\n\n"
    "## Never\n\nMore than forty.\n\n[^1]: capture:gdrive/msa",
    more="relations: [{verb: governs, to: people/leave.md}]\nfigures: [{name: ceiling, value: 12, unit: '%'}]\n",
)
Fact = Recorded[msgspec.Struct]


async def history(world: World) -> None:
    """Pages that come, change, are verified and go; drafts that die; captures whose readers change."""
    await world.everyone_reads()
    bob = await world.member("bob")
    lapsed = await world.grant(bob, "pricing/**")
    leave = page_text("Leave", "Forty weeks of leave.", more="knowledge: verified\n")
    await world.promote({"pricing/ceiling.md": CEILING, "people/leave.md": leave}, embed=True)
    capture = await world.capture("capture:gdrive/msa", Acl(everyone=True))
    await world.promote({"pricing/ceiling.md": CEILING.replace("12%", "15%")}, embed=True)
    await world.promote({"people/leave.md": leave.replace("Forty", "Fifty")}, embed=True)
    await world.promote({"pricing/gone.md": page_text("Gone", "Soon to be gone.")}, embed=True)
    await world.deprecate("pricing/gone.md")
    proposal, body = await world.submit(page_text("Never", "A draft that is rejected."))
    await world.embed({body: page_text("Never", "A draft that is rejected.")})
    await world.reject(proposal)
    await world.change_acl(capture, Acl(principals=(bob,)))
    await world.revoke(bob, lapsed)
    await world.caught_up()


async def facts(world: World, projection: Projection) -> list[Fact]:
    """What a projection hears, from the first fact on."""
    found = []
    for position in range(1, world.ends[projection.stream] + 1):
        stored = await leader.at(world.nc, projection.stream, position)
        assert stored is not None
        if stored.headers["Brain-Type"] in projection.hears:
            found.append(read(stored, world.verifier))
    return found


async def play(world: World, projection: Projection, recorded: Sequence[Fact]) -> None:
    async with transaction(world.project, world.brain) as db:
        await projection.apply(db, recorded)


async def crash_after(world: World, projection: Projection, recorded: Sequence[Fact]) -> None:
    async with transaction(world.project, world.brain) as db:
        await projection.apply(db, recorded)
        raise ZeroDivisionError


async def empty(world: World) -> None:
    """Forget every row of the index, as before the first fact."""
    admin = await asyncpg.connect(world.database.dsn("postgres"))
    tables = await admin.fetch(
        "select relname from pg_class where relnamespace = 'retrieval'::regnamespace and relkind = 'r'"
        " and relname not in ('migrations', 'checkpoints')"
    )
    await admin.execute("truncate " + ", ".join(f"retrieval.{row['relname']}" for row in tables))
    await admin.close()


async def test_the_same_facts_leave_the_same_index(world: World) -> None:
    await history(world)
    sums = await world.sums()
    everything = [(each, await facts(world, each)) for each in projections(world.ring)]
    for projection, recorded in everything:  # twice
        await play(world, projection, recorded)
    assert await world.sums() == sums
    for order in (everything, everything[::-1]):  # from nothing, in one batch each, whichever stream is first
        await empty(world)
        for projection, recorded in order:
            await play(world, projection, recorded)
        assert await world.sums() == sums
    await empty(world)
    for projection, recorded in everything:  # one fact at a time, then everything again
        for one in recorded:
            await play(world, projection, [one])
        await play(world, projection, recorded)
    assert await world.sums() == sums


async def test_a_crash_between_two_statements_leaves_nothing_of_the_batch(world: World) -> None:
    await history(world)
    sums = await world.sums()
    pages = projections(world.ring)[1]
    await world.promote({"pricing/new.md": page_text("New", "Quite new words.")})
    await world.caught_up()
    grown = await world.sums()
    assert grown != sums
    recorded = await facts(world, pages)
    await empty(world)
    for projection in projections(world.ring):
        if projection.name != pages.name:
            await play(world, projection, await facts(world, projection))
    before = await world.sums()
    with pytest.raises(ZeroDivisionError):
        await crash_after(world, pages, recorded)
    assert await world.sums() == before
    await play(world, pages, recorded)
    assert await world.sums() == grown


async def test_an_edit_keeps_the_passages_that_say_the_same(world: World) -> None:
    await world.promote({"pricing/ceiling.md": CEILING}, embed=True)
    await world.caught_up()
    before = await passages(world)
    await world.promote({"pricing/ceiling.md": CEILING.replace("Ask Bob.", "Ask Carol.")})
    await world.caught_up()
    after = await passages(world)
    assert len(before) == len(after) == 3
    kept = before.items() & after.items()
    assert sorted(body.split()[0] for _, body in kept) == ["More", "Up"]
    async with transaction(world.project, world.brain) as db:
        lacking = await db.fetch("select body from chunks where embedding is null")
    assert [row["body"] for row in lacking] == ["Ask Carol."]


async def passages(world: World) -> dict[int, str]:
    async with transaction(world.project, world.brain) as db:
        return {row["chunk"]: row["body"] for row in await db.fetch("select chunk, body from chunks")}


async def test_a_second_process_does_not_project_beside_the_first(world: World) -> None:
    other = Projector(world.nc, world.project, world.brain, projections(world.ring)[1], world.verifier)
    running = asyncio.create_task(other.run())
    await world.promote({"people/leave.md": page_text("Leave", "Forty weeks.")})
    await world.caught_up()
    assert other.position == 0
    assert other.trouble() == ""
    running.cancel()
    await asyncio.wait([running])
    assert (await world.read("people/leave.md")).text == "Forty weeks.\n"
    with pytest.raises(Refused):
        await world.read("no/such.md")
