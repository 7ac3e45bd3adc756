"""Pages: what each promotion, verification and deprecation leaves in the index."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from chassis import sql
from chassis.postgres import Pooled
from content.store import ContentStore
from contracts import proposals
from contracts.catalogue import wire_type
from contracts.content import ContentRef
from contracts.enums import Reach
from contracts.envelope import Recorded
from contracts.ids import BrainId, ContentId, PageId
from eventlog.projector import Apply
from retrieval.domain import pages
from retrieval.domain.pages import Indexed
from retrieval.projections import drafts, sights

STATEMENTS = sql.load("retrieval.projections", "pages.sql")
HEARS = frozenset(
    {
        *(wire_type(shape) for shape in (proposals.PagePromoted, proposals.PageVerified, proposals.PageDeprecated)),
        *drafts.HEARS,
        *sights.HEARS,
    }
)
"""Pages; the proposals that their drafts hang on; and captures, as far as EVT says who may open them."""

CROSSOVER = 15_000
"""Passages that a caller sees up to which every vector is compared: about 13 ms, and nothing is missed (measured).

A brain that has no more than these pays nothing for an approximate index, whose upkeep is most of an import's cost.
"""

_MANY = 100  # pages in one batch after which the planner's statistics are of another table

Fact = Recorded[msgspec.Struct]


class Promotion(NamedTuple):
    """A page's last promotion in a batch: the fact, where it stands, when it happened, and its content."""

    fact: proposals.PagePromoted
    position: int
    at: datetime
    path: str
    indexed: Indexed | None


def applying(store: ContentStore, secret: bytes, crossover: int = CROSSOVER) -> Apply:
    """How a batch becomes rows, inside one transaction of the brain. `secret` keys the passages."""

    async def apply(db: Pooled, recorded: Sequence[Fact]) -> None:
        if not recorded:
            return
        brain = recorded[0].envelope.brain
        await db.execute(STATEMENTS.lock_index, str(brain))
        recorded = await _newer(db, brain, recorded)
        promotions = await _read(db, store, brain, secret, recorded)
        await _put_pages(db, brain, recorded, promotions)
        ended = _ended(recorded)
        if promotions or ended:
            await _put_passages(db, brain, promotions, ended, crossover)
        await drafts.apply(db, brain, recorded)
        promoted = [one.fact.body.id for one in recorded if isinstance(one.fact, proposals.PagePromoted)]
        touched = promoted + await drafts.end(db, brain, recorded)
        if touched:
            await db.execute(STATEMENTS.attach_vectors, brain, touched)
            await db.execute(STATEMENTS.drop_vectors, brain, touched)
        await sights.apply(db, brain, recorded)

    return apply


async def _newer(db: Pooled, brain: BrainId, recorded: Sequence[Fact]) -> list[Fact]:
    """Without the facts of pages that a later one has been projected of: older news never overwrites newer."""
    about = [page for one in recorded if (page := _page_of(one.fact)) is not None]
    known = {row["page"]: row["source_seq"] for row in await db.fetch(STATEMENTS.positions_of, brain, about)}
    return [one for one in recorded if (page := _page_of(one.fact)) is None or one.position > known.get(page, 0)]


def _page_of(fact: msgspec.Struct) -> PageId | None:
    match fact:
        case proposals.PagePromoted(page=page) | proposals.PageDeprecated(page=page):
            return page
        case _:
            return None


async def _read(
    db: Pooled, store: ContentStore, brain: BrainId, secret: bytes, recorded: Sequence[Fact]
) -> list[Promotion]:
    """The last promotion of each page, with its content unless it is sealed: a sealed page is in no index."""
    last: dict[PageId, tuple[proposals.PagePromoted, Fact]] = {}
    for one in recorded:
        if isinstance(one.fact, proposals.PagePromoted):
            last[one.fact.page] = (one.fact, one)
    refs: list[ContentRef] = []
    for fact, _ in last.values():
        if fact.reach is not Reach.SEALED:
            refs += [fact.body, fact.path]
    texts = await store.get(db, brain, refs) if refs else {}
    return await asyncio.to_thread(_index, list(last.values()), texts, secret)


def _index(
    last: Sequence[tuple[proposals.PagePromoted, Fact]], texts: Mapping[ContentId, bytes], secret: bytes
) -> list[Promotion]:
    found = []
    for fact, one in last:
        path, indexed = "", None
        if fact.reach is not Reach.SEALED:
            path = texts[fact.path.id].decode()
            indexed = pages.index(texts[fact.body.id], path, secret)
        found.append(Promotion(fact, one.position, one.envelope.occurred_at, path, indexed))
    return found


async def _put_pages(db: Pooled, brain: BrainId, recorded: Sequence[Fact], promotions: Sequence[Promotion]) -> None:
    """Revisions, then each page as its last promotion has it, then what came after that promotion."""
    revisions = [_revision(brain, one.fact, one) for one in recorded if isinstance(one.fact, proposals.PagePromoted)]
    await db.executemany(STATEMENTS.add_revision, revisions)
    await db.executemany(STATEMENTS.put_page, [_page(brain, promotion) for promotion in promotions])
    for one in recorded:
        match one.fact:
            case proposals.PageVerified(page=page, at=at):
                await db.execute(STATEMENTS.verify_page, brain, page, at, one.position)
            case proposals.PageDeprecated(page=page):
                await db.execute(STATEMENTS.end_page, brain, page, one.position)
            case _:
                pass


def _ended(recorded: Sequence[Fact]) -> list[PageId]:
    """The pages whose last word in the batch is that they are no longer live."""
    live: dict[PageId, bool] = {}
    for one in recorded:
        match one.fact:
            case proposals.PagePromoted(page=page):
                live[page] = True
            case proposals.PageDeprecated(page=page):
                live[page] = False
            case _:
                pass
    return [page for page, is_live in live.items() if not is_live]


async def _put_passages(
    db: Pooled, brain: BrainId, promotions: Sequence[Promotion], ended: Sequence[PageId], crossover: int
) -> None:
    """Passages that say the same as before are kept, the others go with their postings, and new ones come."""
    standing = [
        (promotion.fact.page, promotion.indexed)
        for promotion in promotions
        if promotion.indexed is not None and promotion.fact.page not in ended
    ]
    rows = [(page, passage) for page, indexed in standing for passage in indexed.passages]
    touched = list({*(promotion.fact.page for promotion in promotions), *ended})
    names = (
        [page for page, _ in rows],
        [passage.fingerprint for _, passage in rows],
        [passage.copy for _, passage in rows],
    )
    places = (
        [passage.ordinal for _, passage in rows],
        [passage.start for _, passage in rows],
        [passage.end for _, passage in rows],
    )
    await db.execute(STATEMENTS.drop_chunks, brain, touched, *names)
    await db.execute(STATEMENTS.move_chunks, brain, *names, *places)
    fresh = await db.fetch(
        STATEMENTS.add_chunks,
        brain,
        *names,
        *places,
        [passage.key for _, passage in rows],
        ["\x1f".join(passage.heading) for _, passage in rows],
        [passage.body for _, passage in rows],
        [passage.language for _, passage in rows],
        [passage.said for _, passage in rows],
        crossover,
    )
    numbers = [row["chunk"] for row in fresh]
    await db.execute(STATEMENTS.add_words, brain, numbers)
    await db.execute(STATEMENTS.add_postings, brain, numbers)
    await db.execute(STATEMENTS.forget_words, brain)
    await db.execute(STATEMENTS.set_size, brain)
    await db.execute(STATEMENTS.draw_near, brain, crossover)
    await _put_edges(db, brain, standing, touched)
    if len(touched) >= _MANY:
        await db.execute(STATEMENTS.refresh_statistics)


async def _put_edges(
    db: Pooled, brain: BrainId, standing: Sequence[tuple[PageId, Indexed]], touched: Sequence[PageId]
) -> None:
    await db.execute(STATEMENTS.drop_relations, brain, touched)
    await db.execute(STATEMENTS.drop_figures, brain, touched)
    await db.executemany(
        STATEMENTS.add_relation,
        [
            (brain, page, ordinal, relation.verb, relation.target, relation.target_path, relation.knowledge)
            for page, indexed in standing
            for ordinal, relation in enumerate(indexed.relations)
        ],
    )
    await db.executemany(
        STATEMENTS.add_figure,
        [
            (brain, page, ordinal, figure.name, figure.value, figure.unit, figure.as_of, figure.source)
            for page, indexed in standing
            for ordinal, figure in enumerate(indexed.figures)
        ],
    )


def _revision(brain: BrainId, fact: proposals.PagePromoted, one: Fact) -> tuple[object, ...]:
    body = (fact.body.id, fact.body.commitment)
    sight = (fact.access.value, fact.reach.value, fact.knowledge.value)
    decision = (fact.proposal, fact.approver, one.envelope.occurred_at)
    return (brain, fact.page, fact.revision, *body, *sight, *decision, one.position)


_SEALED = Indexed(
    title="", title_key="", said="", type="", category=None, domain=None, as_of=None, digest="", passages=(),
    relations=(), figures=(),
)  # fmt: skip


def _page(brain: BrainId, promotion: Promotion) -> tuple[object, ...]:
    fact = promotion.fact
    indexed = promotion.indexed or _SEALED
    return (
        brain,
        fact.page,
        promotion.indexed is not None,
        promotion.path,
        indexed.title,
        indexed.title_key,
        indexed.said,
        indexed.type,
        fact.owner,
        fact.access.value,
        fact.reach.value,
        indexed.category,
        indexed.domain,
        fact.knowledge.value,
        indexed.as_of,
        fact.revision,
        fact.body.id,
        fact.body.commitment,
        indexed.digest,
        fact.approver,
        promotion.at,
        fact.review_days,
        len(indexed.passages),
        promotion.position,
    )
