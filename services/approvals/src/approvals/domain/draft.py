"""Pages as decisions see them: what stored bytes declare, what is proposed, what is live, what is decided on."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from access.rule import PageClass
from approvals.domain.page import Live, State
from approvals.domain.policy import Weight
from contracts.approvals_messages import CONFIRM, listing_line
from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, PageAction, ProposalKind, Reach
from contracts.ids import ContentId, PageId, PrincipalId
from contracts.proposals import PageDraft
from corpus import page as corpus_page


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page's bytes say of themselves. `knowledge` None: they do not say.

    `digest` is the SHA-256 (hex) of the bytes. `id` is the page's own, where the bytes carry one.
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


@dataclass(frozen=True, slots=True)
class Change:
    """What an approval would do to one page. `does`: the word of an action, or that of a review.

    `base`: the live revision that it replaces, ends or confirms, 0 for none. `digest`: SHA-256 (hex) of the page's
    bytes, "" where they are gone.
    """

    does: str
    base: int
    path: str
    digest: str


def changes(drafts: Iterable[Draft], reviewed: Known | None, digests: Mapping[ContentId, str]) -> tuple[Change, ...]:
    """Everything that an approval would do. `reviewed`: the page that a review asks about; `digests`: of the bytes."""
    found = [
        Change(one.draft.action.value, one.draft.base, one.path, digests.get(one.draft.body.id, "")) for one in drafts
    ]
    if reviewed is not None and isinstance(reviewed.state, Live):
        found.append(Change(CONFIRM, reviewed.state.revision, reviewed.path, digests.get(reviewed.body.id, "")))
    return tuple(found)


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
    """SHA-256 of stored bytes, in hex."""
    return hashlib.sha256(body).hexdigest()


def listing(kind: ProposalKind, concerned: Sequence[Change]) -> str:
    """The text that is hashed for a reviewer where the bytes alone do not say what will happen, "" where they do.

    They do for one new page and for one edit in place. A build, a move, the end of a page and a review are told with a
    line for each page, sorted.
    """
    if kind is ProposalKind.PAGE and all(one.does in _TOLD_BY_BYTES for one in concerned):
        return ""
    return "".join(sorted(listing_line(one.does, one.base, one.digest, one.path) for one in concerned))


def shown_digest(kind: ProposalKind, concerned: Sequence[Change]) -> str:
    """The digest that a reviewer is shown and posts back: of exactly what is stored and of what will happen.

    SHA-256 of the page's bytes, or of the listing where there is one; "" where bytes are gone. No page reads as a
    listing, since it begins with its frontmatter.
    """
    if not concerned or not all(one.digest for one in concerned):
        return ""
    listed = listing(kind, concerned)
    return digest(listed.encode()) if listed else concerned[0].digest


_TOLD_BY_BYTES = frozenset({PageAction.CREATE.value, PageAction.EDIT.value})
