"""What the four operations of agents take and give, whatever door. Schemas of both doors are made from these."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from contracts.retrieval_messages import Contested, PageView

Domain = Annotated[str, Meta(min_length=1, max_length=64)]
Domains = Annotated[list[Domain], Meta(max_length=20, description="Pages of these domains alone. Empty: of any.")]
Entry = Annotated[
    str, Meta(min_length=1, max_length=300, description="A page's path, or its node id (n_ and 32 hex digits).")
]


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question."""

    question: Annotated[str, Meta(min_length=2, max_length=2000, description="In words, at least 2 characters.")]
    domains: Domains = []
    include_stream: Annotated[
        bool, Meta(description="Also what was captured and not yet approved. Today said in `degraded`, as none serves.")
    ] = False
    max_citations: Annotated[int, Meta(ge=1, le=20, description="How many passages at most, 1 to 20.")] = 5


class GetEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One page."""

    entry: Entry
    offset: Annotated[int, Meta(ge=0, le=2**31, description="Start at this character of a long page's text.")] = 0


class ListConflicts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is open."""

    domains: Domains = []
    limit: Annotated[int, Meta(ge=1, le=100, description="How many at most, 1 to 100.")] = 50


class ProposeUpdate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A correction of a page, in words."""

    entry: Entry
    title: Annotated[str, Meta(min_length=3, max_length=120)]
    body: Annotated[str, Meta(min_length=10, max_length=4000, description="What is wrong, and what is right.")]
    command: Annotated[UUID, Meta(description="Chosen by the caller: said twice, it is proposed once.")] | None = None


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """What the passage marked [number] stands on. `digest`: SHA-256 (hex) of the page's stored bytes.

    `verified`: when its content was last confirmed, null where nobody did. `position`: where the revision stands in
    the log.
    """

    number: int
    id: str
    path: str
    title: str
    heading: tuple[str, ...]
    trust: str
    revision: int
    digest: str
    approver: str
    approved_at: datetime
    verified: datetime | None
    position: int


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """How old what is cited is. `oldest_verified`: null where nothing cited was ever verified.

    `stale`: how many citations are past their review or not verified.
    """

    oldest_verified: datetime | None
    stale: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Passages of approved pages, each marked with the number of its citation; nothing is composed.

    `trust`: the weakest label cited. `conflicts`: what pages say is open about those cited; none: nobody has said so.
    `empty`: "" or why there is nothing: nothing_granted, no_match, index_behind. `degraded`: what could not serve:
    vectors, conflicts, stream, index_behind. `position`: where the log stood.
    """

    answer: str
    trust: str
    citations: tuple[Citation, ...]
    conflicts: tuple[Contested, ...]
    freshness: Freshness
    empty: str
    degraded: tuple[str, ...]
    position: int


class EntryView(PageView, frozen=True, kw_only=True):
    """A page as its reader may see it. `next_offset`: where a long text goes on, null at its end."""

    next_offset: int | None


class Conflicts(msgspec.Struct, frozen=True, kw_only=True):
    """What pages say is open, of themselves or between each other; nothing is detected by comparing texts yet.

    `more`: there are others beyond the limit. `empty`: "" or why there is nothing: nothing_granted, no_match (no
    page that you see says so), index_behind.
    """

    conflicts: tuple[Contested, ...]
    more: bool
    empty: str
    position: int


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """A person reads exactly what was sent, and decides. `archived`: its second copy is durable."""

    proposal: UUID
    kind: Literal["correction"]
    status: Literal["pending"]
    entry: str
    position: int
    archived: bool
