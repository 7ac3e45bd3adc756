"""Importing a handbook, beside embedding the same chunks with nothing else to do; and rebuilding the index."""

import asyncio
import shutil
import time
from pathlib import Path

from nats.aio.msg import Msg

from bench.table import Line
from bench.world import THREADS, approve_all, brain_id, bus
from contracts.chunks import BodyEmbedded
from contracts.codec import decode
from corpus import chunks, page, paths
from embedder import models
from houses import House


def sample(handbook: Path, folder: Path, most: int) -> tuple[Path, int]:
    """The first `most` pages of a handbook, by path, in a folder of their own; and how many there are."""
    target = folder / "pages"
    for source in sorted(handbook.rglob("*.md"))[:most]:
        copy = target / source.relative_to(handbook)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    return target, sum(1 for _ in target.rglob("*.md"))


def texts(folder: Path) -> list[str]:
    """What the embedder gets to see of these pages."""
    found = []
    for path in sorted(folder.rglob("*.md")):
        defaults = {
            "title": paths.title_of(path.name),
            "type": "topic",
            "owner": "alice",
            "access": "department",
            "sources": ["capture:bench/x"],
        }
        parsed = page.parse(page.compose(page.normalise(path.read_bytes()), defaults))
        found += [chunks.context(parsed.front.title, chunk) for chunk in chunks.chunk(parsed.text)]
    return found


async def importing(house: House, folder: Path, wanted: int) -> tuple[Line, float]:
    """Import, approve nothing, and wait for the last vector. Returns the line and the seconds of the import."""
    embedded, computed, enough = set[str](), 0, asyncio.Event()

    async def heard(message: Msg) -> None:
        nonlocal computed
        fact = decode(0, message.subject, message.data).fact
        if isinstance(fact, BodyEmbedded):
            computed += fact.computed
            embedded.add(message.subject)
            if len(embedded) >= wanted:
                enough.set()

    async with bus(house) as client:
        await client.subscribe(f"chk.{brain_id(house)}.body.*", cb=heard)
        began = time.perf_counter()
        told = await asyncio.to_thread(
            house.command, "import", str(folder), "--owner", "alice", "--as", "alice", seconds=1800
        )
        if told.code or told.result["refused"]:
            raise SystemExit(f"the import did not go through: {told.result}")
        await enough.wait()
        took = time.perf_counter() - began
    contexts = texts(folder)
    model = models.select("multilingual", threads=THREADS)
    model.passages(contexts[:8])
    began = time.perf_counter()
    model.passages(list(dict.fromkeys(contexts)))
    alone = time.perf_counter() - began
    line = Line(
        f"import of {wanted} pages, {len(contexts)} chunks, until the last vector",
        f"{wanted / took:.1f} pages/s",
        f"the embedder alone: {wanted / alone:.1f} pages/s",
        alone / took,
        0.8,
        at_least=True,
    )
    return line, took


async def rebuilding(house: House, took: float) -> Line:
    """Approve what was imported, then rebuild the index beside the old one, vectors kept."""
    await asyncio.to_thread(approve_all, house)
    began = time.perf_counter()
    told = await asyncio.to_thread(house.command, "rebuild", "retrieval", seconds=1800)
    seconds = time.perf_counter() - began
    if told.code:
        raise SystemExit(f"the rebuild did not go through: {told.result}")
    return Line(
        "rebuild of the index beside the old one, vectors kept",
        f"{seconds:.1f} s",
        f"the import: {took:.1f} s",
        seconds / took,
        0.15,
        at_least=False,
    )
