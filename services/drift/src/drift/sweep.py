"""Once a minute: raise the review of every page whose window has passed."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import msgspec
import structlog
from nats.aio.client import Client

from chassis import postgres, rpc, sql, telemetry
from chassis.postgres import Pool
from contracts.approvals_messages import RAISE_REVIEW, RaiseReview, Submitted
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId
from drift.domain import freshness

_SQL = sql.load("drift", "queries.sql")
_LOG = structlog.get_logger()


class Swept(msgspec.Struct, frozen=True):
    """What one sweep did: how many windows had passed, how many reviews it raised."""

    passed: int
    raised: int


async def sweep(client: Client, pool: Pool, brain: BrainId, now: datetime) -> Swept:
    """Raise what is due. A page that approvals refuses is logged and left for the next sweep.

    Raises `Unavailable` where approvals does not answer: the next sweep goes on.
    """
    async with postgres.transaction(pool, brain, readonly=True) as db:
        rows = await db.fetch(_SQL.list_windows, brain, now)
    raised = 0
    for row in rows:
        due = freshness.due(row["verified_at"], row["review_days"], row["snoozed_until"])
        if not freshness.is_due(due, row["raised_due"], now):
            continue
        try:
            await rpc.ask(client, RAISE_REVIEW, RaiseReview(page=row["page"], due=due), Submitted, seconds=10)
        except Refused as refusal:
            _LOG.warning("review_refused", page=str(row["page"]), code=refusal.code)
            continue
        async with postgres.transaction(pool, brain) as db:
            await db.execute(_SQL.mark_raised, brain, row["page"], due)
        raised += 1
    return Swept(len(rows), raised)


async def run(
    client: Client, pool: Pool, brain: BrainId, clock: Callable[[], datetime], stop: asyncio.Event, seconds: float
) -> None:
    """Sweep at once and then every `seconds`, until `stop` is set."""
    while not stop.is_set():
        try:
            with telemetry.span("drift.sweep_freshness"):
                swept = await sweep(client, pool, brain, clock())
            if swept.raised:
                _LOG.info("reviews_raised", passed=swept.passed, raised=swept.raised)
        except (Unavailable, OSError) as error:
            _LOG.warning("sweep_interrupted", reason=str(error))
        try:
            async with asyncio.timeout(seconds):
                await stop.wait()
        except TimeoutError:
            continue
