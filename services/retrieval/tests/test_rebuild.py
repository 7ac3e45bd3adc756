"""A rebuild beside the live index: equal, switched, and reads go on without a new connection."""

import asyncpg
import pytest

from chassis.settings import Secret
from contracts.captures import Acl
from contracts.errors import Refused
from contracts.retrieval_messages import Search
from retrieval.reads.questions import Questions
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval.rebuild import STATEMENTS, Settings, rebuild
from retrieval_world import NOW, World, page_text

CEILING = page_text(
    "Discount ceiling",
    "Account managers may approve up to 12%.[^1]\n\n[^1]: capture:gdrive/msa\n\n## Above\n\nAsk Bob.",
    more="relations: [{verb: governs, to: people/leave.md}]\nfigures: [{name: ceiling, value: 12, unit: '%'}]\n",
)


async def history(world: World) -> None:
    """Pages that come, change, are verified and go; drafts that die; captures whose readers change."""
    await world.everyone_reads()
    bob = await world.member("bob")
    lapsed = await world.grant(bob, "pricing/**")
    await world.promote(
        {"pricing/ceiling.md": CEILING, "people/leave.md": page_text("Leave", "Forty weeks of leave.")}, embed=True
    )
    capture = await world.capture("capture:gdrive/msa", Acl(everyone=True))
    await world.promote({"pricing/ceiling.md": CEILING.replace("12%", "15%")}, embed=True)
    await world.promote(
        {"pricing/gone.md": page_text("Gone", "Soon to be gone.", more="knowledge: verified\n")}, embed=True
    )
    await world.deprecate("pricing/gone.md")
    proposal, body = await world.submit(page_text("Never", "A draft that is rejected."))
    await world.embed({body: page_text("Never", "A draft that is rejected.")})
    _, waiting = await world.submit(page_text("Perhaps", "A draft that waits."))
    await world.embed({waiting: page_text("Perhaps", "A draft that waits.")})
    await world.reject(proposal)
    await world.change_acl(capture, Acl(principals=(bob,)))
    await world.revoke(bob, lapsed)
    await world.caught_up()


def settings(world: World) -> Settings:
    return Settings(
        brain_id=world.brain,
        nats_url=Secret(world.url),
        postgres_dsn=world.database.secret("retrieval_project"),
        migrator_dsn=world.database.secret("migrator"),
        brain_keyring=world.folder / "keyring",
        brain_signers=world.folder / "signers.json",
    )


async def test_a_rebuilt_index_equals_the_live_one_and_takes_its_place(world: World) -> None:
    await history(world)
    searching = Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)
    asked = Search(asker=world.asker(), query="discount ceiling")
    async with world.embedder():
        before = await searching.search(asked)
        outcome = await rebuild(settings(world))
        assert outcome.differs == ()
        assert outcome.switched
        assert outcome.lines["pages"] == 3
        assert outcome.lines["waiting_vectors"] == 1
        assert await searching.search(asked) == before
        await world.promote({"people/new.md": page_text("Newcomer", "Projected into the new index.")})
        await world.caught_up()
        found = await searching.search(Search(asker=world.asker(), query="newcomer"))
    assert found.hits[0].path == "people/new.md"
    again = await rebuild(settings(world))
    assert again.switched, again.differs


async def test_an_index_that_differs_is_named_and_the_old_one_serves_on(world: World) -> None:
    await history(world)
    admin = await asyncpg.connect(world.database.dsn("postgres"))
    await admin.execute("update retrieval.chunks set body = body || ' tampered' where ordinal = 0")
    outcome = await rebuild(settings(world))
    schemas = await admin.fetch("select nspname from pg_namespace where nspname like 'retrieval%'")
    await admin.close()
    assert (outcome.switched, outcome.differs) == (False, ("chunks",))
    assert [row["nspname"] for row in schemas] == ["retrieval"]
    searching = Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)
    found = await searching.search(Search(asker=world.asker(), query="forty weeks"))
    assert found.hits[0].text.endswith("tampered")


async def test_a_second_rebuild_beside_a_running_one_is_refused_and_disturbs_nothing(world: World) -> None:
    await history(world)
    first = await asyncpg.connect(world.database.dsn("migrator"))
    assert await first.fetchval(STATEMENTS.alone, str(world.brain))
    with pytest.raises(Refused) as told:
        await rebuild(settings(world))
    assert told.value.code == "rebuild_runs"
    await first.close()
    assert (await rebuild(settings(world))).switched
