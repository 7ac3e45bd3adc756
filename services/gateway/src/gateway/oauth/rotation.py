"""What a code or refresh token that comes in is worth: pure, on its row and the time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

GRACE = timedelta(seconds=45)
"""How long a used refresh token still serves its own client: two of its requests may have been under way at once."""


class Worth(Enum):
    """GOOD: give what it stands for. DEAD: refuse. STOLEN: it is out of its owner's hands, so end its family."""

    GOOD = "good"
    DEAD = "dead"
    STOLEN = "stolen"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of one secret: whose it is, until when, and when it was first used."""

    client: str
    expires_at: datetime
    used_at: datetime | None = None


def code(kept: Kept | None, client: str, now: datetime) -> Worth:
    """A code serves once. One that comes twice was read by somebody on its way."""
    if kept is None or kept.client != client:
        return Worth.DEAD
    if kept.used_at is not None:
        return Worth.STOLEN
    return Worth.GOOD if now < kept.expires_at else Worth.DEAD


def refresh(kept: Kept | None, client: str, now: datetime) -> Worth:
    """A refresh token serves once, and within the grace again; whoever comes later with it is not its owner."""
    if kept is None or kept.client != client:
        return Worth.DEAD
    if kept.used_at is not None and now > kept.used_at + GRACE:
        return Worth.STOLEN
    return Worth.GOOD if now < kept.expires_at else Worth.DEAD
