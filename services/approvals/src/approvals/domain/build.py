"""The life of one build: a branch of page writes that is open, waits as one proposal, then lands whole or never."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from contracts.errors import Refused
from contracts.ids import BuildId, PageId, PrincipalId, ProposalId
from contracts.proposals import BuildAbandoned, BuildOpened, BuildPageWritten, BuildPromoted, BuildSubmitted, PageDraft

Event: TypeAlias = BuildOpened | BuildPageWritten | BuildSubmitted | BuildPromoted | BuildAbandoned

PAGES = 900
"""Pages of one build at most (domain rule): its promotion is one atomic batch, which holds 1000 facts."""


@dataclass(frozen=True, slots=True)
class Missing:
    """It was never opened."""


@dataclass(frozen=True, slots=True)
class Open:
    """Pages may be written to it."""

    opened: BuildOpened
    drafts: Mapping[PageId, PageDraft]


@dataclass(frozen=True, slots=True)
class Submitted:
    """It waits for a decision."""

    opened: BuildOpened
    drafts: Mapping[PageId, PageDraft]
    proposal: ProposalId


@dataclass(frozen=True, slots=True)
class Ended:
    """It landed, or never will."""

    opened: BuildOpened
    landed: bool


State: TypeAlias = Missing | Open | Submitted | Ended


def evolve(state: State, event: Event) -> State:
    """The state after a fact."""
    match event:
        case BuildOpened():
            return Open(event, {})
        case BuildPageWritten():
            assert isinstance(state, Open)
            return replace(state, drafts={**state.drafts, event.draft.page: event.draft})
        case BuildSubmitted():
            assert isinstance(state, Open)
            return Submitted(state.opened, state.drafts, event.proposal)
        case BuildPromoted():
            assert isinstance(state, Submitted)
            return Ended(state.opened, landed=True)
        case BuildAbandoned():
            assert isinstance(state, (Open, Submitted))
            return Ended(state.opened, landed=False)
        case _:
            assert_never(event)


def fold(history: Iterable[Event]) -> State:
    """The state after a whole history."""
    state: State = Missing()
    for event in history:
        state = evolve(state, event)
    return state


def open_build(state: State, opened: BuildOpened) -> list[Event]:
    """Begin a branch. The same beginning again is quiet. Raises `build_exists`."""
    if isinstance(state, Missing):
        return [opened]
    if state.opened == opened:
        return []
    raise Refused("build_exists", "This build was opened by somebody else.", f"build {opened.build}", "Open another.")


def write(state: State, build: BuildId, by: PrincipalId, drafts: Sequence[PageDraft]) -> list[Event]:
    """Put pages on the branch; a page written again is replaced, and one that stands so already is quiet.

    Raises `no_such_build` (also to anybody but the principal it was opened for), `build_closed`, `build_full`.
    """
    standing = _open(state, by).drafts
    written = {draft.page: draft for draft in drafts}
    if len(standing.keys() | written.keys()) > PAGES:
        raise Refused(
            "build_full",
            f"A build holds at most {PAGES} pages.",
            f"build {build}",
            "Submit this one and open another for the rest.",
        )
    return [
        BuildPageWritten(build=build, draft=draft) for page, draft in written.items() if standing.get(page) != draft
    ]


def submit(state: State, by: PrincipalId, submitted: BuildSubmitted) -> list[Event]:
    """Close the branch and let it wait as a proposal. Raises as `write` does, and `build_empty`."""
    if isinstance(state, Submitted) and state.proposal == submitted.proposal and state.opened.principal == by:
        return []
    if not _open(state, by).drafts:
        raise Refused("build_empty", "Nothing is written on this build.", f"build {submitted.build}", "Write pages.")
    return [submitted]


def promote(state: State, build: BuildId) -> list[Event]:
    """The branch lands. Raises `build_closed` where it does not wait for that."""
    match state:
        case Submitted():
            return [BuildPromoted(build=build, pages=len(state.drafts))]
        case Ended(landed=True):
            return []
        case Missing() | Open() | Ended():
            raise build_closed(build)
        case _:
            assert_never(state)


def abandon(state: State, build: BuildId) -> list[Event]:
    """The branch will never land. Raises `build_closed` where it has landed."""
    match state:
        case Open() | Submitted():
            return [BuildAbandoned(build=build)]
        case Ended(landed=False):
            return []
        case Missing() | Ended():
            raise build_closed(build)
        case _:
            assert_never(state)


def _open(state: State, by: PrincipalId) -> Open:
    match state:
        case Open(opened) | Submitted(opened) | Ended(opened) if opened.principal != by:
            raise no_such_build()
        case Open():
            return state
        case Submitted(opened) | Ended(opened):
            raise build_closed(opened.build)
        case _:
            raise no_such_build()


def no_such_build() -> Refused:
    """The same words whether there is none or it is somebody else's (features: K8)."""
    return Refused("no_such_build", "There is no such build.", "build", "Open one.")


def build_closed(build: BuildId) -> Refused:
    """It was submitted, landed or abandoned."""
    return Refused("build_closed", "This build is closed.", f"build {build}", "Open another.")
