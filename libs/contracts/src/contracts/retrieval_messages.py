"""What retrieval is asked over NATS, by gateway and approvals alone. A request names ids, never grants."""

from datetime import date, datetime

import msgspec

from contracts.enums import Access, Knowledge, Reach
from contracts.ids import ContentId, PageId, PrincipalId, TokenId

SEARCH = "ask.retrieval.search"
FIND_PAGE = "ask.retrieval.find_page"
READ_PAGE = "ask.retrieval.read_page"
CONTESTED = "ask.retrieval.contested"
VECTORS = "ask.retrieval.vectors"


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """For whom. `token` None: the person in a browser session, under their own tier.

    Each question may say a `position` that its answer must include; `rights`, where what the asker may see was last
    changed, which must be known; and the asker's `own` last write: that one is waited for, two seconds at most, and an
    answer without it says index_behind.
    """

    principal: PrincipalId
    token: TokenId | None = None


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Passages for a query of at least 2 characters; limit 1-20. `position`: answer from at least there.

    `domains`: of pages of these alone, none named: of any. They never add to what the asker's token admits.
    """

    asker: Asker
    query: str
    limit: int = 10
    domains: tuple[str, ...] = ()
    position: int = 0
    own: int = 0
    rights: int = 0


class FindPage(msgspec.Struct, frozen=True, kw_only=True):
    """Pages by title, path or words of either."""

    asker: Asker
    query: str
    limit: int = 10
    position: int = 0
    own: int = 0
    rights: int = 0


class ReadPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page by canonical path or node id."""

    asker: Asker
    path: str
    position: int = 0
    own: int = 0
    rights: int = 0


class FindContested(msgspec.Struct, frozen=True, kw_only=True):
    """What is said to be open, limit 1-100. `pages`: about these alone; none named: about any."""

    asker: Asker
    pages: tuple[PageId, ...] = ()
    limit: int = 50
    domains: tuple[str, ...] = ()
    position: int = 0
    own: int = 0
    rights: int = 0


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer stands on. `digest`: SHA-256 (hex) of the page's stored bytes; `approver`: the member's name."""

    page: PageId
    revision: int
    digest: str
    approver: str
    approved_at: datetime
    verified_at: datetime | None
    position: int


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage. `score` orders hits of one answer and means nothing else."""

    path: str
    id: str
    title: str
    heading: tuple[str, ...]
    text: str
    trust: str
    score: float
    receipt: Receipt


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """`empty`: "" or why there is nothing: nothing_granted, no_match, index_behind. `degraded`: arms that failed."""

    hits: tuple[Hit, ...]
    trust: str
    empty: str
    degraded: tuple[str, ...]
    position: int


class PageHit(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    id: str
    title: str
    type: str
    trust: str


class PageHits(msgspec.Struct, frozen=True, kw_only=True):
    pages: tuple[PageHit, ...]
    empty: str
    position: int


class Contested(msgspec.Struct, frozen=True, kw_only=True):
    """A page that says of itself, or of its relation to `other`, that a question is open.

    `reason`: page_unresolved, relation_unresolved or needs_clarification. `other`: path of the other page, which the
    asker sees too, "" where the page alone is meant; `other_id` and `other_title` likewise.
    """

    path: str
    id: str
    title: str
    reason: str
    other: str = ""
    other_id: str = ""
    other_title: str = ""


class AllContested(msgspec.Struct, frozen=True, kw_only=True):
    """`more`: there are others beyond the limit. `empty` as in `Hits`."""

    contested: tuple[Contested, ...]
    more: bool
    empty: str
    position: int


class RelationView(msgspec.Struct, frozen=True, kw_only=True):
    verb: str
    path: str
    id: str
    title: str
    knowledge: Knowledge


class FigureView(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    value: str
    unit: str
    as_of: date | None
    source: str


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """A page as its reader may see it: relations with both ends visible, sources he may open, the rest counted."""

    path: str
    id: str
    title: str
    type: str
    owner: str
    status: str
    as_of: date | None
    access: Access
    sensitivity: Reach
    knowledge: Knowledge
    trust: str
    verified: datetime | None
    review_by: datetime | None
    sources: tuple[str, ...]
    withheld: dict[str, int]
    relations: tuple[RelationView, ...]
    figures: tuple[FigureView, ...]
    text: str
    position: int
    receipt: Receipt


class AskVectors(msgspec.Struct, frozen=True, kw_only=True):
    """Have all of these bodies been embedded and projected? Answers when they have, or after `wait` seconds."""

    bodies: tuple[ContentId, ...]
    wait: float = 0.0


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """`missing`: how many of the bodies have no vectors yet."""

    missing: int
