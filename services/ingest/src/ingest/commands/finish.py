"""The end of an import: what waits is proposed, and what the folder holds no more is withdrawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chassis.postgres import transaction
from contracts.enums import PageAction, Refusal
from contracts.errors import Refused
from contracts.ids import CaptureId, CommandId, derived
from contracts.ingest_messages import FinishImport, Imported, RefusedFile
from ingest import departing, proposing, shelf
from ingest.departing import Departing
from ingest.desk import Desk
from ingest.domain import capture
from ingest.shelf import Waiting
from ingest.terms import world


@dataclass(slots=True)
class _Done:
    """How far the end has come. `stays`: captures whose pages may not be deprecated, which are not withdrawn."""

    position: int = 0
    archived: bool = True
    refused: list[RefusedFile] = field(default_factory=list)
    stays: set[CaptureId] = field(default_factory=set)


class Finish:
    """Serves `finish_import`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def take(self, asked: FinishImport) -> Imported:
        """Propose what the parts of an import left waiting. Sent again it changes nothing and tells the same.

        A capture is withdrawn last, when the proposal to deprecate its page stands: where that is refused, both stay.
        Raises what `terms.world` raises, what approvals refuses of a whole build, and `Unavailable`: what is done by
        then stands, and the same request goes on from there.
        """
        desk, done = self._desk, _Done()
        async with desk.one_import():
            await desk.fresh()
            around = await world(desk, asked.by, asked.options, ())
            leaving = await departing.look(desk, asked, around.runner) if asked.sync else Departing()
            done.refused += leaving.refused
            async with transaction(desk.pool, desk.brain) as db:
                await shelf.let_wait(db, desk.brain, asked.by, asked.options.source, asked.import_id, leaving.pages)
            waiting = [page for page in await self._pages(asked) if page.proposal is None and page.body is not None]
            for part in proposing.parts(waiting):
                await self._propose(asked, part, done)
            await self._withdraw(asked, leaving, done)
            pages = await self._pages(asked)
        builds = dict.fromkeys(page.proposal for page in pages if page.proposal is not None)
        return Imported(
            builds=tuple(builds),
            pages=sum(page.proposal is not None for page in pages),
            withdrawn=sum(page.action is PageAction.DEPRECATE for page in pages),
            position=done.position or await desk.end(),
            archived=done.archived,
            refused=tuple(done.refused),
        )

    async def _pages(self, asked: FinishImport) -> list[Waiting]:
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            return await shelf.pages_of(db, self._desk.brain, asked.by, asked.import_id)

    async def _propose(self, asked: FinishImport, part: Sequence[Waiting], done: _Done) -> None:
        desk = self._desk
        proposed = await proposing.propose(desk, asked.by, part)
        done.position, done.archived = max(done.position, proposed.position), done.archived and proposed.archived
        refused = [page for page in part if page.capture in proposed.refused]
        done.refused += [_refused(page, proposed.refused[page.capture]) for page in refused]
        staying = [page for page in refused if page.action is PageAction.DEPRECATE]
        done.stays |= {page.capture for page in staying}
        async with transaction(desk.pool, desk.brain) as db:
            await shelf.mark_proposed(db, desk.brain, [page for page in part if page not in refused], proposed.proposal)
            await shelf.mark_proposed(db, desk.brain, staying, None)

    async def _withdraw(self, asked: FinishImport, leaving: Departing, done: _Done) -> None:
        """Withdraw the captures of files that the folder holds no more."""
        facts = [
            fact
            for id_, known in leaving.captures.items()
            if id_ not in done.stays
            for fact in capture.withdraw(capture.Recorded(known.acl), id_)
        ]
        if not facts:
            return
        command = CommandId(derived(asked.import_id, asked.by, "withdraw", *(fact.capture for fact in facts)))
        position = await self._desk.change_sight(command, asked.by, facts, narrowing=True)
        done.position = max(done.position, position)
        done.archived = await self._desk.archived.wait("EVT", position) and done.archived


def _refused(page: Waiting, refused: Refused) -> RefusedFile:
    category = Refusal.FORBIDDEN if refused.code == "forbidden" else Refusal.FRONTMATTER
    return RefusedFile(file=page.external_id, category=category, line=0, detail=refused.what)
