"""From page and review facts to the windows that the sweep looks at."""

import itertools
from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

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


Row: TypeAlias = tuple[object, ...]


async def apply(db: Connection, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
    """Set rows from facts; older news never overwrites newer. Neighbours of one kind take one round trip."""
    steps = (step for fact in recorded if (step := _step(fact)) is not None)
    for statement, together in itertools.groupby(steps, key=itemgetter(0)):
        await db.executemany(statement, [row for _, row in together])


def _step(recorded: Recorded[msgspec.Struct]) -> tuple[str, Row] | None:
    """The statement for a fact, and its parameters. An approved review leads to none: it arrives as `page_verified`."""
    brain, seq = recorded.envelope.brain, recorded.position
    match recorded.fact:
        case PagePromoted(page=page, review_days=days):
            return _SQL.promote_page, (brain, page, days, seq)
        case PageVerified(page=page, at=at):
            return _SQL.verify_page, (brain, page, at, seq)
        case PageDeprecated(page=page):
            return _SQL.deprecate_page, (brain, page, seq)
        case ProposalSubmitted(kind=ProposalKind.REVIEW, proposal=proposal, page=page):
            return _SQL.remember_review, (brain, proposal, page, seq)
        case ProposalDecided(verdict=Verdict.REJECT, proposal=proposal):
            return _SQL.rest_review, (brain, proposal, rest(recorded.envelope.occurred_at), seq)
        case _:
            return None


FRESHNESS = Projection(
    NAME,
    "EVT",
    frozenset({"page_promoted", "page_verified", "page_deprecated", "proposal_submitted", "proposal_decided"}),
    apply,
)
