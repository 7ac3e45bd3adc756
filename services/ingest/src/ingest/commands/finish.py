"""The end of an import: what the folder holds no more is withdrawn, and what waits is proposed."""

from collections.abc import Sequence

from chassis import rpc
from chassis.postgres import transaction
from contracts.approvals_messages import LIVE_PAGES, AskLivePages, LivePages
from contracts.content import ContentRef
from contracts.enums import PageAction, Refusal
from contracts.errors import Refused
from contracts.ids import CommandId, derived
from contracts.ingest_messages import FinishImport, Imported, RefusedFile
from corpus import paths
from ingest import proposing, shelf
from ingest.desk import Desk
from ingest.domain import capture
from ingest.shelf import Waiting
from ingest.terms import world

ASKED = 500
"""Paths in one question for live pages."""


class Finish:
    """Serves `finish_import`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def take(self, asked: FinishImport) -> Imported:
        """Propose what the parts of an import left waiting. Sent again it changes nothing and tells the same.

        Raises what `terms.world` raises, what approvals refuses of a whole build, and `Unavailable`: what is done by
        then stands, and the same request goes on from there.
        """
        desk = self._desk
        async with desk.one_import():
            await desk.fresh()
            await world(desk, asked.by, asked.options, ())
            position = await self._withdraw_gone(asked) if asked.sync else 0
            pages = await self._pages(asked)
            refused: list[RefusedFile] = []
            archived = not position or await desk.archived.wait("EVT", position)
            for part in proposing.parts([page for page in pages if page.proposal is None and page.body is not None]):
                proposed = await proposing.propose(desk, asked.by, part)
                position, archived = max(position, proposed.position), archived and proposed.archived
                refused += [
                    _refused(page, proposed.refused[page.capture]) for page in part if page.capture in proposed.refused
                ]
                done = [page for page in part if page.capture not in proposed.refused]
                async with transaction(desk.pool, desk.brain) as db:
                    await shelf.mark_proposed(db, desk.brain, done, proposed.proposal)
            pages = await self._pages(asked)
        builds = dict.fromkeys(page.proposal for page in pages if page.proposal is not None)
        return Imported(
            builds=tuple(builds),
            pages=sum(page.proposal is not None for page in pages),
            withdrawn=sum(page.action is PageAction.DEPRECATE for page in pages),
            position=position or await desk.end(),
            archived=archived,
            refused=tuple(refused),
        )

    async def _pages(self, asked: FinishImport) -> list[Waiting]:
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            return await shelf.pages_of(db, self._desk.brain, asked.import_id)

    async def _withdraw_gone(self, asked: FinishImport) -> int:
        """Withdraw the captures of files that the folder holds no more; their pages wait to be deprecated."""
        desk, source = self._desk, asked.options.source
        async with transaction(desk.pool, desk.brain, readonly=True) as db:
            gone = await shelf.gone(db, desk.brain, source, asked.present)
        if not gone:
            return 0
        places = {name: paths.propose(name) for name in gone}
        live = await self._live(list(places.values()))
        leaving = [
            Waiting(known.capture, PageAction.DEPRECATE, name, places[name], live.get(places[name]))
            for name, known in gone.items()
        ]
        async with transaction(desk.pool, desk.brain) as db:
            await shelf.let_wait(db, desk.brain, source, asked.import_id, leaving)
        facts = [
            fact for known in gone.values() for fact in capture.withdraw(capture.Recorded(known.acl), known.capture)
        ]
        command = CommandId(derived(asked.import_id, "withdraw", *(fact.capture for fact in facts)))
        return await desk.change_sight(command, asked.by, facts, narrowing=True)

    async def _live(self, wanted: Sequence[str]) -> dict[str, ContentRef]:
        found: dict[str, ContentRef] = {}
        for start in range(0, len(wanted), ASKED):
            asked = AskLivePages(paths=tuple(wanted[start : start + ASKED]))
            answer = await rpc.ask(self._desk.nc, LIVE_PAGES, asked, LivePages, seconds=proposing.SECONDS)
            found |= {page.path: page.body for page in answer.pages}
        return found


def _refused(page: Waiting, refused: Refused) -> RefusedFile:
    category = Refusal.FORBIDDEN if refused.code == "forbidden" else Refusal.FRONTMATTER
    return RefusedFile(file=page.external_id, category=category, line=0, detail=refused.what)
