"""What pages say is open, and the domains that a question asks for: never more than the caller sees."""

import pytest

from contracts.ids import node_id
from contracts.retrieval_messages import AllContested, FindContested, Search
from retrieval.reads.contested import Contentions
from retrieval.reads.questions import Questions
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval_world import NOW, World, page_text

WORD = "quolloquoll"


def relation(to: str, verb: str, knowledge: str = "verified") -> str:
    return f'relations: [{{to: "{to}", verb: "{verb}", knowledge: {knowledge}}}]\n'


async def handbook(world: World) -> None:
    await world.promote(
        {
            "open/ceiling.md": page_text("Ceiling", WORD, more="domain: pricing\n"),
            "open/floor.md": page_text("Floor", WORD, more="knowledge: unresolved\ndomain: pricing\n"),
            "open/msa.md": page_text(
                "MSA", WORD, more="domain: legal\n" + relation("open/ceiling.md", "needs clarification with")
            ),
            "open/term.md": page_text("Term", WORD, more=relation("open/msa.md", "supports", "unresolved")),
            "open/hush.md": page_text(
                "Hush",
                WORD,
                access="hr",
                more="knowledge: unresolved\n" + relation("open/msa.md", "uses", "unresolved"),
            ),
            "open/leak.md": page_text("Leak", WORD, more=relation("open/hush.md", "needs clarification with")),
        }
    )


async def contested(
    world: World, pages: tuple[str, ...] = (), *, domains: tuple[str, ...] = (), limit: int = 50
) -> AllContested:
    await world.caught_up()
    concerned = tuple(world.live[path][0] for path in pages)
    asked = FindContested(asker=world.asker(), pages=concerned, limit=limit, domains=domains)
    return await Contentions(Sights(world.nc, world.serve, world.brain)).find(asked)


async def test_open_questions_are_listed_by_path_and_a_hidden_end_hides_the_relation(world: World) -> None:
    await handbook(world)
    await world.everyone_reads()
    dave = await world.member("dave")
    await world.caught_up()
    asked = FindContested(asker=world.asker(dave))
    found = await Contentions(Sights(world.nc, world.serve, world.brain)).find(asked)
    assert [(each.path, each.reason, each.other) for each in found.contested] == [
        ("open/floor.md", "page_unresolved", ""),
        ("open/msa.md", "needs_clarification", "open/ceiling.md"),
        ("open/term.md", "relation_unresolved", "open/msa.md"),
    ]
    assert found.contested[1].other_id == node_id(world.live["open/ceiling.md"][0])
    assert (found.more, found.empty) == (False, "")
    assert "Hush" not in repr(found)


async def test_what_is_asked_about_some_pages_or_a_domain_is_no_more_than_that(world: World) -> None:
    await handbook(world)
    await world.everyone_reads()
    about = await contested(world, ("open/ceiling.md",))
    assert [each.path for each in about.contested] == ["open/msa.md"]
    of_pricing = await contested(world, domains=("pricing",))
    assert [each.path for each in of_pricing.contested] == ["open/floor.md"]
    one = await contested(world, limit=1)
    assert (len(one.contested), one.more) == (1, True)


async def test_without_a_grant_nothing_is_open_and_it_says_why(world: World) -> None:
    await handbook(world)
    mallory = await world.member("mallory-of-questions")
    await world.caught_up()
    asked = FindContested(asker=world.asker(mallory))
    found = await Contentions(Sights(world.nc, world.serve, world.brain)).find(asked)
    assert (found.contested, found.more) == ((), False)


@pytest.mark.parametrize(("domains", "paths"), [(("legal",), {"open/msa.md"}), (("nowhere",), set())])
async def test_a_search_of_domains_finds_pages_of_these_alone(
    world: World, domains: tuple[str, ...], paths: set[str]
) -> None:
    await handbook(world)
    await world.everyone_reads()
    await world.caught_up()
    searching = Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)
    found = await searching.search(Search(asker=world.asker(), query=WORD, domains=domains))
    assert {hit.path for hit in found.hits} == paths
