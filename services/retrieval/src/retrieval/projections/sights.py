"""Sights: what EVT says about who may open a capture. It overrules the recording, whichever arrives first."""

from collections.abc import Sequence

import msgspec

from chassis import sql
from chassis.postgres import Pooled
from contracts import captures
from contracts.catalogue import wire_type
from contracts.envelope import Recorded
from contracts.ids import BrainId

STATEMENTS = sql.load("retrieval.projections", "captures.sql")
HEARS = frozenset(wire_type(shape) for shape in (captures.CaptureWithdrawn, captures.CaptureAclChanged))


async def apply(db: Pooled, brain: BrainId, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
    """Put what changed, in order."""
    for one in recorded:
        match one.fact:
            case captures.CaptureWithdrawn(capture=capture):
                await db.execute(STATEMENTS.withdraw_capture, brain, capture, one.position)
            case captures.CaptureAclChanged(capture=capture, acl=acl):
                admitted = (acl.everyone, list(acl.principals), acl.known)
                await db.execute(STATEMENTS.change_acl, brain, capture, *admitted, one.position)
            case _:
                pass
