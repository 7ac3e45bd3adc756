"""Nearly nine hundred pages of one handbook, in one build: imported, approved, found, and indexed anew meanwhile."""

import asyncio
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

import inside
import reading
import story
from contracts.approvals_messages import ProposedPage
from houses import House, build, running
from shared_data import archive

pytestmark = [pytest.mark.system, pytest.mark.large, pytest.mark.timeout(3600)]

Tell = Callable[[str], None]

LONG_SECONDS = 1800
FIRST = 10
REFUSED = {
    "content/departments/engineering/teams/code-search/batch-changes/go-to-market/server-side/index.md": "path",
    "content/departments/people-talent/talent/tools/resources_for_recruiting_operations.md": "credential",
    "content/departments/product/design/documents_templates/index.md": "empty",
    "content/departments/sales/sales-enablement/contentmanagement.md": "empty",
    "content/departments/technical-success/ce/process/demo-repo-contribution.md": "empty",
}
"""Nine folders deep; a token in an address; no text at all."""


@pytest.fixture(scope="module", name="large")
def brain_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running(build(tmp_path_factory.mktemp("large"))) as large:
        yield large


@pytest.fixture(scope="module", name="pages")
async def handbook_that_was_approved(
    large: House, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ProposedPage, ...]:
    """sourcegraph's handbook, whole."""
    folder = tmp_path_factory.mktemp("handbooks") / "sourcegraph"
    shutil.copytree(archive("handbooks") / "sourcegraph" / "pages", folder)
    begun = time.monotonic()
    done = large.command("import", str(folder), "--owner", "alice", "--as", "alice", seconds=LONG_SECONDS)
    assert done.code == 0, (done.result, done.said)
    imported = time.monotonic() - begun
    refused = done.result["refused"]
    assert isinstance(refused, list)
    assert {one["file"]: one["category"] for one in refused} == REFUSED
    proposals = story.proposed(done.result)
    assert len(proposals) == 1, "one build holds them all"
    async with inside.look(large) as within:
        pages = await within.pages_of(proposals[0], "alice")
        await within.embedded(LONG_SECONDS)
    embedded = time.monotonic() - begun
    assert story.approve(large, proposals[0])["vectors"] is True
    approved = time.monotonic() - begun
    async with inside.look(large) as within:
        await within.settled(LONG_SECONDS)
    indexed = time.monotonic() - begun
    story.LINES.append(
        f"sourcegraph: {done.result['captures']} captures, {len(pages)} pages proposed in {imported:.0f} s,"
        f" embedded after {embedded:.0f} s, approved after {approved:.0f} s,"
        f" in the index after {indexed:.0f} s; {len(refused)} refused"
    )
    return pages


async def test_every_titled_page_is_among_the_first_ten(
    large: House, pages: tuple[ProposedPage, ...], tell: Tell
) -> None:
    """Where more pages share a title than there are places, each hit has to be one of them."""
    by_title: defaultdict[str, set[str]] = defaultdict(set)
    for page in pages:
        by_title[page.title].add(page.path)
    misses, shared = [], []
    async with reading.reader(large, reading.token(large, "alice", "admin")) as reader:
        for title, paths in by_title.items():
            if len(title) < 2:
                continue
            found = set(await reader.paths(title, FIRST))
            if len(paths) > FIRST:
                shared.append(f"{title!r} ({len(paths)} pages)")
                assert found <= paths
            elif missing := paths - found:
                misses.append(f"{title!r}: {sorted(missing)}")
    titled = sum(len(paths) for paths in by_title.values())
    tell(f"sourcegraph: {titled - len(misses)} of {titled} pages found by title; titles of more than ten: {shared}")
    for miss in misses:
        tell(f"  missed {miss}")
    assert misses == []


async def test_the_index_is_built_anew_while_the_old_one_answers(
    large: House, pages: tuple[ProposedPage, ...], tell: Tell
) -> None:
    token = reading.token(large, "alice", "admin")
    asked = [page.title for page in pages[:: max(1, len(pages) // 25)]]
    async with reading.reader(large, token) as reader:
        before = [await reader.search(title) for title in asked]
        rebuilding = asyncio.create_task(asyncio.to_thread(large.command, "rebuild", "retrieval", seconds=LONG_SECONDS))
        slowest, answered = 0.0, 0
        while not rebuilding.done():
            begun = time.monotonic()
            number = answered % len(asked)
            assert await reader.search(asked[number]) == before[number]
            slowest, answered = max(slowest, time.monotonic() - begun), answered + 1
        done = await rebuilding
        assert done.code == 0, done.result
        assert (done.result["switched"], done.result["differs"]) == (True, [])
        assert [await reader.search(title) for title in asked] == before
    tell(
        f"sourcegraph: index built anew in {done.result['seconds']} s, {done.result['lines']};"
        f" {answered} searches meanwhile, slowest {slowest:.2f} s"
    )
    assert answered > 10
