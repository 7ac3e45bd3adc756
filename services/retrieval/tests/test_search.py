"""Search over real projections: words, titles, trust, emptiness."""

from contracts.retrieval_messages import FindPage, ReadPage, Search
from retrieval.reads.finding import Finding
from retrieval.reads.questions import Questions
from retrieval.reads.reading import Reading
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval_world import NOW, World, page_text
from content.store import ContentStore


def searches(world: World) -> Searches:
    return Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)


async def test_a_promoted_page_is_found_by_its_words(world: World) -> None:
    await world.promote({
        "pricing/ceiling.md": page_text("Discount ceiling", "Account managers may approve up to 12% without escalation."),
        "people/leave.md": page_text("Parental leave", "Everyone has forty weeks of leave."),
    })
    await world.caught_up()
    found = await searches(world).search(Search(asker=world.asker(), query="who approves a discount"))
    print(found)
    assert [hit.path for hit in found.hits][:1] == ["pricing/ceiling.md"]
    f = await Finding(Sights(world.nc, world.serve, world.brain), lambda: NOW).find(FindPage(asker=world.asker(), query="parental"))
    print(f)
    r = await Reading(Sights(world.nc, world.serve, world.brain), ContentStore(world.ring), lambda: NOW).read(ReadPage(asker=world.asker(), path="people/leave.md"))
    print(r)
