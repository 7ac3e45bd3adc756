"""What ingest remembers of its own facts: the latest version of each thing of a source, and who may see it."""

from collections.abc import Sequence

import msgspec

from access import projection as access_projection
from chassis import sql
from chassis.postgres import Pooled
from content.store import ContentStore
from contracts.captures import Acl, CaptureAclChanged, CaptureRecorded, CaptureRefused, CaptureWithdrawn
from contracts.catalogue import wire_type
from contracts.envelope import Recorded
from contracts.ids import BrainId, PrincipalId
from corpus import paths
from eventlog.projector import Apply, Projection

STATEMENTS = sql.load("ingest", "projection.sql")
CAPTURES = "ingest-captures-v1"
ACCESS = "ingest-access-v1"

_SIGHTS = frozenset({wire_type(CaptureWithdrawn), wire_type(CaptureAclChanged)})


class Descriptor(msgspec.Struct, frozen=True, omit_defaults=True):
    """What names a capture: content, so it stands in the content store. `title` where its source gave one."""

    source: str
    external_id: str
    reference: str
    title: str = ""


def captures(store: ContentStore) -> Projection:
    """Follows CAP: what was recorded and what was refused."""
    hears = frozenset({wire_type(CaptureRecorded), wire_type(CaptureRefused)})
    return Projection(CAPTURES, "CAP", hears, _applying_captures(store))


def access(store: ContentStore) -> Projection:
    """Follows EVT: who there is and what they hold, and who may see which capture."""
    return Projection(ACCESS, "EVT", access_projection.HEARS | _SIGHTS, _applying_access(store))


def _applying_captures(store: ContentStore) -> Apply:
    async def apply(db: Pooled, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        brain = recorded[0].envelope.brain
        kept = [(one, one.fact) for one in recorded if isinstance(one.fact, CaptureRecorded)]
        refused = [(one.position, one.fact) for one in recorded if isinstance(one.fact, CaptureRefused)]
        bodies = await store.get(db, brain, [fact.descriptor for _, fact in kept]) if kept else {}
        rows = []
        for one, fact in kept:
            named = msgspec.json.decode(bodies[fact.descriptor.id], type=Descriptor)
            name, filed_by = paths.one_form(named.external_id), one.envelope.actor
            rows.append(
                (brain, named.source, name, filed_by, fact.capture, fact.supersedes, *_columns(fact.acl), one.position)
            )
        await db.executemany(STATEMENTS.keep_capture, rows)
        await db.executemany(
            STATEMENTS.keep_refusal, [(brain, fact.capture, fact.category.value, at) for at, fact in refused]
        )

    return apply


def _applying_access(store: ContentStore) -> Apply:
    grants_and_members = access_projection.applying(store)

    async def apply(db: Pooled, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        await grants_and_members(db, recorded)  # it notes the position of every history, those of captures too
        for one in recorded:
            await _keep_sight(db, one.envelope.brain, one.position, one.fact)

    return apply


async def _keep_sight(db: Pooled, brain: BrainId, position: int, fact: msgspec.Struct) -> None:
    match fact:
        case CaptureWithdrawn():
            await db.execute(STATEMENTS.keep_withdrawal, brain, fact.capture, position)
        case CaptureAclChanged(acl=acl):
            await db.execute(STATEMENTS.keep_acl, brain, fact.capture, *_columns(acl), position)
        case _:
            pass  # who there is, which the access tables hold


def _columns(acl: Acl) -> tuple[bool, list[PrincipalId], bool]:
    return acl.everyone, list(acl.principals), acl.known
