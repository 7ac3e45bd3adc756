"""The life of one page: which revision is live, since when it counts as verified, and when it ceased to be live."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, assert_never

from contracts.content import ContentRef
from contracts.enums import Access, Knowledge, Reach
from contracts.errors import Refused
from contracts.ids import PageId, PrincipalId, ProposalId
from contracts.proposals import PageDeprecated, PageDraft, PagePromoted, PageVerified, PageWentStale

Event: TypeAlias = PagePromoted | PageVerified | PageWentStale | PageDeprecated


@dataclass(frozen=True, slots=True)
class Missing:
    """No revision was ever live."""


@dataclass(frozen=True, slots=True)
class Live:
    """A revision is live. `stale_since`: the due date for which a review has been raised, None while none is."""

    revision: int
    body: ContentRef
    proposal: ProposalId
    knowledge: Knowledge
    review_days: int
    verified_at: datetime | None = None
    stale_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Deprecated:
    """It was live once."""

    revision: int
    proposal: ProposalId


State: TypeAlias = Missing | Live | Deprecated


@dataclass(frozen=True, slots=True)
class Landing:
    """What an approved draft brings beside its bytes: where it lands, whose it is, and its class."""

    owner: PrincipalId
    access: Access
    reach: Reach
    knowledge: Knowledge
    review_days: int


def evolve(state: State, event: Event) -> State:
    """The state after a fact."""
    match event:
        case PagePromoted():
            return Live(
                event.revision,
                event.body,
                event.proposal,
                event.knowledge,
                event.review_days,
                state.verified_at if isinstance(state, Live) else None,
                state.stale_since if isinstance(state, Live) else None,
            )
        case PageVerified():
            assert isinstance(state, Live)
            return replace(state, verified_at=event.at, stale_since=None)
        case PageWentStale():
            assert isinstance(state, Live)
            return replace(state, stale_since=event.due)
        case PageDeprecated():
            return Deprecated(event.revision, event.proposal)
        case _:
            assert_never(event)


def fold(history: Iterable[Event]) -> State:
    """The state after a whole history."""
    state: State = Missing()
    for event in history:
        state = evolve(state, event)
    return state


def promote(
    state: State, draft: PageDraft, landing: Landing, *, proposal: ProposalId, approver: PrincipalId, now: datetime
) -> list[Event]:
    """Make an approved draft the live revision. Quiet where this proposal is what is live already.

    A first promotion counts as verification by its decider where the page claims to be verified; an edit never does
    (domain rule). Raises `base_moved`.
    """
    if isinstance(state, Live) and state.proposal == proposal:
        return []
    base = _base(state, draft)
    promoted = PagePromoted(
        page=draft.page,
        revision=base + 1,
        body=draft.body,
        path=draft.path,
        owner=landing.owner,
        access=landing.access,
        reach=landing.reach,
        knowledge=landing.knowledge,
        review_days=landing.review_days,
        proposal=proposal,
        approver=approver,
    )
    if isinstance(state, Missing) and landing.knowledge is Knowledge.VERIFIED:
        return [promoted, PageVerified(page=draft.page, revision=base + 1, by=approver, at=now)]
    return [promoted]


def deprecate(state: State, draft: PageDraft, *, proposal: ProposalId, approver: PrincipalId) -> list[Event]:
    """End a page's life. Quiet where this proposal has done so. Raises `base_moved`."""
    if isinstance(state, Deprecated) and state.proposal == proposal:
        return []
    if not isinstance(state, Live):
        raise base_moved(draft.page)
    revision = _base(state, draft)
    return [PageDeprecated(page=draft.page, revision=revision, proposal=proposal, approver=approver)]


def verify(state: State, page: PageId, *, by: PrincipalId, now: datetime) -> list[Event]:
    """A person holds the live revision true. Raises `no_such_page` where none is live."""
    if not isinstance(state, Live):
        raise no_such_page()
    if state.verified_at == now:
        return []
    return [PageVerified(page=page, revision=state.revision, by=by, at=now)]


def go_stale(state: State, page: PageId, due: datetime) -> list[Event]:
    """The review window passed at `due`. Quiet where that has been said. Raises `no_such_page`."""
    if not isinstance(state, Live):
        raise no_such_page()
    if state.stale_since == due:
        return []
    return [PageWentStale(page=page, due=due)]


def _base(state: State, draft: PageDraft) -> int:
    """The revision that a draft stands on, which must be the live one."""
    match state:
        case Missing():
            base = 0
        case Live(revision):
            base = revision
        case Deprecated():
            raise base_moved(draft.page)
        case _:
            assert_never(state)
    if draft.base != base:
        raise base_moved(draft.page)
    return base


def base_moved(page: PageId) -> Refused:
    """Another revision became live since the draft was made."""
    return Refused(
        "base_moved",
        "The page has changed since this was proposed.",
        f"page {page}",
        "Propose the change again, against the revision that is live now.",
    )


def no_such_page() -> Refused:
    """The same words whether there is none or the asker may not see it."""
    return Refused("no_such_page", "There is no such page.", "page", "Look for it by its title or path.")
