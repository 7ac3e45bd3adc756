"""The main job: a handbook that nobody here wrote goes in, is approved by a person, and is answered with receipts."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

import inside
import reading
import story
from contracts.approvals_messages import ProposedPage
from contracts.chunks import BodyEmbedded
from contracts.content import ContentRef
from contracts.envelope import Envelope
from contracts.ids import ContentId
from houses import House
from shared_data import archive

pytestmark = pytest.mark.system

REFUSED = {"gds-way": {}, "variant-no": {"README.md": ("credential", 38)}}
SUFFIXES = (".md", ".mdx", ".erb")


@dataclass
class Handbook:
    """A handbook in a brain: its folder here, what the first import told, and its pages as they were proposed.

    `live`: revisions by path, right after the approval.
    """

    name: str
    folder: Path
    told: dict[str, object]
    pages: tuple[ProposedPage, ...] = ()
    approved: dict[str, object] = field(default_factory=dict)
    live: dict[str, int] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """Every Markdown file of it."""
        found = (path for path in self.folder.rglob("*") if path.is_file() and path.suffix in SUFFIXES)
        return sorted(path.relative_to(self.folder).as_posix() for path in found)


@pytest.fixture(scope="module", params=["gds-way", "variant-no"], name="handbook")
async def imported_handbook(
    request: pytest.FixtureRequest, house: House, tmp_path_factory: pytest.TempPathFactory
) -> Handbook:
    """Imported and approved by alice, from a copy that may be edited."""
    name = str(request.param)
    folder = tmp_path_factory.mktemp("handbooks") / name
    shutil.copytree(archive("handbooks") / name / "pages", folder)
    handbook = Handbook(name, folder, story.take_in(house, folder))
    (build,) = story.proposed(handbook.told)
    async with inside.look(house) as within:
        handbook.pages = await within.pages_of(build, "alice")
    handbook.approved = story.approve(house, build)
    async with inside.look(house) as within:
        rows = await within.rows("select path, revision from approvals.pages where brain = $1 and live")
    handbook.live = {str(row["path"]): int(row["revision"]) for row in rows}
    return handbook


@pytest.fixture(scope="module", name="alice")
def token_of_alice(house: House) -> str:
    return reading.token(house, "alice", "admin")


@pytest.fixture(scope="module", name="mallory")
def token_of_somebody_without_grants(house: House) -> Iterator[str]:
    story.join(house, "mallory")
    with story.nobody_reads_by_default(house):
        yield reading.token(house, "mallory")
    assert house.command("member", "remove", "mallory", "--as", "alice").code == 0


def test_every_file_that_was_not_refused_is_a_live_page(handbook: Handbook) -> None:
    refused = handbook.told["refused"]
    assert isinstance(refused, list)
    assert {one["file"]: (one["category"], one["line"]) for one in refused} == REFUSED[handbook.name]
    accepted = len(handbook.files) - len(refused)
    assert (handbook.told["captures"], handbook.told["pages"]) == (accepted, accepted)
    assert handbook.approved["archived"] is True
    assert [page.path for page in handbook.pages if handbook.live.get(page.path) != 1] == []
    assert len(handbook.pages) == accepted


async def test_every_page_is_among_the_first_ten_hits_for_its_title(
    house: House, handbook: Handbook, alice: str, tell: Callable[[str], None]
) -> None:
    misses = []
    async with reading.reader(house, alice) as reader:
        for page in handbook.pages:
            found = await reader.paths(page.title)
            if page.path not in found:
                misses.append(f"{page.path}: {page.title!r} -> {found}")
    tell(f"{handbook.name}: {len(handbook.pages) - len(misses)} of {len(handbook.pages)} pages found by title")
    assert misses == []


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_a_receipt_says_what_an_answer_stands_on(house: House, handbook: Handbook, alice: str, mode: str) -> None:
    page = handbook.pages[len(handbook.pages) // 2]
    async with reading.reader(house, alice, mode) as reader:
        hit = next(one for one in await reader.search(page.title) if one["path"] == page.path)
        read = await reader.page(page.path)
    async with inside.look(house) as within:
        end = await within.position()
        (row,) = await within.rows(
            "select page, body_id, body_commitment from approvals.pages where brain = $1 and path = $2 and live",
            page.path,
        )
        body = await within.body(ContentRef(ContentId(row["body_id"]), row["body_commitment"]))
    for said in (reading.receipt(hit), reading.receipt(read)):
        assert (said["page"], said["revision"], said["approver"]) == (str(row["page"]), 1, "alice")
        assert said["digest"] == hashlib.sha256(body).hexdigest() == page.digest
        assert isinstance(said["position"], int)
        assert 0 < said["position"] <= end


async def test_a_second_import_changes_nothing(house: House, handbook: Handbook) -> None:
    async with inside.look(house) as within:
        before = {stream: await within.position(stream) for stream in ("EVT", "CAP")}
        open_before = story.waiting(house)
        told = story.take_in(house, handbook.folder)
        assert (told["captures"], told["pages"], told["builds"]) == (0, 0, [])
        assert told["unchanged"] == handbook.told["captures"]
        assert told["refused"] == handbook.told["refused"]
        assert {stream: await within.position(stream) for stream in ("EVT", "CAP")} == before
        assert story.waiting(house) == open_before


async def test_one_edited_file_is_one_proposal_and_embeds_only_what_changed(
    house: House, handbook: Handbook, alice: str, tell: Callable[[str], None]
) -> None:
    page = max(handbook.pages, key=lambda one: one.path)
    (name,) = [file for file in handbook.files if _proposes(file, page.path)]
    edited = handbook.folder / name
    sentence = f"Zephyrine pangolins audit the {handbook.name} ledger every second Thursday."
    edited.write_text(f"{edited.read_text()}\n## Pangolin audits\n\n{sentence}\n")
    async with inside.look(house) as within:
        await within.embedded()
        start = await within.position("CHK")
        told = story.take_in(house, handbook.folder)
        assert (told["captures"], told["pages"]) == (1, 1)
        (proposal,) = story.proposed(told)
        line = story.waiting(house)[proposal]
        assert (line["kind"], line["path"], line["base"], line["origin"]) == ("page", page.path, 1, "import")
        async with reading.reader(house, alice) as reader:
            assert sentence not in await reader.words("search", query=sentence)
            story.approve(house, proposal)
            await within.embedded()
            await within.settled()
            said = [_embedded(stored.body) for stored in await within.messages("CHK", start)]
            (row,) = await within.rows(
                "select body_id from approvals.pages where brain = $1 and path = $2 and live", page.path
            )
            of_edit = [one for one in said if one.body == row["body_id"]]
            computed, chunks = sum(one.computed for one in of_edit), sum(len(one.chunks) for one in of_edit)
            tell(f"{handbook.name}: {computed} of {chunks} passages of {page.path} embedded anew")
            assert 1 <= computed <= 2
            hit = next(one for one in await reader.search(sentence) if one["path"] == page.path)
            assert sentence in str(hit["text"])
            assert reading.receipt(hit)["revision"] == 2
            read = await reader.page(page.path)
            assert reading.receipt(read)["revision"] == 2
            assert sentence in str(read["text"])


async def test_a_stranger_gets_nothing_not_even_a_count(
    house: House, handbook: Handbook, alice: str, mallory: str
) -> None:
    page = handbook.pages[0]
    async with reading.reader(house, mallory) as stranger, reading.reader(house, alice) as friend:
        assert page.path in await friend.paths(page.title)
        for tool in ("search", "find_page"):
            told = await stranger.call(tool, query=page.title)
            told = {key: value for key, value in told.items() if key not in {"position", "degraded"}}
            nothing: dict[str, object] = {"empty": "nothing_granted"}
            assert told in (nothing | {"hits": [], "trust": "no_coverage"}, nothing | {"pages": []})
            said = await stranger.words(tool, query=page.title)
            assert page.path not in said
            assert page.title not in said
        existing = await stranger.words("read_page", path=page.path)
        missing = await stranger.words("read_page", path="no/such/page-at-all.md")
        assert _without_ids(existing, page.path) == _without_ids(missing, "no/such/page-at-all.md")


async def test_a_revocation_counts_on_the_next_request(house: House, handbook: Handbook, mallory: str) -> None:
    page = handbook.pages[0]
    async with inside.look(house) as within, reading.reader(house, mallory) as reader:
        for _ in range(3):
            story.grant(house, "mallory", "read", page.path)
            await within.settled()  # what widens sight may take a moment; what narrows it may not
            assert page.path in await reader.paths(page.title)
            assert (await reader.page(page.path))["title"] == page.title
            story.revoke(house, "mallory", "read", page.path)
            told = await reader.words("search", query=page.title)
            assert page.path not in told
            assert "nothing_granted" in told


async def test_what_is_for_others_is_not_there(house: House, tmp_path: Path) -> None:
    """A page for hr is not there for an employee, nor a restricted one for who has no grant that names it."""
    secret, named = "hr-story/salaries.md", "hr-story/merger.md"
    folder = story.write(
        tmp_path / "hr-story",
        {
            secret: "---\ntitle: Quokka salary bands\naccess: hr\n---\n\nQuokka salary bands start at ninety.\n",
            named: "---\ntitle: Quokka merger plan\nsensitivity: restricted\n---\n\nThe quokka merger closes in May.\n",
        },
    )
    story.grant(house, "alice", "approve", named)
    story.publish(house, folder)
    story.join(house, "hr-hanna", tier="admin")
    story.grant(house, "hr-hanna", "read", "**")
    employee, hanna = reading.token(house, "hr-hanna", "employee"), reading.token(house, "hr-hanna", "admin")
    async with inside.look(house) as within:
        await within.settled()
    async with reading.reader(house, employee) as below, reading.reader(house, hanna) as above:
        assert secret in await above.paths("Quokka salary bands")
        for reader, path, query in (
            (below, secret, "Quokka salary bands"),
            (below, named, "Quokka merger plan"),
            (above, named, "Quokka merger plan"),
        ):
            told = await reader.words("search", query=query)
            assert path not in told
            assert query not in told
            existing = await reader.words("read_page", path=path)
            missing = await reader.words("read_page", path="no/such/page.md")
            assert _without_ids(existing, path) == _without_ids(missing, "no/such/page.md")
        story.grant(house, "hr-hanna", "read", named)
        async with inside.look(house) as within:
            await within.settled()
        assert named in await above.paths("Quokka merger plan")
    assert house.command("member", "remove", "hr-hanna", "--as", "alice").code == 0


def _proposes(file: str, path: str) -> bool:
    stem = re.sub(r"(\.html)?(\.md)?\.(md|mdx|erb)$", "", file.lower())
    return "/".join(re.sub(r"[^a-z0-9]+", "-", part).strip("-") for part in stem.split("/")) + ".md" == path


def _embedded(body: bytes) -> BodyEmbedded:
    return msgspec.json.decode(msgspec.json.decode(body, type=Envelope).data, type=BodyEmbedded)


def _without_ids(said: str, path: str) -> object:
    """An answer with what may differ taken out: the path that was asked for, and positions."""
    return json.loads(re.sub(r"\d{2,}", "0", said.replace(path, "PATH")))
