"""The four projections by name, for the service and for a rebuild beside it."""

from access import projection as access
from content.keyring import KeyRing
from content.store import ContentStore
from eventlog.projector import Projection
from retrieval.projections import captures, pages, vectors


def projections(ring: KeyRing, suffix: str = "", crossover: int = pages.CROSSOVER) -> list[Projection]:
    """Every projection of this service. `suffix` names the durables and checkpoints of a rebuild."""
    store = ContentStore(ring)
    return [
        Projection(f"retrieval-access-v1{suffix}", "EVT", access.HEARS, access.applying(store)),
        Projection(f"retrieval-pages-v1{suffix}", "EVT", pages.HEARS, pages.applying(store, ring.chunk_key, crossover)),
        Projection(f"retrieval-captures-v1{suffix}", "CAP", captures.HEARS, captures.applying(store)),
        Projection(f"retrieval-vectors-v1{suffix}", "CHK", vectors.HEARS, vectors.applying()),
    ]
