"""What stored bodies declare, read once: a body never changes, so neither does what it says."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from approvals.domain.draft import Declared, declared
from approvals.domain.policy import Weight
from chassis.postgres import Pooled
from content.errors import ContentMissing
from content.store import ContentStore
from contracts.content import ContentRef
from contracts.enums import Access, Reach
from contracts.ids import BrainId, ContentId

T = TypeVar("T")

KEPT = 4096
"""Bodies whose declarations are kept in memory: a few builds of 900 pages, half a kilobyte each."""


class Text(msgspec.Struct, frozen=True):
    """The body of an inbox proposal."""

    title: str
    body: str
    nodes: tuple[str, ...] = ()


class Bodies:
    """Reads bodies for the fold. Erased ones read as nothing: rows then keep ids and lose words."""

    def __init__(self, store: ContentStore, brain: BrainId) -> None:
        self._store = store
        self._brain = brain
        self._pages: OrderedDict[ContentRef, Declared] = OrderedDict()
        self._paths: OrderedDict[ContentRef, str] = OrderedDict()

    async def exact(self, db: Pooled, refs: Sequence[ContentRef]) -> dict[ContentId, bytes]:
        """The stored bytes. Raises `ContentMissing`."""
        return await self._store.get(db, self._brain, refs) if refs else {}

    async def found(self, db: Pooled, refs: Sequence[ContentRef]) -> Mapping[ContentId, bytes]:
        """The stored bytes of those that are there."""
        try:
            return await self.exact(db, refs)
        except ContentMissing as missing:
            gone = set(missing.ids)
            return await self.exact(db, [ref for ref in refs if ref.id not in gone])

    async def pages(self, db: Pooled, refs: Sequence[ContentRef]) -> dict[ContentId, Declared]:
        """What these page bodies declare, by id."""
        read = {ref: self._pages[ref] for ref in refs if ref in self._pages}
        unread = [ref for ref in refs if ref not in read]
        texts = await self.found(db, unread)
        for ref in unread:
            if ref.id in texts:
                read[ref] = declared(texts[ref.id])
                self.remember(ref, read[ref])
        return {ref.id: read.get(ref, ERASED) for ref in refs}

    async def paths(self, db: Pooled, refs: Sequence[ContentRef]) -> dict[ContentId, str]:
        """The paths that these bodies hold, by id; "" for an erased one."""
        read = {ref: self._paths[ref] for ref in refs if ref in self._paths}
        unread = [ref for ref in refs if ref not in read]
        texts = await self.found(db, unread)
        for ref in unread:
            if ref.id in texts:
                read[ref] = texts[ref.id].decode()
                self.remember_path(ref, read[ref])
        return {ref.id: read.get(ref, "") for ref in refs}

    def remember(self, ref: ContentRef, page: Declared) -> None:
        """Keep what has been read, so that the projector need not read it again."""
        _keep(self._pages, ref, page)

    def remember_path(self, ref: ContentRef, path: str) -> None:
        """The same for the body of a path."""
        _keep(self._paths, ref, path)


def _keep(known: OrderedDict[ContentRef, T], ref: ContentRef, read: T) -> None:
    known[ref] = read
    while len(known) > KEPT:
        known.popitem(last=False)


ERASED = Declared(
    title="",
    digest="",
    owner=None,
    access=Access.RESTRICTED,
    reach=Reach.SEALED,
    category=None,
    domain=None,
    weight=Weight.BEDROCK,
    owner_decides=False,
    knowledge=None,
    review_days=1,
)
"""Of an erased page nothing is known, so it is held to the strictest of everything."""
