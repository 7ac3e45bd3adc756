"""What a synced folder holds no more: the captures that its runner may withdraw, and the pages made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from access.rule import PageClass
from chassis import rpc
from chassis.postgres import transaction
from contracts.approvals_messages import LIVE_PAGES, AskLivePages, LivePages
from contracts.content import ContentRef
from contracts.enums import PageAction, Permission, Refusal
from contracts.ids import CaptureId
from contracts.ingest_messages import FinishImport, RefusedFile
from corpus import page, paths
from corpus.errors import Malformed
from ingest import proposing, shelf
from ingest.desk import Desk
from ingest.domain.importing import Known, placed
from ingest.shelf import Runner, Waiting

ASKED = 100
"""Live pages that are asked for, and read, at a time."""


@dataclass(slots=True)
class Departing:
    """Captures to withdraw, their pages to deprecate, and files whose page the runner may not touch, which stay."""

    captures: dict[CaptureId, Known] = field(default_factory=dict)
    pages: list[Waiting] = field(default_factory=list)
    refused: list[RefusedFile] = field(default_factory=list)


async def look(desk: Desk, asked: FinishImport, runner: Runner) -> Departing:
    """Find out before anything is changed. What the runner may not see, captures and pages, is as if it were not there.

    A page whose path a file of the folder still proposes is not deprecated. Raises `Unavailable`.
    """
    present = [paths.one_form(name) for name in asked.present]
    async with transaction(desk.pool, desk.brain, readonly=True) as db:
        gone = await shelf.gone(db, desk.brain, asked.options.source, present, runner.changer)
    kept = {path for name in present if (path := _path(name))}
    places = {name: path for name, _ in gone if (path := _path(name)) and path not in kept}
    live = await _live(desk, runner, list(dict.fromkeys(places.values())))
    leaving = Departing()
    for name, known in gone:
        path = places.get(name, "")
        body, holds = live.get(path, (None, True))
        if not holds:
            what = "You may not suggest to deprecate its page, so its capture stays."
            leaving.refused.append(RefusedFile(file=name, category=Refusal.FORBIDDEN, line=0, detail=what))
            continue
        leaving.captures[known.capture] = known
        leaving.pages.append(Waiting(known.capture, PageAction.DEPRECATE, name, path, body))
        live.pop(path, None)  # one page is deprecated once, however many captures it was made of
    return leaving


def _path(name: str) -> str:
    """The page path that a file of this name proposes, "" where it makes none."""
    try:
        return paths.propose(name)
    except Malformed:
        return ""


async def _live(desk: Desk, runner: Runner, wanted: Sequence[str]) -> dict[str, tuple[ContentRef, bool]]:
    """The live pages at these paths that the runner sees, with whether it may suggest a change of them."""
    found = {}
    for start in range(0, len(wanted), ASKED):
        asked = AskLivePages(paths=tuple(wanted[start : start + ASKED]))
        answer = await rpc.ask(desk.nc, LIVE_PAGES, asked, LivePages, seconds=proposing.SECONDS)
        standing = {page.path: page.body for page in answer.pages}
        for path, of_page in await _classes(desk, standing):
            if runner.holds(Permission.READ, of_page):
                found[path] = (standing[path], runner.holds(Permission.SUGGEST, of_page))
    return found


async def _classes(desk: Desk, standing: Mapping[str, ContentRef]) -> Iterator[tuple[str, PageClass]]:
    async with transaction(desk.pool, desk.brain, readonly=True) as db:
        bodies = await desk.store.get(db, desk.brain, list(standing.values()))
    return ((path, placed(path, page.parse(bodies[ref.id]))) for path, ref in standing.items())
