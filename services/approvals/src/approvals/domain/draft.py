"""Pages as decisions see them: what stored bytes declare, what is proposed, what is live."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from access.rule import PageClass
from approvals.domain.page import State
from approvals.domain.policy import Weight
from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, Reach
from contracts.ids import PageId, PrincipalId
from contracts.proposals import PageDraft
from corpus import page as corpus_page


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page's bytes say of themselves. `knowledge` None: they do not say.

    `digest` is the SHA-256 (hex) of the bytes, which is what a reviewer is shown and decides on. `id` is the page's
    own, where the bytes carry one.
    """

    title: str
    digest: str
    owner: str | None
    access: Access
    reach: Reach
    category: str | None
    domain: str | None
    weight: Weight
    owner_decides: bool
    knowledge: Knowledge | None
    review_days: int
    id: str | None = None

    def placed(self, path: str) -> PageClass:
        """What the one rule asks of a page that stands at `path` and declares this."""
        return PageClass(path, self.access, self.reach, self.category, self.domain)


@dataclass(frozen=True, slots=True)
class Draft:
    """A page as proposed, with its canonical path."""

    draft: PageDraft
    path: str
    declared: Declared

    @property
    def placed(self) -> PageClass:
        """What the one rule asks of the page as it would become."""
        return self.declared.placed(self.path)


@dataclass(frozen=True, slots=True)
class Known:
    """A page of the fold: its state, the position it was folded to, and what its live revision declares."""

    page: PageId
    state: State
    source_seq: int
    path: str
    title: str
    body: ContentRef
    path_ref: ContentRef
    owner: PrincipalId
    placed: PageClass
    weight: Weight
    owner_decides: bool


def declared(body: bytes) -> Declared:
    """Read a page's bytes. Raises `corpus.errors.Malformed`."""
    front = corpus_page.parse(body).front
    return Declared(
        title=front.title,
        digest=digest(body),
        owner=front.owner,
        access=Access(front.access.value),
        reach=Reach(front.sensitivity.value),
        category=front.category,
        domain=front.domain,
        weight=Weight(front.criticality.value),
        owner_decides=front.change_policy is corpus_page.ChangePolicy.OWNER,
        knowledge=None if front.knowledge is None else Knowledge(front.knowledge.value),
        review_days=front.review_days,
        id=front.id,
    )


def digest(body: bytes) -> str:
    """The digest that is shown and posted back: SHA-256 of the stored bytes, in hex."""
    return hashlib.sha256(body).hexdigest()


def listing_digest(pages: Iterable[tuple[str, str]]) -> str:
    """The digest of a build: SHA-256 over its listing, a line for each page with its path, NUL and its own digest."""
    lines = sorted(f"{path}\0{body_digest}\n" for path, body_digest in pages)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
