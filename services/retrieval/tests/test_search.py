"""Search: by words, by meaning, both; titles, trust, and what stands for nothing."""

from datetime import timedelta

import pytest

from chassis.postgres import transaction
from contracts.errors import Unavailable
from contracts.ids import ContentId
from retrieval_world import World, page_text

CEILING = page_text(
    "Discount ceiling",
    "Account managers may approve up to 12% without escalation.",
    more="knowledge: verified\nreview_after: P90D\n",
)
LEAVE = page_text("Parental leave", "Everyone has forty weeks of leave, whoever they are.")


async def two_pages(world: World, *, embed: bool = False) -> None:
    await world.promote({"pricing/ceiling.md": CEILING, "people/leave.md": LEAVE}, embed=embed)
    await world.caught_up()


async def test_a_page_is_found_by_its_words_and_says_what_it_stands_on(world: World) -> None:
    await two_pages(world)
    found = await world.search("how much may account managers approve")
    (hit,) = found.hits
    assert (hit.path, hit.title, hit.trust, found.trust, found.empty) == (
        "pricing/ceiling.md", "Discount ceiling", "canon_verified", "canon_verified", "",
    )  # fmt: skip
    assert hit.text == "Account managers may approve up to 12% without escalation."
    assert (hit.receipt.revision, hit.receipt.approver, len(hit.receipt.digest)) == (1, "alice", 64)
    assert found.position == world.ends["EVT"]


async def test_without_an_embedder_words_answer_and_say_so(world: World) -> None:
    await two_pages(world, embed=True)
    found = await world.search("forty weeks")
    assert (found.hits[0].path, found.degraded) == ("people/leave.md", ("vectors",))


async def test_meaning_finds_what_words_cannot(world: World) -> None:
    await two_pages(world, embed=True)
    assert (await world.search("they are")).empty == "no_match"  # nothing but stop words
    async with world.embedder():
        found = await world.search("they are")
    assert (found.hits[0].path, found.degraded) == ("people/leave.md", ())


async def test_a_page_that_landed_without_vectors_is_found_by_words_and_gets_them_later(world: World) -> None:
    await two_pages(world)
    async with world.embedder():
        assert (await world.search("forty weeks")).degraded == ("vectors",)
        await world.embed(dict(await live_bodies(world)))
        await world.caught_up()
        found = await world.search("forty weeks")
    assert (found.hits[0].path, found.degraded) == ("people/leave.md", ())


async def live_bodies(world: World) -> list[tuple[ContentId, str]]:
    texts = {"pricing/ceiling.md": CEILING, "people/leave.md": LEAVE}
    async with transaction(world.project, world.brain) as db:
        return [(row["body"], texts[row["path"]]) for row in await db.fetch("select body, path from pages")]


async def test_a_page_whose_title_is_the_query_comes_first(world: World) -> None:
    others = {f"noise/{n}.md": page_text(f"Noise {n}", "leave policy " * 20) for n in range(15)}
    titled = {"people/policy.md": page_text("Leave Policy", "Weeks and days.")}
    await world.promote({**others, **titled}, embed=True)
    await world.caught_up()
    async with world.embedder():
        found = await world.search("  leave   POLICY ")
    assert found.hits[0].path == "people/policy.md"


async def test_one_page_has_at_most_two_of_the_first_ten_hits(world: World) -> None:
    long = "\n\n".join(f"## Part {n}\n\nThe ceiling of discounts, part {n}." for n in range(30))
    await world.promote({
        "a/long.md": page_text("Long", long),
        **{f"b/{n}.md": page_text(f"Short {n}", f"A ceiling, {n} and more words around it.") for n in range(9)},
    })  # fmt: skip
    await world.caught_up()
    ten, twenty = await world.search("ceiling discounts"), await world.search("ceiling discounts", limit=20)
    assert [hit.path for hit in ten.hits].count("a/long.md") == 2
    assert len(ten.hits) == 10
    assert twenty.hits[:10] == ten.hits
    assert [hit.path for hit in twenty.hits[10:]].count("a/long.md") >= 9


async def test_norwegian_is_stemmed_as_norwegian(world: World) -> None:
    text = "Bedriftens ansatte diskuterte prosjektene og beslutningene som er tatt av ledelsen, og det er ikke lett."
    await world.promote({"no/moter.md": page_text("Møter", text)})
    await world.caught_up()
    assert [hit.path for hit in (await world.search("beslutning")).hits] == ["no/moter.md"]


async def test_trust_ends_with_the_review_window(world: World) -> None:
    await two_pages(world)
    world.now += timedelta(days=89)
    assert (await world.search("account managers")).trust == "canon_verified"
    world.now += timedelta(days=1)
    assert (await world.search("account managers")).trust == "canon_stale"
    assert (await world.read("pricing/ceiling.md")).trust == "canon_stale"


async def test_an_edit_replaces_what_is_found(world: World) -> None:
    await two_pages(world, embed=True)
    await world.promote({"pricing/ceiling.md": CEILING.replace("12%", "fifteen")}, embed=True)
    await world.caught_up()
    found = await world.search("account managers approve fifteen")
    assert [(hit.receipt.revision, "fifteen" in hit.text) for hit in found.hits] == [(2, True)]
    await world.deprecate("pricing/ceiling.md")
    await world.caught_up()
    assert (await world.search("account managers approve")).empty == "no_match"
    assert (await world.find("discount ceiling")).empty == "no_match"


async def test_nothing_governed_is_an_answer(world: World) -> None:
    await two_pages(world)
    found = await world.search("quarks")
    assert (found.hits, found.trust, found.empty) == ((), "no_coverage", "no_match")


async def test_pages_are_found_by_path_title_and_words_of_either(world: World) -> None:
    await two_pages(world)
    for query in ("people/leave.md", "parental leave", "PARENTAL", "parent", "leaves for parental reasons"):
        found = await world.find(query)
        assert [page.path for page in found.pages][:1] == ["people/leave.md"], query
    assert (await world.find("nothing like it")).empty == "no_match"


async def test_an_answer_is_never_older_than_the_position_asked_for(world: World) -> None:
    await two_pages(world)
    assert (await world.search("leave", position=world.ends["EVT"])).hits
    with pytest.raises(Unavailable):
        await world.search("leave", position=world.ends["EVT"] + 1)


async def test_an_answer_without_the_askers_own_last_write_says_that_the_index_is_behind(world: World) -> None:
    await two_pages(world)
    ahead = world.ends["EVT"] + 1
    found = await world.search("leave", own=ahead)
    assert found.hits
    assert "index_behind" in found.degraded
    assert (await world.search("quarks", own=ahead)).empty == "index_behind"
    assert (await world.find("nothing like it", own=ahead)).empty == "index_behind"
    assert (await world.read("people/leave.md", own=ahead)).path == "people/leave.md"
    with pytest.raises(Unavailable):
        await world.read("people/none.md", own=ahead)


async def test_an_asker_whose_rights_are_not_yet_known_gets_no_answer(world: World) -> None:
    await two_pages(world)
    with pytest.raises(Unavailable):
        await world.search("leave", rights=world.ends["EVT"] + 1)


HOSTILE = (
    "the of and", "!!! ??? ...", "a & b | !c <-> 'd':*", "'; drop table pages; --", "\\\\", "%_%", "$1 {0} %s",
    "a\x00\x1bb\u202ec", "\U0001f600 \u0301\u0301", "x" * 2000, "pris " * 400, "\ud800 lone", "NULL", "select",
    '"quoted phrase" -minus +plus',
)  # fmt: skip


async def test_a_hostile_query_is_only_a_query(world: World) -> None:
    await two_pages(world, embed=True)
    async with world.embedder():
        for query in HOSTILE:
            assert (await world.search(query)).position == world.ends["EVT"], query
            assert (await world.find(query)).position == world.ends["EVT"], query
    assert len((await world.search("account managers")).hits) == 1
