"""What approvals is asked over NATS."""

from datetime import datetime

import msgspec

from contracts.content import ContentRef
from contracts.enums import Origin, PageAction, ProposalKind, Reason, Verdict
from contracts.ids import BuildId, CommandId, PageId, PrincipalId, ProposalId

SUBMIT_PAGE = "cmd.approvals.submit_page"
OPEN_BUILD = "cmd.approvals.open_build"
WRITE_PAGES = "cmd.approvals.write_pages"
SUBMIT_BUILD = "cmd.approvals.submit_build"
SUBMIT_TEXT = "cmd.approvals.submit_text"
RAISE_REVIEW = "cmd.approvals.raise_review"
DECIDE = "cmd.approvals.decide"
WITHDRAW = "cmd.approvals.withdraw"
PROPOSALS = "ask.approvals.proposals"
PROPOSAL = "ask.approvals.proposal"
LIVE_PAGES = "ask.approvals.live_pages"


class PageWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it should become. `body` is already in the content store, `path` is canonical.

    approvals finds the live page at that path: none means a new page, else an edit against its live revision. A page
    that carries the id of a live page elsewhere is moved here. Only the end of a page has to be named.
    """

    path: str
    body: ContentRef
    action: PageAction = PageAction.EDIT


class SubmitPage(msgspec.Struct, frozen=True, kw_only=True):
    """Suggest one page. `author` may be a service (the importer), then `runner` is the person who ran it."""

    command: CommandId
    author: PrincipalId
    runner: PrincipalId | None
    origin: Origin
    write: PageWrite


class OpenBuild(msgspec.Struct, frozen=True, kw_only=True):
    """`build` is chosen by the caller (a uuid5 of its cause), so that asking twice is quiet."""

    command: CommandId
    build: BuildId
    author: PrincipalId
    runner: PrincipalId
    origin: Origin


class WritePages(msgspec.Struct, frozen=True, kw_only=True):
    """Write up to 250 pages on a branch; a page written again is replaced. At most 900 pages a build."""

    command: CommandId
    build: BuildId
    author: PrincipalId
    writes: tuple[PageWrite, ...]


class SubmitBuild(msgspec.Struct, frozen=True, kw_only=True):
    command: CommandId
    build: BuildId
    author: PrincipalId


class SubmitText(msgspec.Struct, frozen=True, kw_only=True):
    """An observation, correction, proposal or work output: title 3-120 characters, body 10-4000, at most 10 nodes."""

    command: CommandId
    author: PrincipalId
    origin: Origin
    kind: ProposalKind
    title: str
    body: str
    nodes: tuple[str, ...] = ()


class RaiseReview(msgspec.Struct, frozen=True, kw_only=True):
    """The review window of a page passed at `due`. Raised once per page and `due`."""

    page: PageId
    due: datetime


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    proposal: ProposalId
    position: int
    archived: bool


class Decide(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on exactly what `ProposalLine.digest` covers. A retry carries the same `command`."""

    command: CommandId
    by: PrincipalId
    proposal: ProposalId
    verdict: Verdict
    digest: str | None = None
    reason: Reason | None = None
    note: str = ""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """`outcome` is None while the policy wants more approvers; `vectors` False: the pages landed words-only."""

    position: int
    archived: bool
    outcome: str | None
    vectors: bool = True


class Withdraw(msgspec.Struct, frozen=True, kw_only=True):
    command: CommandId
    by: PrincipalId
    proposal: ProposalId


class AskProposals(msgspec.Struct, frozen=True, kw_only=True):
    """Open proposals that `by` may see. `after`: cursor of the page before, "" for the first."""

    by: PrincipalId
    after: str = ""
    limit: int = 200


CONFIRM = "confirm"
"""What a review does, in a listing; the other words there are those of `PageAction`."""


def listing_line(action: str, base: int, digest: str, path: str) -> str:
    """What would happen to one page, as a line that is hashed: `deprecate 3 <SHA-256 of the page's bytes> topics/a.md`.

    `base`: the live revision that is replaced, ended or confirmed, 0 for a new page. A path has no spaces.
    """
    return f"{action} {base} {digest} {path}\n"


class ProposalLine(msgspec.Struct, frozen=True, kw_only=True):
    """`change`: what an approval does, in words ("new page", "end of page (revision 3)", "12 new, 3 edits, 30 ends").

    `digest` is what a person decides on. Of a new page, an edit or a text it is SHA-256 (hex) of exactly the stored
    bytes. Of everything else it is that of a listing: `listing_line` of every page concerned, sorted. `listing` is that
    text for a single page; for a build it follows from the pages of the view. `actions`: how many pages of each.
    `needs`: what is still wanted, in words ("one approver with approve on its path").
    """

    id: ProposalId
    kind: ProposalKind
    title: str
    path: str
    change: str
    digest: str
    base: int
    origin: Origin
    proposer: str
    waiting_since: datetime
    needs: str
    pages: int = 1
    actions: dict[PageAction, int] = {}
    listing: str = ""


class ProposalLines(msgspec.Struct, frozen=True, kw_only=True):
    proposals: tuple[ProposalLine, ...]
    next: str
    position: int


class AskProposal(msgspec.Struct, frozen=True, kw_only=True):
    """One proposal, as `by` may see it. `page`: which page of a build to show, None for the list of them."""

    by: PrincipalId
    proposal: ProposalId
    page: PageId | None = None


class ProposedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page as proposed. `digest`: SHA-256 (hex) of its stored bytes; `base`: the live revision then, 0 for none."""

    page: PageId
    path: str
    title: str
    action: PageAction
    base: int
    digest: str


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """Who has decided how."""

    reviewer: str
    verdict: Verdict


class ProposalView(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal in full. `state`: open, approved, rejected or withdrawn; `may_decide`: as far as rights go.

    `body`: the exact stored bytes (base64 on the wire) of the page asked for, of the only page, or of the text.
    """

    line: ProposalLine
    state: str
    may_decide: bool
    ballots: tuple[Ballot, ...]
    pages: tuple[ProposedPage, ...]
    body: bytes


class AskLivePages(msgspec.Struct, frozen=True, kw_only=True):
    """Which of these paths hold a live page, and with which body?"""

    paths: tuple[str, ...]


class LivePage(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    page: PageId
    revision: int
    body: ContentRef


class LivePages(msgspec.Struct, frozen=True, kw_only=True):
    pages: tuple[LivePage, ...]
