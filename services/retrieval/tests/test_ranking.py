"""Ranking and speed, on handbooks that nobody here wrote."""

import time
from pathlib import Path

import pytest

from content.store import scan
from corpus import page
from corpus.errors import Malformed
from corpus.paths import propose_all
from retrieval_world import World
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
    titles: dict[str, list[str]] = {}
    for path, text in pages.items():
        titles.setdefault(page.parse(text.encode()).front.title, []).append(path)
    missing = []
    for title, paths in titles.items():
        first = {hit.path for hit in (await world.search(title)).hits}
        missing += [f"{path}: {title}" for path in paths if path not in first]
    return missing


@pytest.mark.parametrize("name", ["gds-way", "variant-no"])
async def test_a_page_is_among_the_first_ten_hits_for_its_title(world: World, name: str) -> None:
    pages = handbook(name)
    await world.promote(pages, embed=True)
    await world.caught_up()
    assert await misplaced(world, pages) == []
    async with world.embedder():
        assert await misplaced(world, pages) == []


@pytest.mark.large
@pytest.mark.timeout(900)
async def test_nine_hundred_pages_are_indexed_in_well_under_a_minute(world: World) -> None:
    pages = handbook("sourcegraph")
    begun = time.monotonic()
    await world.promote(pages)
    await world.caught_up()
    took = time.monotonic() - begun
    assert (await world.sums())["pages"][0] == len(pages)
    assert took < 60
    assert await misplaced(world, pages) == []
