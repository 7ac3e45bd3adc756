"""What one request leaves behind: filled in while it is served, by whoever knows."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

import msgspec

from contracts.errors import Refused, Unavailable
from contracts.ids import PageId, PrincipalId, TokenId, parse_node_id
from contracts.retrieval_messages import Hits, PageHits, PageView, Receipt
from gateway.audit.operations import AUTHENTICATE, SIGNED_OUT, Door
from gateway.credentials import Viewer

MOST_CONCERNED = 64
OK = "ok"
_REQUEST = re.compile(r"[A-Za-z0-9-]{1,64}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TRUST = re.compile(r"[a-z_]{1,32}")
_LARGEST = 2**31 - 1
_NOT_ASKED = frozenset({"by", "command"})
"""Fields of a command that are not what is asked for, so that it looks the same by every door."""
_SECRET = frozenset({"cookie"})
"""Fields of requests whose value is a secret: of such a request there is no hash."""


@dataclass(frozen=True, slots=True)
class Served:
    """A revision of a page that was given out, as the log stood at `position`; `passage`: not the whole of it."""

    page: PageId
    revision: int
    position: int
    passage: bool


@dataclass(slots=True, kw_only=True)
class Trail:
    """One request. `key`: of the hash of its arguments. Everything that it takes in is an id, a number or a code."""

    door: Door
    operation: str
    at: datetime
    key: bytes
    writes: bool = False
    request: str = ""
    outcome: str = ""
    principal: PrincipalId | None = None
    token: TokenId | None = None
    kind: str | None = None
    arguments: str | None = None
    concerned: dict[UUID, None] = field(default_factory=dict)
    results: int | None = None
    trust: str | None = None
    position: int | None = None
    requests: int = 1
    served: dict[tuple[PageId, int], Served] = field(default_factory=dict)

    def identified(self, viewer: Viewer) -> None:
        """A viewer asks it."""
        self.acts_for(viewer.member.id, viewer.token.id, viewer.token.kind.value)

    def acts_for(self, principal: PrincipalId | None, token: TokenId | None = None, kind: str | None = None) -> None:
        """It is asked for this principal, with this token."""
        self.principal, self.token, self.kind = principal, token, kind

    def asks(self, request: msgspec.Struct) -> None:
        """A request was read: its hash, and the ids in it."""
        asked = msgspec.to_builtins(request)
        self.about(_ids(request))
        if not _SECRET & asked.keys():
            self.hashes({name: value for name, value in asked.items() if name not in _NOT_ASKED})

    def hashes(self, arguments: object) -> None:
        """These are the arguments: equal ones have equal hashes, and without the key a guess cannot be tried."""
        try:
            written = msgspec.json.encode(arguments, order="sorted")
        except (ValueError, OverflowError):  # half a surrogate pair, or a number beyond any: it will be refused
            return
        self.arguments = hmac.new(self.key, written, hashlib.sha256).hexdigest()

    def about(self, ids: Iterable[UUID]) -> None:
        """It concerns these; beyond 64 they are only counted elsewhere."""
        for each in ids:
            if len(self.concerned) < MOST_CONCERNED:
                self.concerned.setdefault(each)

    def refused(self, code: str) -> None:
        """It was not done. The first reason that is told counts, as later ones follow from it."""
        if not self.outcome:
            self.outcome = code if _WORD.fullmatch(code) else "refused"
        if self.outcome == SIGNED_OUT and self.door is not Door.OAUTH:
            self.operation = AUTHENTICATE

    def stopped(self, error: Exception) -> None:
        """It was refused, limited, or not answered in time."""
        told = "unavailable" if isinstance(error, Unavailable) else "rate_limited"
        self.refused(error.code if isinstance(error, Refused) else told)

    def replied(self, reply: object) -> None:
        """It was done, with this reply: its ids, its position, and how many its list holds, or it is a list."""
        if isinstance(reply, list):
            self.results = len(reply)
        if not isinstance(reply, msgspec.Struct):
            return
        self.about(_ids(reply))
        position = getattr(reply, "position", None)
        if isinstance(position, int):
            self.position = position
        for name in reply.__struct_fields__:
            if self.results is None and isinstance(getattr(reply, name), tuple):
                self.results = len(getattr(reply, name))

    def saw_titles(self, found: PageHits) -> None:
        """Pages were named to the caller."""
        self.results, self.position = len(found.pages), found.position
        self.about(page for each in found.pages if (page := parse_node_id(each.id)) is not None)

    def saw_passages(self, found: Hits) -> None:
        """Passages were given to the caller."""
        self.results, self.position, self.trust = len(found.hits), found.position, found.trust
        for hit in found.hits:
            self._gave(hit.receipt, found.position, passage=True)

    def saw_page(self, view: PageView) -> None:
        """A page was given to the caller."""
        self.results, self.position, self.trust = 1, view.position, view.trust
        self._gave(view.receipt, view.position, passage=False)

    def wrote(self, position: int, *ids: UUID) -> None:
        """A command was carried out: its own id, and what it made."""
        self.about(ids)
        self.position = position

    def close(self, request: str) -> None:
        """Nothing more is known. Whatever is not of the form that it must have is left out."""
        self.request = request if _REQUEST.fullmatch(request) else uuid4().hex
        self.outcome = self.outcome or OK
        if self.trust is not None and not _TRUST.fullmatch(self.trust):
            self.trust = None
        if self.results is not None:
            self.results = min(self.results, _LARGEST)
        if self.principal is None or self.outcome != OK:
            self.served.clear()

    def _gave(self, receipt: Receipt, position: int, *, passage: bool) -> None:
        self.about([receipt.page])
        self.served.setdefault(
            (receipt.page, receipt.revision), Served(receipt.page, receipt.revision, position, passage)
        )


def _ids(told: msgspec.Struct) -> list[UUID]:
    """The ids in its fields, but who asks; that of a command is in its facts too."""
    named = (getattr(told, name) for name in told.__struct_fields__ if name != "by")
    return [value for value in named if isinstance(value, UUID)]


TRAIL: ContextVar[Trail | None] = ContextVar("trail", default=None)
"""The trail of the request that this task serves."""


def current() -> Trail:
    """The trail of the request being served; one that nobody reads where nothing is recorded."""
    return TRAIL.get() or Trail(door=Door.OTHER, operation="none", at=datetime.min.replace(tzinfo=UTC), key=b"")
