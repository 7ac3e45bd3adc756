"""What is known under a request's id: its rows, what it was served, and the facts that it led to."""

from collections.abc import Collection, Iterable
from uuid import UUID

from asyncpg import Record
from nats.aio.client import Client

from chassis.postgres import Pool, transaction
from contracts.codec import Unreadable, decode_envelope
from contracts.envelope import Envelope
from contracts.errors import Refused
from contracts.gateway_audit import AuditRow, FactLine, ServedLine, Trace
from contracts.ids import BrainId, PrincipalId, derived
from eventlog import leader
from gateway.audit.writer import ROWS

MOST_ROWS = 1_000
MOST_FACTS = 100
"""Facts of one decision that are told: the last ones, of a larger build."""


async def trace(pool: Pool, nc: Client, brain: BrainId, request: str, principal: PrincipalId | None) -> Trace:
    """Everything under this id, or what `principal` left of it. Raises `Refused` where that is nothing.

    The log is looked up at the positions that the request was answered with: a fact is its own where the fact's
    correlation follows from the request's id or is its command's. Raises `Unavailable` where the log does not answer.
    """
    async with transaction(pool, brain, readonly=True) as db:
        rows = await db.fetch(ROWS.rows_of_request, brain, request, principal, MOST_ROWS)
        served = await db.fetch(ROWS.served_in_request, brain, request, principal, MOST_ROWS)
    if not rows:
        raise Refused("no_such_request", "There is no such request.", "request", "Check its id.")
    facts: dict[int, FactLine] = {}
    for row in rows:
        if row["writes"] and row["position"]:
            own = {correlation(brain, request), *row["concerned"]}
            facts.update({line.position: line for line in await _facts(nc, row["position"], own)})
    return Trace(
        request=request,
        rows=audit_rows(rows),
        served=tuple(ServedLine(**dict(each)) for each in served),
        facts=tuple(facts[position] for position in sorted(facts)),
    )


def audit_rows(rows: Iterable[Record]) -> tuple[AuditRow, ...]:
    """Rows as they are told."""
    return tuple(AuditRow(**{**dict(row), "concerned": tuple(row["concerned"])}) for row in rows)


def correlation(brain: BrainId, request: str) -> UUID:
    """What facts carry of a request's id: itself where it is a UUID."""
    try:
        return UUID(request)
    except ValueError:
        return derived(brain, "request", request)


async def _facts(nc: Client, position: int, own: Collection[UUID]) -> list[FactLine]:
    """The facts of the decision that ends at `position`, if it is the request's own."""
    found: list[FactLine] = []
    batch: UUID | None = None
    while position > 0 and len(found) < MOST_FACTS:
        envelope = await _envelope(nc, position)
        if envelope is None or envelope.correlation not in own:
            break
        if found and (envelope.batch is None or envelope.batch.id != batch):
            break
        found.append(
            FactLine(
                position=position,
                type=envelope.type,
                fact=envelope.id,
                actor=envelope.actor,
                occurred_at=envelope.occurred_at,
            )
        )
        if envelope.batch is None:
            break
        batch, position = envelope.batch.id, position - 1
    return found


async def _envelope(nc: Client, position: int) -> Envelope | None:
    stored = await leader.at(nc, "EVT", position)
    try:
        return None if stored is None else decode_envelope(stored.body)
    except Unreadable:
        return None
