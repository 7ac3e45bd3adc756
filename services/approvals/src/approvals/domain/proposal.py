"""The life of one proposal: open, voted on, closed once.

A vote remembers the command that cast it: the same command again is quiet, and any other decision on a closed
proposal is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from approvals.domain.policy import Requirement
from contracts.content import ContentRef
from contracts.enums import Outcome, Reason, Verdict
from contracts.errors import Refused
from contracts.ids import CommandId, PrincipalId, ProposalId
from contracts.proposals import ProposalDecided, ProposalResolved, ProposalSubmitted, ProposalWithdrawn

Event: TypeAlias = ProposalSubmitted | ProposalDecided | ProposalResolved | ProposalWithdrawn


@dataclass(frozen=True, slots=True)
class Vote:
    """A verdict of a named person, and the command that it came by."""

    reviewer: PrincipalId
    verdict: Verdict
    command: CommandId


@dataclass(frozen=True, slots=True)
class Missing:
    """Nobody suggested it."""


@dataclass(frozen=True, slots=True)
class Open:
    """It waits for a decision."""

    submitted: ProposalSubmitted
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolved:
    """It was decided, one way or the other."""

    submitted: ProposalSubmitted
    votes: tuple[Vote, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Its author took it back."""

    submitted: ProposalSubmitted
    votes: tuple[Vote, ...]


State: TypeAlias = Missing | Open | Resolved | Withdrawn


@dataclass(frozen=True, slots=True)
class Ballot:
    """A verdict as it is sent: by whom, on which shown digest (None: none was shown), why."""

    command: CommandId
    reviewer: PrincipalId
    verdict: Verdict
    digest: str | None = None
    reason: Reason | None = None
    note: ContentRef | None = None


def evolve(state: State, event: Event, command: CommandId) -> State:
    """The state after a fact of the history that `command` led to."""
    match event:
        case ProposalSubmitted():
            return Open(event)
        case ProposalDecided():
            assert isinstance(state, Open)
            return replace(state, votes=(*state.votes, Vote(event.reviewer, event.verdict, command)))
        case ProposalResolved():
            assert isinstance(state, Open)
            return Resolved(state.submitted, state.votes, event.outcome)
        case ProposalWithdrawn():
            assert isinstance(state, Open)
            return Withdrawn(state.submitted, state.votes)
        case _:
            assert_never(event)


def fold(history: Iterable[tuple[Event, CommandId]]) -> State:
    """The state after a whole history."""
    state: State = Missing()
    for event, command in history:
        state = evolve(state, event, command)
    return state


def submit(state: State, proposed: ProposalSubmitted) -> list[Event]:
    """Suggest a change. The same suggestion again is quiet, whatever became of it."""
    match state:
        case Missing():
            return [proposed]
        case Open(submitted) | Resolved(submitted) | Withdrawn(submitted):
            if submitted == proposed:
                return []
            raise proposal_exists(proposed.proposal)
        case _:
            assert_never(state)


def decide(
    state: State,
    ballot: Ballot,
    *,
    stored: str,
    requirement: Requirement,
    standing: frozenset[PrincipalId],
    moved: bool = False,
) -> list[Event]:
    """Cast a vote on exactly what the digest `stored` covers; the last one that the policy wants resolves it.

    One rejection closes a proposal. `standing`: who of the earlier voters may still decide; only their approvals count.
    `moved`: what is stored may be another than what earlier votes bound to.
    Raises `already_decided`, `command_reused`, `withdrawn`, `digest_mismatch`, `digest_missing`, `reason_missing`,
    `note_missing`, `self_approval`, `no_such_proposal`.
    """
    match state:
        case Missing():
            raise no_such_proposal()
        case Open(submitted, votes) | Resolved(submitted, votes) | Withdrawn(submitted, votes):
            cast = next((vote for vote in votes if vote.command == ballot.command), None)
            if cast is not None:
                _check_same(cast, ballot, "" if moved else stored)
                return []
        case _:
            assert_never(state)
    if isinstance(state, Withdrawn):
        raise already_withdrawn(submitted.proposal)
    if isinstance(state, Resolved) or any(vote.reviewer == ballot.reviewer for vote in votes):
        raise already_decided(submitted.proposal)
    _check_digest(ballot, stored, submitted.proposal)
    decided = ProposalDecided(
        proposal=submitted.proposal,
        reviewer=ballot.reviewer,
        verdict=ballot.verdict,
        reason=ballot.reason,
        note=ballot.note,
    )
    if ballot.verdict is Verdict.REJECT:
        _check_reason(ballot)
        return [decided, ProposalResolved(proposal=submitted.proposal, outcome=Outcome.REJECTED)]
    if ballot.reviewer == submitted.author and not requirement.self_approval:
        raise Refused(
            "self_approval",
            "Nobody approves a proposal of their own.",
            f"proposal {submitted.proposal}",
            "Ask another member who holds approve on it.",
        )
    if len(approvers(votes) & standing) + 1 < requirement.approvals:
        return [decided]
    return [decided, ProposalResolved(proposal=submitted.proposal, outcome=Outcome.APPROVED)]


def withdraw(state: State, by: PrincipalId) -> list[Event]:
    """Take a proposal back; its author, or the person who ran the importer that wrote it."""
    match state:
        case Missing():
            raise no_such_proposal()
        case Withdrawn(submitted) if _is_behind(submitted, by):
            return []
        case Open(submitted) if _is_behind(submitted, by):
            return [ProposalWithdrawn(proposal=submitted.proposal)]
        case Open() | Withdrawn():
            raise Refused(
                "forbidden",
                "Only its author takes a proposal back.",
                f"proposal {state.submitted.proposal}",
                "Reject it instead, where you may decide on it.",
            )
        case Resolved(submitted):
            raise already_decided(submitted.proposal)
        case _:
            assert_never(state)


def approvers(votes: Iterable[Vote]) -> frozenset[PrincipalId]:
    """Who has approved."""
    return frozenset(vote.reviewer for vote in votes if vote.verdict is Verdict.APPROVE)


def _is_behind(submitted: ProposalSubmitted, by: PrincipalId) -> bool:
    return by in {submitted.author, submitted.runner}


def _check_same(cast: Vote, ballot: Ballot, bound: str) -> None:
    """`bound`: the digest that the vote was cast on, "" where it is not known any more. Raises `command_reused`."""
    if (cast.reviewer, cast.verdict) != (ballot.reviewer, ballot.verdict):
        raise command_reused()
    if cast.verdict is Verdict.APPROVE and (ballot.digest is None or ballot.digest != (bound or ballot.digest)):
        raise command_reused()


def _check_reason(ballot: Ballot) -> None:
    if ballot.reason is None:
        remedy = "Give one of wrong, duplicate, not_canon_worthy, bad_draft, other."
        raise Refused("reason_missing", "A rejection needs a reason.", "reason", remedy)
    if ballot.reason is Reason.OTHER and ballot.note is None:
        raise Refused("note_missing", "The reason 'other' needs a note.", "note", "Say in a few words why.")


def _check_digest(ballot: Ballot, stored: str, proposal: ProposalId) -> None:
    if ballot.digest is not None and not stored:
        what, remedy = "The stored bytes of this proposal are gone.", "Propose the change anew."
        raise Refused("content_missing", what, f"proposal {proposal}", remedy)
    if ballot.digest is None:
        if ballot.verdict is Verdict.REJECT:
            return
        raise Refused(
            "digest_missing",
            "An approval binds to what was read, so it needs its digest.",
            "digest",
            "Read the proposal and send the digest that it shows.",
        )
    if ballot.digest != stored:
        raise Refused(
            "digest_mismatch",
            "The digest is not that of what is proposed.",
            f"proposal {proposal}",
            "Read the proposal as it stands and decide on the digest that it shows.",
        )


def no_such_proposal() -> Refused:
    """The same words whether there is none or the asker may not know of it."""
    return Refused("no_such_proposal", "There is no such proposal.", "proposal", "List the proposals that wait.")


def proposal_exists(proposal: ProposalId) -> Refused:
    """The id is taken by another suggestion."""
    return Refused(
        "proposal_exists",
        "This command has already suggested something else.",
        f"proposal {proposal}",
        "Send another suggestion as another command.",
    )


def already_decided(proposal: ProposalId) -> Refused:
    """The proposal, or this person's part in it, is decided."""
    return Refused(
        "already_decided",
        "This proposal has already been decided.",
        f"proposal {proposal}",
        "Propose the change anew if it is still wanted.",
    )


def command_reused() -> Refused:
    """A retry says what was said the first time, or it is not one."""
    return Refused("command_reused", "This command id was used for something else.", "command", "Send a new one.")


def already_withdrawn(proposal: ProposalId) -> Refused:
    """The author was quicker."""
    return Refused(
        "withdrawn", "Its author took this proposal back.", f"proposal {proposal}", "There is nothing to do."
    )
