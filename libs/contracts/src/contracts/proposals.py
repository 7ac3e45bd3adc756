"""What approvals says: the lives of proposals, builds and pages."""

from datetime import datetime

import msgspec

from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, Origin, Outcome, PageAction, ProposalKind, Reach, Reason, Verdict
from contracts.ids import BuildId, PageId, PrincipalId, ProposalId


class PageDraft(msgspec.Struct, frozen=True, kw_only=True):
    """One page as proposed. `body`: the exact bytes; `path`: a text body with the canonical path.

    `base` is the revision number that the draft was made against, 0 for a new page.
    `previous` is the body of that revision, so that only what changed is embedded again.
    """

    page: PageId
    action: PageAction
    base: int
    body: ContentRef
    path: ContentRef
    previous: ContentRef | None = None


class ProposalSubmitted(msgspec.Struct, frozen=True, kw_only=True):
    """A change was suggested, stored whole.

    kind page: `draft` is set. kind build: `build` and `pages` (how many). kind review: `page` and `due`.
    C's inbox kinds: `text` is a JSON body {"title", "body", "nodes"}. `runner` is the person who ran an importer.
    """

    proposal: ProposalId
    kind: ProposalKind
    origin: Origin
    author: PrincipalId
    runner: PrincipalId | None = None
    draft: PageDraft | None = None
    build: BuildId | None = None
    pages: int = 0
    page: PageId | None = None
    due: datetime | None = None
    text: ContentRef | None = None


class ProposalDecided(msgspec.Struct, frozen=True, kw_only=True):
    """A named person gave a verdict on exactly the stored bytes. `note` is a text body."""

    proposal: ProposalId
    reviewer: PrincipalId
    verdict: Verdict
    reason: Reason | None = None
    note: ContentRef | None = None


class ProposalResolved(msgspec.Struct, frozen=True, kw_only=True):
    """The policy is satisfied, one way or the other: the proposal is closed."""

    proposal: ProposalId
    outcome: Outcome


class ProposalWithdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """Its author took it back."""

    proposal: ProposalId


class BuildOpened(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of many page writes began, for a principal, run by a person."""

    build: BuildId
    principal: PrincipalId
    runner: PrincipalId
    origin: Origin


class BuildPageWritten(msgspec.Struct, frozen=True, kw_only=True):
    """A page stands on the branch like this now."""

    build: BuildId
    draft: PageDraft


class BuildSubmitted(msgspec.Struct, frozen=True, kw_only=True):
    """The branch is closed for writing and waits for a decision, as this proposal."""

    build: BuildId
    proposal: ProposalId


class BuildPromoted(msgspec.Struct, frozen=True, kw_only=True):
    """The branch landed, whole."""

    build: BuildId
    pages: int


class BuildAbandoned(msgspec.Struct, frozen=True, kw_only=True):
    """The branch will never land."""

    build: BuildId


class PagePromoted(msgspec.Struct, frozen=True, kw_only=True):
    """A revision became live: which bytes, where, by whom, on which proposal.

    `owner` is the member or group that the bytes name. `access` and `reach` are the page's class from now on;
    `review_days` is its review window in days.
    """

    page: PageId
    revision: int
    body: ContentRef
    path: ContentRef
    owner: PrincipalId
    access: Access
    reach: Reach
    knowledge: Knowledge
    review_days: int
    proposal: ProposalId
    approver: PrincipalId


class PageVerified(msgspec.Struct, frozen=True, kw_only=True):
    """A person held the page true at `at`; its review window starts again."""

    page: PageId
    revision: int
    by: PrincipalId
    at: datetime


class PageWentStale(msgspec.Struct, frozen=True, kw_only=True):
    """The review window of a page has passed; `due` is when it did. Readers compute staleness themselves."""

    page: PageId
    due: datetime


class PageDeprecated(msgspec.Struct, frozen=True, kw_only=True):
    """The page is no longer live."""

    page: PageId
    revision: int
    proposal: ProposalId
    approver: PrincipalId


Event = (
    ProposalSubmitted
    | ProposalDecided
    | ProposalResolved
    | ProposalWithdrawn
    | BuildOpened
    | BuildPageWritten
    | BuildSubmitted
    | BuildPromoted
    | BuildAbandoned
    | PagePromoted
    | PageVerified
    | PageWentStale
    | PageDeprecated
)
