"""What the pages say, in plain words."""

from datetime import datetime

from contracts.enums import Outcome, ProposalKind, Reason

KINDS = {
    ProposalKind.PAGE: "page",
    ProposalKind.BUILD: "build",
    ProposalKind.REVIEW: "review",
    ProposalKind.OBSERVATION: "observation",
    ProposalKind.CORRECTION: "correction",
    ProposalKind.PROPOSAL: "proposal",
    ProposalKind.WORK_OUTPUT: "work output",
}

REASONS = {
    Reason.WRONG: "It is wrong",
    Reason.DUPLICATE: "It is there already",
    Reason.NOT_CANON_WORTHY: "It does not belong among governed knowledge",
    Reason.BAD_DRAFT: "It needs to be written better",
    Reason.OTHER: "Another reason (say which)",
}

OUTCOMES = {
    Outcome.APPROVED.value: "It was approved.",
    Outcome.REJECTED.value: "It was rejected.",
    "withdrawn": "Its author took it back.",
}

STATUS = {
    400: "That request cannot be read",
    401: "You are not signed in",
    403: "You may not do this",
    404: "There is nothing here that you can see",
    405: "That is not possible here",
    409: "Nothing was recorded: it has changed since you read it",
    413: "That is too large",
    422: "Nothing was recorded: something is missing or wrong",
    500: "Something went wrong on our side",
    503: "The brain is busy or starting",
}

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))


def waiting(since: datetime, now: datetime) -> str:
    """How long something has waited, in its largest unit."""
    seconds = max(0, int((now - since).total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "just now"


def instant(at: datetime) -> str:
    """A moment, to the minute, in UTC."""
    return f"{at:%Y-%m-%d %H:%M} UTC"
