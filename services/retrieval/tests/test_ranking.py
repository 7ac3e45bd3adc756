"""Ranking, on handbooks that nobody here wrote."""

import time
from pathlib import Path

import pytest

from content.store import scan
from contracts.retrieval_messages import Search
from corpus import page
from corpus.errors import Malformed
from corpus.paths import propose_all
from retrieval.domain.texts import title_key
from retrieval.reads.questions import Questions
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval_world import NOW, World
from shared_data import archive

SUFFIXES = (".md", ".mdx", ".erb")


def handbook(name: str) -> dict[str, str]:
    """Every file of a handbook that makes a page, as the importer would compose it, by path."""
    folder = archive("handbooks") / name
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES}
    accepted, _ = propose_all(list(files))
    found = {}
    for file, path in accepted.items():
        defaults = {"type": "topic", "title": Path(file).stem, "owner": "alice", "access": "public"}
        try:
            composed = page.compose(files[file].read_bytes(), defaults)
        except Malformed:
            continue
        if not scan(composed):
            found[path] = composed.decode()
    return found


async def misplaced(world: World, pages: dict[str, str]) -> list[str]:
    """The pages that are not among the first ten hits for their own title."""
    searching = Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)
    titles: dict[str, list[str]] = {}
    for path, text in pages.items():
        titles.setdefault(page.parse(text.encode()).front.title, []).append(path)
    missing = []
    for title, paths in titles.items():
        if len(title) < 2:
            continue
        found = await searching.search(Search(asker=world.asker(), query=title))
        first = {hit.path for hit in found.hits[:10]}
        missing += [f"{path}: {title}" for path in paths if path not in first]
    return missing


@pytest.mark.parametrize("name", ["gds-way", "variant-no", "sourcegraph"])
async def test_a_page_is_among_the_first_ten_hits_for_its_title(world: World, name: str) -> None:
    pages = handbook(name)
    print(name, len(pages))
    t = time.perf_counter()
    await world.promote(pages)
    print("said", time.perf_counter() - t)
    t = time.perf_counter()
    await world.caught_up()
    print("projected", time.perf_counter() - t)
    t = time.perf_counter()
    missing = await misplaced(world, pages)
    print("searched", time.perf_counter() - t, (time.perf_counter() - t) / len(pages))
    print(missing)
