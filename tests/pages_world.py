"""Answers of retrieval about one page, for tests of its neighbours."""

from datetime import UTC, date, datetime
from uuid import UUID

from contracts import retrieval_messages
from contracts.enums import Access, Knowledge, Reach
from contracts.ids import PageId

AT = datetime(2026, 9, 2, 12, tzinfo=UTC)
PAGE = PageId(UUID(int=7))
NODE = f"n_{PAGE.hex}"
PATH, TITLE = "topics/ceiling.md", "Discount ceiling"
RECEIPT = retrieval_messages.Receipt(
    page=PAGE, revision=2, digest="a" * 64, approver="alice", approved_at=AT, verified_at=AT, position=9
)
_HIT = retrieval_messages.Hit(
    path=PATH,
    id=NODE,
    title=TITLE,
    heading=(TITLE,),
    text="Up to 12 %.",
    trust="canon_verified",
    score=1.5,
    receipt=RECEIPT,
)
HITS = retrieval_messages.Hits(hits=(_HIT, _HIT), trust="canon_verified", empty="", degraded=(), position=9)
FOUND = retrieval_messages.PageHits(
    pages=(retrieval_messages.PageHit(path=PATH, id=NODE, title=TITLE, type="topic", trust="canon_verified"),),
    empty="",
    position=9,
)
VIEW = retrieval_messages.PageView(
    path=PATH,
    id=NODE,
    title=TITLE,
    type="topic",
    owner="alice",
    status="live",
    as_of=date(2026, 9, 2),
    access=Access.DEPARTMENT,
    sensitivity=Reach.ORDINARY,
    knowledge=Knowledge.VERIFIED,
    trust="canon_verified",
    verified=AT,
    review_by=AT,
    sources=("gdrive/msa",),
    withheld={"slack": 2},
    relations=(),
    figures=(),
    text="x" * 60_000,
    position=9,
    receipt=RECEIPT,
)
