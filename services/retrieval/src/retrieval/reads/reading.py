"""Read: one page as its reader may see it."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime

from chassis import sql
from content.errors import ContentMissing
from content.store import ContentStore
from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, Reach
from contracts.errors import Refused, Unavailable
from contracts.ids import ContentId, node_id, parse_node_id
from contracts.retrieval_messages import FigureView, PageView, ReadPage, Receipt, RelationView
from corpus import page, references
from corpus.statements import withhold
from retrieval.domain import trust
from retrieval.reads.sight import Sight, Sights

STATEMENTS = sql.load("retrieval.reads", "pages.sql")


def no_such_page() -> Refused:
    """The one answer for a page that does not exist and for one that the caller may not see."""
    return Refused("no_such_page", "There is no page here that you can see.", "path", "Find it with find_page.")


class Reading:
    """Answers `ask.retrieval.read_page`."""

    def __init__(self, sights: Sights, store: ContentStore, clock: Callable[[], datetime]) -> None:
        self._sights = sights
        self._store = store
        self._clock = clock

    async def read(self, asked: ReadPage) -> PageView:
        """The live page at a path or of a node id. Raises `Refused` (no_such_page)."""
        async with self._sights.of(asked) as sight:
            row = await sight.db.fetchrow(
                STATEMENTS.page_at, asked.path.replace("\0", ""), parse_node_id(asked.path), *sight.rule
            )
            if row is None and sight.behind:
                raise Unavailable("the index has not yet read what you wrote last")
            if row is None:
                raise no_such_page()
            ref = ContentRef(ContentId(row["body"]), row["commitment"])
            try:
                bodies = await self._store.get(sight.db, sight.brain, [ref])
            except ContentMissing:
                raise Unavailable("the stored text of this page is missing; an operator must look") from None
            parsed = page.parse(bodies[ref.id])
            named = _sources(parsed)
            figures = await sight.db.fetch(STATEMENTS.figures_of, row["page"], *sight.rule)
            cited = [found for figure in figures if (found := references.parse_reference(figure["source"]))]
            withheld = await sight.withheld([*named.values(), *cited])
            relations = await _relations(sight, row["page"])
            position = await sight.position()
        knowledge, verified = Knowledge(row["knowledge"]), row["verified_at"]
        return PageView(
            path=row["path"],
            id=node_id(row["page"]),
            title=row["title"],
            type=row["type"],
            owner=row["owner"],
            status="live",
            as_of=row["as_of"],
            access=Access(row["access"]),
            sensitivity=Reach(row["reach"]),
            knowledge=knowledge,
            trust=trust.trust(knowledge, verified, row["review_days"], self._clock()),
            verified=verified,
            review_by=trust.review_by(verified, row["review_days"]),
            sources=tuple(text.removeprefix(references.SCHEME) for text in named if text not in withheld),
            withheld=dict(Counter(withheld[text] for text in named if text in withheld)),
            relations=relations,
            figures=tuple(
                FigureView(
                    name=figure["name"],
                    value=figure["value"],
                    unit=figure["unit"],
                    as_of=figure["as_of"],
                    source=_shown(figure["source"], withheld),
                )
                for figure in figures
            ),
            text=withhold(parsed.text, withheld) if withheld else parsed.text,
            position=position,
            receipt=Receipt(
                page=row["page"],
                revision=row["revision"],
                digest=row["digest"],
                approver=row["approver"],
                approved_at=row["approved_at"],
                verified_at=verified,
                position=row["position"],
            ),
        )


def _sources(parsed: page.Page) -> dict[str, references.Reference]:
    """The captures that a page names as its sources, in its front matter and in footnotes, each once."""
    named = [found for source in parsed.front.sources if (found := references.parse_reference(source))]
    named += [found for *_, found in references.find(parsed.text)]
    return {found.text: found for found in named}


def _shown(source: str, withheld: dict[str, str]) -> str:
    reference = references.parse_reference(source)
    if reference is None:
        return source
    label = withheld.get(reference.text)
    return reference.text.removeprefix(references.SCHEME) if label is None else f"withheld ({label})"


async def _relations(sight: Sight, page_id: object) -> tuple[RelationView, ...]:
    rows = await sight.db.fetch(STATEMENTS.relations_of, page_id, *sight.rule)
    return tuple(
        RelationView(
            verb=row["verb"],
            path=row["path"],
            id=node_id(row["page"]),
            title=row["title"],
            knowledge=Knowledge(row["knowledge"]),
        )
        for row in rows
    )
