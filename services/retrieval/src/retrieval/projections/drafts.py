"""Drafts: which bodies wait for a decision. Their vectors are kept apart until they are live, and not beyond."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from chassis import sql
from chassis.postgres import Pooled
from contracts import proposals
from contracts.catalogue import wire_type
from contracts.envelope import Recorded
from contracts.ids import BrainId, ContentId, PageId

STATEMENTS = sql.load("retrieval.projections", "drafts.sql")
HEARS = frozenset(
    wire_type(shape)
    for shape in (
        proposals.ProposalSubmitted,
        proposals.ProposalResolved,
        proposals.ProposalWithdrawn,
        proposals.BuildPageWritten,
        proposals.BuildSubmitted,
        proposals.BuildAbandoned,
    )
)


async def apply(db: Pooled, brain: BrainId, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
    """Note new drafts, builds that became proposals, and bodies that went live."""
    new: list[tuple[UUID | int | None, ...]] = []
    for one in recorded:
        match one.fact:
            case proposals.ProposalSubmitted(proposal=proposal, draft=proposals.PageDraft() as draft):
                new.append((brain, draft.body.id, draft.page, proposal, None, one.position))
            case proposals.BuildPageWritten(build=build, draft=draft):
                new.append((brain, draft.body.id, draft.page, None, build, one.position))
            case proposals.BuildSubmitted(build=build, proposal=proposal):
                await db.execute(STATEMENTS.add_build, brain, build, proposal, one.position)
            case _:
                pass
    await db.executemany(STATEMENTS.add_draft, new)
    await _put_live(db, brain, recorded)


async def _put_live(db: Pooled, brain: BrainId, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
    """The bodies that went live; then, by the last word about each page, those that are so no longer."""
    promoted: list[tuple[UUID | int, ...]] = []
    last: dict[PageId, tuple[ContentId | None, int]] = {}
    for one in recorded:
        match one.fact:
            case proposals.PagePromoted(page=page, body=body, proposal=proposal):
                promoted.append((brain, body.id, page, proposal, one.position))
                last[page] = (body.id, one.position)
            case proposals.PageDeprecated(page=page):
                last[page] = (None, one.position)
            case _:
                pass
    await db.executemany(STATEMENTS.make_live, promoted)
    if last:
        bodies, positions = [body for body, _ in last.values()], [position for _, position in last.values()]
        await db.execute(STATEMENTS.replace_live, brain, list(last), bodies, positions)


async def end(db: Pooled, brain: BrainId, recorded: Sequence[Recorded[msgspec.Struct]]) -> list[ContentId]:
    """Close what was decided, withdrawn or abandoned; the bodies that died with it."""
    closed, abandoned = [], []
    for one in recorded:
        match one.fact:
            case proposals.ProposalResolved(proposal=proposal) | proposals.ProposalWithdrawn(proposal=proposal):
                closed.append(proposal)
            case proposals.BuildAbandoned(build=build):
                abandoned.append(build)
            case _:
                pass
    dead = []
    if closed:
        dead += await db.fetch(STATEMENTS.end_proposals, brain, closed)
    if abandoned:
        dead += await db.fetch(STATEMENTS.end_builds, brain, abandoned)
    return [ContentId(row["body"]) for row in dead]
