"""From facts to rows of the fold."""

import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from uuid import UUID

import msgspec

from approvals.domain.draft import Change, digest, shown_digest
from approvals.ledger import rows
from approvals.ledger.bodies import Bodies, Text
from approvals.ledger.rows import Fact, Row, Words
from chassis import sql
from chassis.postgres import Pooled
from contracts import proposals as facts
from contracts.access_facts import GateMoved
from contracts.catalogue import wire_type
from contracts.content import ContentRef
from contracts.enums import ProposalKind
from contracts.subjects import parse

NAME = "approvals-ledger-v1"
"""The durable and checkpoint of the fold."""

HEARS = frozenset(
    wire_type(shape)
    for shape in (
        facts.ProposalSubmitted,
        facts.ProposalDecided,
        facts.ProposalResolved,
        facts.ProposalWithdrawn,
        facts.BuildOpened,
        facts.BuildPageWritten,
        facts.BuildSubmitted,
        facts.BuildPromoted,
        facts.BuildAbandoned,
        facts.PagePromoted,
        facts.PageVerified,
        facts.PageWentStale,
        facts.PageDeprecated,
        GateMoved,
    )
)

STATEMENTS = sql.load("approvals.ledger", "writes.sql")

Apply = Callable[[Pooled, Sequence[Fact]], Awaitable[None]]


def applying(bodies: Bodies) -> Apply:
    """How a batch of facts becomes rows, inside one transaction of the brain."""

    async def apply(db: Pooled, recorded: Sequence[Fact]) -> None:
        fresh = await _unknown(db, recorded)
        if not fresh:
            return
        words = await _words(db, bodies, fresh)
        for layer in _layers(fresh):
            for kind, group in layer.items():
                await _write(db, kind, group, words)

    return apply


async def _unknown(db: Pooled, recorded: Sequence[Fact]) -> list[Fact]:
    """The facts that no row holds yet: a decision writes its own rows at once, and its facts come here again."""
    ids = list({UUID(parse(one.subject).id) for one in recorded if not isinstance(one.fact, GateMoved)})
    known: dict[UUID, int] = {row["id"]: row["source_seq"] for row in await db.fetch(STATEMENTS.known_positions, ids)}
    return [
        one
        for one in recorded
        if isinstance(one.fact, GateMoved) or known.get(UUID(parse(one.subject).id), 0) < one.position
    ]


def _layers(recorded: Sequence[Fact]) -> Iterator[dict[type[msgspec.Struct], list[Fact]]]:
    """Facts grouped by kind so that many take one round trip, with the order inside each history kept."""
    at: dict[str, tuple[int, type[msgspec.Struct]]] = {}
    layers: list[dict[type[msgspec.Struct], list[Fact]]] = []
    for one in recorded:
        kind = type(one.fact)
        number, before = at.get(one.subject, (-1, GateMoved))
        if number < 0 or before is not kind:
            number += 1
        if isinstance(one.fact, facts.ProposalSubmitted) and one.fact.build is not None:
            branch = f"{one.subject.rsplit('.', 2)[0]}.build.{one.fact.build}"
            number = max(number, at.get(branch, (-1, GateMoved))[0] + 1)
        at[one.subject] = (number, kind)
        while len(layers) <= number:
            layers.append({})
        layers[number].setdefault(kind, []).append(one)
    yield from layers


async def _words(db: Pooled, bodies: Bodies, recorded: Sequence[Fact]) -> Words:
    pages: list[ContentRef] = []
    paths: list[ContentRef] = []
    texts: list[ContentRef] = []
    for one in recorded:
        match one.fact:
            case facts.ProposalSubmitted(draft=facts.PageDraft() as draft) | facts.BuildPageWritten(draft=draft):
                pages.append(draft.body)
                paths.append(draft.path)
            case facts.PagePromoted(body=body, path=path):
                pages.append(body)
                paths.append(path)
            case facts.ProposalSubmitted(text=ContentRef() as text):
                texts.append(text)
            case _:
                pass
    return Words(
        await bodies.pages(db, pages), await bodies.paths(db, paths), await bodies.found(db, texts), _ends(recorded)
    )


def _ends(recorded: Sequence[Fact]) -> dict[int, int]:
    """Where the decision that each vote belongs to ends: the resolution stands right behind the vote."""
    ends = {one.position: one.position for one in recorded if isinstance(one.fact, facts.ProposalDecided)}
    for one, after in itertools.pairwise(recorded):
        if one.position in ends and after.subject == one.subject and isinstance(after.fact, facts.ProposalResolved):
            ends[one.position] = after.position
    return ends


async def _write(db: Pooled, kind: type[msgspec.Struct], group: Sequence[Fact], words: Words) -> None:
    if kind is facts.ProposalSubmitted:
        await _add_proposals(db, group, words)
        return
    by_statement: dict[str, list[Row]] = {}
    for one in group:
        for statement, row in rows.of(one, words):
            by_statement.setdefault(statement, []).append(row)
    for statement, written in by_statement.items():
        await db.executemany(STATEMENTS[statement], written)


async def _add_proposals(db: Pooled, group: Sequence[Fact], words: Words) -> None:
    drafts, proposals = [], []
    for one in group:
        fact = one.fact
        assert isinstance(fact, facts.ProposalSubmitted)
        title, shown, page = "", "", fact.page
        match fact.kind:
            case ProposalKind.PAGE:
                assert fact.draft is not None
                said = words.pages[fact.draft.body.id]
                title, page = said.title, fact.draft.page
                change = Change(fact.draft.action.value, fact.draft.base, words.paths[fact.draft.path.id], said.digest)
                shown = shown_digest(fact.kind, [change])
                drafts.append(rows.draft(one, fact.proposal, fact.draft, words))
            case ProposalKind.BUILD:
                listed = await db.fetch(STATEMENTS.pages_of_build, one.envelope.brain, fact.build)
                shown = shown_digest(
                    fact.kind, [Change(row["action"], row["base"], row["path"], row["digest"]) for row in listed]
                )
            case ProposalKind.REVIEW:
                pass
            case _:
                assert fact.text is not None
                body = words.texts.get(fact.text.id, b"")
                title = msgspec.json.decode(body, type=Text).title if body else ""
                shown = digest(body)
        proposals.append(rows.proposal(one, fact, title, shown, page))
    await db.executemany(STATEMENTS.put_draft, drafts)
    await db.executemany(STATEMENTS.add_proposal, proposals)
