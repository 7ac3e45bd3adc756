"""Canary words go in everywhere that people write, and are found where content belongs and nowhere else."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

import inside
import reading
import story
from contracts.topology import STREAMS
from eventlog.leader import Stored
from houses import House

pytestmark = pytest.mark.system

PAGE = """\
---
title: {title}
category: {category}
domain: {domain}
summary: {summary}
custom-note: {custom}
figures: [{{name: {figure}, value: 12, unit: "%"}}]
---

# {heading}

{sentence} is what this page says.
"""


@dataclass(frozen=True)
class Canaries:
    """One word for each place that a person can write in."""

    words: dict[str, str]

    def __getitem__(self, place: str) -> str:
        return self.words[place]

    def in_(self, text: bytes) -> list[str]:
        """The places whose word stands in `text`."""
        lowered = text.lower()
        return [place for place, word in self.words.items() if word.encode() in lowered]


PLACES = (
    *("title", "category", "domain", "summary", "custom", "figure", "heading", "sentence", "path", "source", "edit"),
    *("member", "scope", "note", "inbox-title", "inbox-body", "query", "missing-path"),
)
STORED = frozenset(PLACES) - {"query", "missing-path"}


@pytest.fixture(scope="module", name="canaries")
async def canaries_that_went_in(house: House, tmp_path_factory: pytest.TempPathFactory) -> Canaries:
    words = Canaries({place: f"kanari{place.replace('-', '')}{uuid4().hex[:12]}" for place in PLACES})
    folder = tmp_path_factory.mktemp("canaries")
    name = f"{words['path']}/page.md"
    story.write(folder, {name: PAGE.format(**words.words)})
    story.publish(house, folder, "--source", words["source"])
    story.write(folder, {name: PAGE.format(**words.words) + f"\nAnd {words['edit']}.\n"})
    (proposal,) = story.proposed(story.take_in(house, folder, "--source", words["source"]))
    rejected = house.command(
        "reject", proposal, "--reason", "other", "--note", f"Not {words['note']}.", "--as", "alice"
    )
    assert rejected.code == 0, rejected.result
    story.join(house, words["member"])
    story.grant(house, words["member"], "read", f"{words['scope']}/**")
    token = reading.token(house, "alice", "admin", "brain:read", "brain:propose")
    async with reading.reader(house, token) as reader:
        text = {"title": f"About {words['inbox-title']}", "body": f"Somebody saw {words['inbox-body']} today."}
        filed = await reader.call("write_inbox", kind="observation", **text)
        assert words["sentence"] in await reader.words("search", query=words["sentence"])
        await reader.words("search", query=words["query"])
        await reader.words("find_page", query=words["query"])
        await reader.words("read_page", path=f"{words['missing-path']}.md")
    assert filed["status"] == "pending"
    async with inside.look(house) as within:
        await within.settled()
    return words


@pytest.mark.parametrize("stream", [stream.name for stream in STREAMS])
async def test_no_message_of_a_stream_holds_a_canary(house: House, canaries: Canaries, stream: str) -> None:
    async with inside.look(house) as within:
        stored = await within.messages(stream)
    assert stored or stream == "PARKED"
    assert [(one.position, canaries.in_(_bytes(one))) for one in stored if canaries.in_(_bytes(one))] == []


async def test_no_row_of_the_archive_holds_a_canary(house: House, canaries: Canaries) -> None:
    async with inside.look(house) as within:
        rows = await within.rows("select position, subject, headers, body from archive.facts where brain = $1")
    assert len(rows) > 10
    texts = {row["position"]: f"{row['subject']} {row['headers']} ".encode() + row["body"] for row in rows}
    assert [(position, canaries.in_(text)) for position, text in texts.items() if canaries.in_(text)] == []


@pytest.mark.parametrize("place", ["nats", "logs", "run"])
async def test_no_file_of_the_bus_or_of_a_log_holds_a_canary(house: House, canaries: Canaries, place: str) -> None:
    found = await asyncio.to_thread(lambda: list(_finds(house.home.root / place, canaries)))
    assert found == []


async def test_no_trace_holds_a_canary(house: House, canaries: Canaries) -> None:
    spans = await asyncio.to_thread(house.traces.read_bytes)
    assert all(f'"service":"{name}"'.encode() in spans for name in ("gateway", "ingest", "approvals"))
    assert canaries.in_(spans) == []


async def test_the_content_store_holds_every_canary(house: House, canaries: Canaries) -> None:
    async with inside.look(house) as within:
        bodies = await within.bodies()
        sealed = await within.rows("select ciphertext from content.bodies where brain = $1")
    assert set(canaries.in_(b"\n".join(bodies))) == STORED
    assert canaries.in_(b"\n".join(row["ciphertext"] for row in sealed)) == []


def _bytes(stored: Stored) -> bytes:
    return f"{stored.subject} {stored.headers} ".encode() + stored.body


def _finds(folder: Path, canaries: Canaries) -> Iterator[tuple[str, list[str]]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        if found := canaries.in_(path.read_bytes()):
            yield path.name, found
