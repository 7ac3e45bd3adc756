"""What the console asks of gateway's audit over HTTP, as the person who is signed in.

`AUDIT` answers with JSON lines, one `AuditRow` each; a page with fewer lines than its limit is the last one.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from contracts.ids import FactId, PageId, PrincipalId, TokenId

AUDIT = "/api/v1/audit"  # GET AuditOf -> lines of AuditRow
AUDIT_VERIFY = "/api/v1/audit/verify"  # GET VerifyAfter -> Verified
TRACE = "/api/v1/trace"  # GET TraceOf -> Trace

LARGEST_PAGE = 1000
"""Rows of one answer at most."""


class AuditOf(msgspec.Struct, frozen=True, kw_only=True):
    """`after`: the last id of the page before. `since` to before `until`: when it happened. Needs role admin."""

    after: int = 0
    limit: int = LARGEST_PAGE
    since: datetime | None = None
    until: datetime | None = None
    operation: str | None = None
    principal: PrincipalId | None = None


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """One call, decision or refusal.

    `door`: by which way it came. `operation` is the same by every door. `outcome`: "ok", or the code of the refusal.
    `kind`: the token's. `arguments`: their hash under a key of the brain, so that equal ones can be told. `concerned`:
    ids of pages, proposals, tokens and members that it was about, 64 at most. `minute`: with which it is sealed.
    `requests`: how many it stands for; more than one only where an address was refused, and `request_id` is the first.
    """

    id: int
    minute: datetime
    at: datetime
    request_id: str
    door: str
    operation: str
    outcome: str
    writes: bool
    principal: PrincipalId | None
    token: TokenId | None
    kind: str | None
    arguments: str | None
    concerned: tuple[UUID, ...]
    results: int | None
    trust: str | None
    position: int | None
    requests: int


class AuditRows(msgspec.Struct, frozen=True, kw_only=True):
    rows: tuple[AuditRow, ...]


class VerifyAfter(msgspec.Struct, frozen=True, kw_only=True):
    """`after`: what the answer before gave as `next`. Needs role admin."""

    after: datetime | None = None


class AuditProblem(msgspec.Struct, frozen=True, kw_only=True):
    """`what`: row_changed, row_missing, row_added, seal_missing or seal_changed."""

    minute: datetime
    what: str


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the chain. `unsealed`: rows after its end, which no seal covers yet. `next` None: that was all."""

    seals: int
    rows: int
    unsealed: int
    head: str
    problems: tuple[AuditProblem, ...]
    next: datetime | None


class TraceOf(msgspec.Struct, frozen=True, kw_only=True):
    """Of a request of one's own, or of any for an admin."""

    request: str


class ServedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A revision of a page that was given to a principal, whole or (`passage`) a passage of it."""

    at: datetime
    principal: PrincipalId
    token: TokenId | None
    page: PageId
    revision: int
    position: int
    passage: bool


class FactLine(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of the log that the request led to."""

    position: int
    type: str
    fact: FactId
    actor: PrincipalId
    occurred_at: datetime


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known under a request's id, in order."""

    request: str
    rows: tuple[AuditRow, ...]
    served: tuple[ServedLine, ...]
    facts: tuple[FactLine, ...]
