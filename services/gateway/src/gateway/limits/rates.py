"""What is limited, how far, and what a caller is told beyond it. All figures are calls in one minute."""

from dataclasses import dataclass
from enum import Enum

from chassis import metrics
from contracts.errors import Refused
from gateway.oauth.discovery import AUTHORIZE, CONSENT, REGISTER, REVOKE, TOKEN

REFUSED = metrics.counter("gateway_throttled_requests_total", "Requests beyond a limit", "limit")

LARGEST = 1_000_000
"""The largest limit that can be set: nobody reaches it, so it is as good as none."""

WRITE_REFUSED = (
    "Write rate limit reached for this token or organization. The proposal was NOT registered. Try again later."
)
"""Verbatim; clients match it. When to try again stands beside it, not in it."""


class Limit(Enum):
    """Each limit counts by itself. Those of addresses hold in each process, all others in all replicas together."""

    READ = "read"
    SEARCH = "search"
    ASK = "ask"
    PROPOSE = "propose"
    EXPORT = "export"
    PROTOCOL = "protocol"
    CONSOLE = "console"
    TOKEN_WRITES = "token_writes"  # noqa: S105 - what is counted
    BRAIN_WRITES = "brain_writes"
    ADDRESS = "address"
    ADDRESS_DOORS = "address_doors"
    ADDRESS_REGISTER = "address_register"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How many where the brain sets nothing else, and what is counted."""

    per_minute: int
    meaning: str


CEILINGS = {
    Limit.READ: Ceiling(6000, "pages, lookups and lists, by principal"),
    Limit.SEARCH: Ceiling(3000, "searches and reads of state, by principal"),
    Limit.ASK: Ceiling(60, "questions that are filed, by principal"),
    Limit.PROPOSE: Ceiling(120, "proposals and captures, by principal"),
    Limit.EXPORT: Ceiling(60, "exports, by principal"),
    Limit.PROTOCOL: Ceiling(6000, "messages that call no tool the caller has, by principal"),
    Limit.CONSOLE: Ceiling(12_000, "requests of a sign-in, imports among them, by principal"),
    Limit.TOKEN_WRITES: Ceiling(60, "proposals and captures, by token"),
    Limit.BRAIN_WRITES: Ceiling(600, "proposals and captures, of the whole brain"),
    Limit.ADDRESS: Ceiling(12_000, "requests of any kind, by address"),
    Limit.ADDRESS_DOORS: Ceiling(600, "sign-in, consent, authorization and tokens, by address"),
    Limit.ADDRESS_REGISTER: Ceiling(120, "registrations of clients, by address"),
}
"""A principal that reads all the time is not slowed down before a process is busy with it alone."""

WRITES = (Limit.TOKEN_WRITES, Limit.BRAIN_WRITES)
"""What a proposal takes beside its principal's own."""

BY_ADDRESS = (Limit.ADDRESS, Limit.ADDRESS_DOORS, Limit.ADDRESS_REGISTER)

_DOORS = frozenset({AUTHORIZE, CONSENT, REGISTER, REVOKE, TOKEN, "/signin"})


class Throttled(Exception):
    """Too many calls of one kind in this minute: nothing was done. `retry_after`: seconds until the next begins."""

    def __init__(self, limit: Limit, retry_after: int) -> None:
        super().__init__(limit.value)
        self.limit = limit
        self.retry_after = retry_after

    @property
    def told(self) -> str:
        """What the caller reads, with the wait for whoever sees no headers."""
        if self.limit is Limit.PROPOSE or self.limit in WRITES:
            return WRITE_REFUSED
        return f"Rate limit reached: too many calls of this kind in this minute. Try again in {self.retry_after} s."


def by_path(path: str) -> tuple[Limit, ...]:
    """What a request to this path takes from its address, whoever sends it."""
    plain = "/" + "/".join(part for part in path.split("/") if part)
    if plain not in _DOORS:
        return (Limit.ADDRESS,)
    return BY_ADDRESS if plain == REGISTER else (Limit.ADDRESS, Limit.ADDRESS_DOORS)


def settable(name: str, per_minute: int | None) -> Limit:
    """The limit of this name, if it may be so many. None is the figure that stands here."""
    if name not in {limit.value for limit in Limit}:
        raise Refused("no_such_limit", "There is no limit of this name.", "name", "List the limits to see their names.")
    if per_minute is not None and not 1 <= per_minute <= LARGEST:
        raise Refused(
            "limit_out_of_range",
            f"A limit is 1 to {LARGEST} calls in a minute.",
            "per_minute",
            "Choose a number in that range, or leave it out for the default.",
        )
    return Limit(name)
