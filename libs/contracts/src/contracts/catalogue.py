"""THE table of facts: wire type, shape, who alone may say it, and the upcasts from older versions.

Adding a fact is one line here, an example under `examples/` and `make generate`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from contracts import access_facts, captures, chunks, operations, proposals

Upcast = Callable[[dict[str, object]], dict[str, object]]

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact. A version exists because an upcast exists: version = upcasts + 1."""

    name: str
    shape: type[msgspec.Struct]
    owners: frozenset[str]
    upcasts: tuple[Upcast, ...] = ()

    @property
    def version(self) -> int:
        return len(self.upcasts) + 1


def wire_type(shape: type[msgspec.Struct]) -> str:
    """`PagePromoted` is written `page_promoted`."""
    return _WORD.sub("_", shape.__name__).lower()


def _said_by(owner: str, *shapes: type[msgspec.Struct]) -> list[Entry]:
    return [Entry(wire_type(shape), shape, frozenset({owner})) for shape in shapes]


_ENTRIES = [
    *_said_by(
        "gateway",
        access_facts.BrainOpened,
        access_facts.MemberJoined,
        access_facts.MemberLeft,
        access_facts.RoleChanged,
        access_facts.GroupChanged,
        access_facts.Granted,
        access_facts.Revoked,
        access_facts.TokenIssued,
        access_facts.TokenRevoked,
    ),
    *_said_by(
        "ingest",
        captures.CaptureRecorded,
        captures.CaptureRefused,
        captures.CaptureWithdrawn,
        captures.CaptureAclChanged,
    ),
    *_said_by(
        "approvals",
        proposals.ProposalSubmitted,
        proposals.ProposalDecided,
        proposals.ProposalResolved,
        proposals.ProposalWithdrawn,
        proposals.BuildOpened,
        proposals.BuildPageWritten,
        proposals.BuildSubmitted,
        proposals.BuildPromoted,
        proposals.BuildAbandoned,
        proposals.PagePromoted,
        proposals.PageVerified,
        proposals.PageWentStale,
        proposals.PageDeprecated,
    ),
    *_said_by("operator", operations.LogQuarantined),
    *_said_by("embedder", chunks.BodyEmbedded),
    Entry("gate_moved", access_facts.GateMoved, frozenset({"gateway", "ingest", "approvals"})),
]

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
BY_SHAPE: dict[type[msgspec.Struct], Entry] = {entry.shape: entry for entry in _ENTRIES}
