"""The only place that formats or parses a subject. A history is one literal subject of four tokens."""

from dataclasses import dataclass
from uuid import UUID

from contracts.enums import Gate
from contracts.ids import BrainId, BuildId, CaptureId, ContentId, PageId, PrincipalId, ProposalId


def access(brain: BrainId, principal: PrincipalId) -> str:
    return f"evt.{brain}.access.{principal}"


def brain_itself(brain: BrainId) -> str:
    return f"evt.{brain}.brain.{brain}"


def proposal(brain: BrainId, proposal: ProposalId) -> str:
    return f"evt.{brain}.proposal.{proposal}"


def build(brain: BrainId, build: BuildId) -> str:
    return f"evt.{brain}.build.{build}"


def page(brain: BrainId, page: PageId) -> str:
    return f"evt.{brain}.page.{page}"


def gate(brain: BrainId, gate: Gate) -> str:
    return f"evt.{brain}.gate.{gate.value}"


def log(brain: BrainId) -> str:
    return f"evt.{brain}.log.{brain}"


def capture_recording(brain: BrainId, capture: CaptureId) -> str:
    """Where a capture's recording stands: in CAP."""
    return f"cap.{brain}.capture.{capture}"


def capture_sight(brain: BrainId, capture: CaptureId) -> str:
    """Where a change of who may see a capture stands: in EVT."""
    return f"evt.{brain}.capture.{capture}"


def chunks(brain: BrainId, body: ContentId) -> str:
    return f"chk.{brain}.body.{body}"


def parked(brain: BrainId, service: str) -> str:
    return f"parked.{brain}.{service}.message"


def checkpointed(projection: str) -> str:
    """Core NATS, not stored: a projection says here which position it has reached."""
    return f"note.projection.{projection}"


@dataclass(frozen=True, slots=True)
class History:
    """A subject, taken apart."""

    family: str
    brain: UUID
    aggregate: str
    id: str


def parse(subject: str) -> History:
    """Take a stored subject apart. Raises `ValueError` where it is not one of ours."""
    tokens = subject.split(".")
    if len(tokens) != 4 or tokens[0] not in {"evt", "cap", "chk", "parked"}:  # noqa: PLR2004 - family, brain, aggregate, id
        raise ValueError("not a subject of four tokens")
    return History(tokens[0], UUID(tokens[1]), tokens[2], tokens[3])
