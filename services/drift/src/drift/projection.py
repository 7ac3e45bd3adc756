"""From page and review facts to the windows that the sweep looks at."""

from collections.abc import Sequence

import msgspec

from chassis import sql
from contracts.enums import ProposalKind, Verdict
from contracts.envelope import Recorded
from contracts.proposals import PageDeprecated, PagePromoted, PageVerified, ProposalDecided, ProposalSubmitted
from drift.domain.freshness import rest
from eventlog.follower import Connection
from eventlog.projector import Projection

NAME = "drift-freshness-v1"
_SQL = sql.load("drift", "queries.sql")


async def apply(db: Connection, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
    """Set rows from facts; older news never overwrites newer."""
    for fact in recorded:
        brain, seq = fact.envelope.brain, fact.position
        match fact.fact:
            case PagePromoted(page=page, review_days=days):
                await db.execute(_SQL.promote_page, brain, page, days, seq)
            case PageVerified(page=page, at=at):
                await db.execute(_SQL.verify_page, brain, page, at, seq)
            case PageDeprecated(page=page):
                await db.execute(_SQL.deprecate_page, brain, page, seq)
            case ProposalSubmitted(kind=ProposalKind.REVIEW, proposal=proposal, page=page):
                await db.execute(_SQL.remember_review, brain, proposal, page, seq)
            case ProposalDecided(verdict=Verdict.REJECT, proposal=proposal):
                await db.execute(_SQL.rest_review, brain, proposal, rest(fact.envelope.occurred_at), seq)
            case _:
                pass  # other proposals, and approvals of reviews, which arrive as page_verified


FRESHNESS = Projection(
    NAME,
    "EVT",
    frozenset({"page_promoted", "page_verified", "page_deprecated", "proposal_submitted", "proposal_decided"}),
    apply,
)
