"""Captures: by which reference pages name them, and whom they were recorded for."""

from collections.abc import Sequence

import msgspec

from chassis import sql
from chassis.postgres import Pooled
from content.store import ContentStore
from contracts.captures import CaptureRecorded
from contracts.catalogue import wire_type
from contracts.envelope import Recorded
from eventlog.projector import Apply

STATEMENTS = sql.load("retrieval.projections", "captures.sql")
HEARS = frozenset({wire_type(CaptureRecorded)})


class Descriptor(msgspec.Struct):
    """What ingest keeps about a capture beside its bytes; of that, what a page's reference needs."""

    source: str
    reference: str


def applying(store: ContentStore) -> Apply:
    """How a batch becomes rows, inside one transaction of the brain."""

    async def apply(db: Pooled, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        facts = [(one.position, one.fact) for one in recorded if isinstance(one.fact, CaptureRecorded)]
        if not facts:
            return
        brain = recorded[0].envelope.brain
        texts = await store.get(db, brain, [fact.descriptor for _, fact in facts])
        rows = []
        for position, fact in facts:
            named = msgspec.json.decode(texts[fact.descriptor.id], type=Descriptor)
            acl = fact.acl
            admitted = (acl.everyone, list(acl.principals), acl.known)
            rows.append((brain, fact.capture, named.reference, named.source, *admitted, position, fact.supersedes))
        await db.executemany(STATEMENTS.add_capture, rows)

    return apply
