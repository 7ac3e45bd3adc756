"""How the content store says no."""

from collections.abc import Sequence
from uuid import UUID

from content.bodies import Finding, Slot
from contracts.enums import Refusal
from contracts.errors import Refused
from contracts.ids import ContentId

_WHAT = {
    Refusal.CREDENTIAL: "This text holds a credential, and credentials are not stored.",
    Refusal.PAYMENT_CARD: "This text holds the number of a payment card, and those are not stored.",
    Refusal.BANK_ACCOUNT: "This text holds a bank account, and those are not stored.",
    Refusal.NATIONAL_ID: "This text holds a national identity number, and those are not stored.",
}


class ContentRefused(Refused):
    """The scan found something in a body; nothing of the batch was stored. Holds places and categories, no value."""

    def __init__(self, findings: Sequence[Finding], slots: Sequence[Slot]) -> None:
        first = findings[0]
        super().__init__(
            code=first.category.value,
            what=_WHAT[first.category],
            where=f"{slots[first.index].value}, line {first.line}, column {first.column}",
            remedy="Take it out and send the text again; if it is in use, replace it where it is used.",
        )
        self.findings = list(findings)
        self._slots = list(slots)

    def __reduce__(self) -> "tuple[type[ContentRefused], tuple[list[Finding], list[Slot]]]":  # type: ignore[override]  # other arguments than those of Refused
        return (ContentRefused, (self.findings, self._slots))


class ContentClash(Exception):
    """An id is taken by other bytes: two different bodies were given one id, which no retry does."""

    def __init__(self, body_id: UUID) -> None:
        super().__init__(f"body {body_id} is stored with other bytes")
        self.id = body_id


class ContentMissing(Exception):
    """Bodies that were referred to are not there: erased, or lost in a restore. They are never served as empty."""

    def __init__(self, ids: Sequence[ContentId]) -> None:
        super().__init__(f"{len(ids)} bodies are missing, the first is {ids[0]}")
        self.ids = list(ids)


class ContentTampered(Exception):
    """A stored body is not the one that was committed to."""

    def __init__(self, body_id: UUID) -> None:
        super().__init__(f"body {body_id} is not what was committed to")
        self.id = body_id
