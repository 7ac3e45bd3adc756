"""The life of one capture: refused or recorded, seen by whom its source admits, withdrawn when the source drops it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from contracts.captures import Acl, CaptureAclChanged, CaptureRecorded, CaptureRefused, CaptureWithdrawn
from contracts.enums import Refusal
from contracts.errors import Refused as RuleBroken
from contracts.ids import BrainId, CaptureId, PrincipalId, derived

Event: TypeAlias = CaptureRecorded | CaptureRefused | CaptureWithdrawn | CaptureAclChanged


@dataclass(frozen=True, slots=True)
class Missing:
    """Nobody ever sent it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It was sent and not kept."""

    category: Refusal


@dataclass(frozen=True, slots=True)
class Recorded:
    """It is kept, and `acl` says whom the source admits."""

    acl: Acl


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The source holds it no more. It stays citable by those who could see it."""

    acl: Acl


State: TypeAlias = Missing | Refused | Recorded | Withdrawn


@dataclass(frozen=True, slots=True)
class Changer:
    """Who wants to change what a source holds: with all its subjects, and whether it is an admin or owner."""

    principal: PrincipalId
    subjects: frozenset[PrincipalId]
    administers: bool


def may_change(changer: Changer, filed_by: PrincipalId, acl: Acl) -> bool:
    """Whether this one may supersede, withdraw or open and close a capture; for all others it does not exist.

    Whoever filed it may. An admin or owner may where the capture admits them: no role widens what somebody sees.
    """
    if changer.principal == filed_by:
        return True
    admitted = acl.known and (acl.everyone or not changer.subjects.isdisjoint(acl.principals))
    return changer.administers and admitted


def evolve(state: State, event: Event) -> State:
    """The state after a fact."""
    match event:
        case CaptureRecorded(acl=acl):
            return Recorded(acl)
        case CaptureRefused(category=category):
            return Refused(category)
        case CaptureWithdrawn():
            assert isinstance(state, (Recorded, Withdrawn))
            return Withdrawn(state.acl)
        case CaptureAclChanged(acl=acl):
            return Withdrawn(acl) if isinstance(state, Withdrawn) else Recorded(acl)
        case _:
            assert_never(event)


def fold(history: Iterable[Event]) -> State:
    """The state after a whole history."""
    state: State = Missing()
    for event in history:
        state = evolve(state, event)
    return state


def record(state: State, recorded: CaptureRecorded) -> list[Event]:
    """Keep it. One that was refused may be kept later, when the rules have changed."""
    match state:
        case Missing() | Refused():
            return [recorded]
        case Recorded() | Withdrawn():
            return []
        case _:
            assert_never(state)


def refuse(state: State, capture: CaptureId, category: Refusal) -> list[Event]:
    """Remember that it was not kept, and why. Once is enough; what is kept already stays kept."""
    match state:
        case Missing():
            return [CaptureRefused(capture=capture, category=category)]
        case Refused() | Recorded() | Withdrawn():
            return []
        case _:
            assert_never(state)


def withdraw(state: State, capture: CaptureId) -> list[Event]:
    """The source let it go. Raises `no_such_capture`."""
    match state:
        case Recorded():
            return [CaptureWithdrawn(capture=capture)]
        case Withdrawn():
            return []
        case Missing() | Refused():
            raise _no_such_capture(capture)
        case _:
            assert_never(state)


def change_acl(state: State, capture: CaptureId, acl: Acl) -> list[Event]:
    """The source admits others now. Raises `no_such_capture`."""
    match state:
        case Recorded(before) | Withdrawn(before):
            return [] if before == acl else [CaptureAclChanged(capture=capture, acl=acl)]
        case Missing() | Refused():
            raise _no_such_capture(capture)
        case _:
            assert_never(state)


def narrows(before: Acl, after: Acl) -> bool:
    """Whether somebody who was admitted is not any more: then the fence moves with the fact."""
    if not before.known or (after.known and after.everyone):
        return False
    if before.everyone or not after.known:
        return before.everyone or bool(before.principals)
    return not set(before.principals) <= set(after.principals)


def capture_id(
    brain: BrainId, source: str, external_id: str, digest: str, supersedes: CaptureId | None, filed_by: PrincipalId
) -> CaptureId:
    """The id of one version of one thing of a source: the same bytes after the same version are the same capture.

    What two people file is never the same capture: neither learns from an id what the other has filed.

    `digest`: the SHA-256 of the bytes under a key of the brain, in hex, so that the id confirms no guess. Bytes that
    come back after others are a new capture: it supersedes those others.
    """
    before = "" if supersedes is None else supersedes
    return CaptureId(derived(brain, "capture", source, external_id, digest, before, filed_by))


def _no_such_capture(capture: CaptureId) -> RuleBroken:
    return RuleBroken("no_such_capture", "There is no such capture.", f"capture {capture}", "Record it first.")
