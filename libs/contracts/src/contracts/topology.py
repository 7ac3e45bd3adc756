"""Streams and durable consumers as data. Provisioned once, read back, never made by a service."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Stream:
    """A JetStream stream. `max_bytes` is reserved against the server's store; `ledger` streams hold facts."""

    name: str
    subjects: tuple[str, ...]
    ledger: bool
    max_bytes: int
    why: str


@dataclass(frozen=True, slots=True)
class Durable:
    """A pull consumer. An ordered one (`ordered`) acknowledges up to a message; a reaction acknowledges each."""

    name: str
    stream: str
    ordered: bool
    owner: str
    filters: tuple[str, ...] = ()
    ack_wait: int = 30
    max_ack_pending: int = 2000


OLDEST_SERVER = (2, 14, 6)
"""The least nats-server. Older ones drop expectations on other subjects and atomic batches silently, reset no
consumers, or have known holes (reliability: measured).
"""

GIB = 1024**3

STREAMS = (
    Stream("EVT", ("evt.>",), ledger=True, max_bytes=4 * GIB, why="facts of governance, in one order"),
    Stream("CAP", ("cap.>",), ledger=True, max_bytes=2 * GIB, why="facts of captures"),
    Stream("CHK", ("chk.>",), ledger=False, max_bytes=4 * GIB, why="passages and vectors, derived"),
    Stream("PARKED", ("parked.>",), ledger=False, max_bytes=GIB // 4, why="messages that a reaction gave up on"),
)

DURABLES = (
    Durable("archive-EVT-v1", "EVT", ordered=True, owner="approvals"),
    Durable("archive-CAP-v1", "CAP", ordered=True, owner="approvals"),
    Durable("gateway-access-v1", "EVT", ordered=True, owner="gateway"),
    Durable("approvals-access-v1", "EVT", ordered=True, owner="approvals"),
    Durable("approvals-ledger-v1", "EVT", ordered=True, owner="approvals"),
    Durable("ingest-captures-v1", "CAP", ordered=True, owner="ingest"),
    Durable("ingest-access-v1", "EVT", ordered=True, owner="ingest"),
    Durable("retrieval-access-v1", "EVT", ordered=True, owner="retrieval"),
    Durable("retrieval-pages-v1", "EVT", ordered=True, owner="retrieval"),
    Durable("retrieval-captures-v1", "CAP", ordered=True, owner="retrieval"),
    Durable("retrieval-vectors-v1", "CHK", ordered=True, owner="retrieval", max_ack_pending=400),
    Durable("drift-freshness-v1", "EVT", ordered=True, owner="drift"),
    Durable(
        "embedder-on-draft-v1",
        "EVT",
        ordered=False,
        owner="embedder",
        filters=("evt.*.proposal.*", "evt.*.build.*"),
        ack_wait=60,
        max_ack_pending=256,
    ),
    Durable(
        "approvals-on-proposal_resolved-v1",
        "EVT",
        ordered=False,
        owner="approvals",
        filters=("evt.*.proposal.*",),
        max_ack_pending=256,
    ),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What every stream is made with. Times in seconds, sizes in bytes."""

    max_message: int = 512 * 1024
    duplicate_window: int = 120
    metadata: dict[str, str] = field(default_factory=lambda: {"epoch": "1"})
