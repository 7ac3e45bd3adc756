"""Turns: one decision at a time for a brain, several independent ones in one atomic batch where they wait together."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from approvals.commands import vectors
from approvals.commands.company import Company
from approvals.desk import ATTEMPTS, Desk
from approvals.domain import decision, proposal
from approvals.domain.decision import FACTS, Case, Ruling
from approvals.domain.proposal import Ballot
from approvals.ledger import cases, loading
from chassis.postgres import transaction
from contracts.enums import Outcome, PageAction
from contracts.errors import Refused, Unavailable
from contracts.ids import CommandId, ContentId, ProposalId
from contracts.proposals import PagePromoted
from eventlog.log import Append, Conflict

TOGETHER = 16
"""Decisions of one batch at most: beyond it a batch grows slower than what it saves."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision that stands: the position of its last fact, and what became of the proposal (None: still open).

    `archived` tells whether the second copy is durable; those that landed together share it. `before`: what an earlier
    sending of the same command made live.
    """

    position: int
    outcome: Outcome | None
    archived: "asyncio.Future[bool]"
    before: tuple[ContentId, ...] = ()


@dataclass(frozen=True, slots=True)
class Waits:
    """A decision that would land, once these bodies can be found by meaning."""

    bodies: tuple[ContentId, ...]


@dataclass(slots=True)
class Motion:
    """A ballot that waits for its turn. `vectors`: whether what it lands can be found by meaning, None: not known."""

    proposal: ProposalId
    ballot: Ballot
    vectors: bool | None = None
    settled: "asyncio.Future[Settled | Waits]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


@dataclass(frozen=True, slots=True)
class Ruled:
    """A motion with the ruling on it."""

    motion: Motion
    case: Case
    ruling: Ruling
    at: datetime

    @property
    def bodies(self) -> tuple[ContentId, ...]:
        """What would become live by it."""
        return tuple(fact.body.id for _, fact in self.ruling.said if isinstance(fact, PagePromoted))


class Turns:
    """Gives each motion its turn."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[Motion] = []
        self._turn = asyncio.Lock()
        self._company = Company()

    async def take(self, motion: Motion) -> Settled | Waits:
        """Wait for the turn of a motion, and take those that wait with it along."""
        self._waiting.append(motion)
        self._company.came(len(self._waiting))
        async with self._turn:
            if not motion.settled.done():
                await self._company.gathered(len(self._waiting))
                group, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
                if motion not in group:  # more wait than fit: those in front first, this one with them
                    self._waiting.remove(motion)
                    group.append(motion)
                await asyncio.shield(asyncio.ensure_future(self._settle(group)))
                self._company.went(min(TOGETHER, len(group) + len(self._waiting)))
        return await motion.settled

    async def _settle(self, group: Sequence[Motion]) -> None:
        """Settle every motion of a group, one way or the other."""
        try:
            await self._attempt(group)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            for motion in group:
                if not motion.settled.done():
                    motion.settled.set_exception(error)

    async def _attempt(self, group: Sequence[Motion]) -> None:
        conflicts, left = 0, list(group)
        while left:
            try:
                left = await self._decide(left)
            except Conflict as conflict:
                conflicts += 1
                if conflicts == ATTEMPTS:
                    raise Unavailable("others keep changing the same thing; try again") from conflict
                await self._desk.catch_up(conflict.last)
                left = [motion for motion in left if not motion.settled.done()]
                if len(left) > 1:
                    for motion in left:
                        await self._settle([motion])
                    return

    async def _decide(self, group: Sequence[Motion]) -> list[Motion]:
        """Settle as many as go into one batch; those that must wait for its outcome come back."""
        desk = self._desk
        first: dict[ProposalId, Motion] = {}
        commands: set[CommandId] = set()
        later: list[Motion] = []
        for motion in group:
            if motion.proposal in first or motion.ballot.command in commands:
                later.append(motion)
                continue
            first[motion.proposal] = motion
            commands.add(motion.ballot.command)
        async with transaction(desk.pool, desk.brain) as db:
            await db.execute(loading.STATEMENTS.one_decision_at_a_time, f"{desk.brain}/decide")
            wanted = {id_: motion.ballot.reviewer for id_, motion in first.items()}
            docket = await cases.load(db, desk.brain, wanted, desk.bodies)
            cast = await loading.cast_by(db, commands)
            ruled = [one for motion in first.values() if (one := self._rule(motion, docket, cast)) is not None]
            ready = await self._with_vectors(ruled)
            batch, apart = independent(ready)
            if batch:
                positions = await desk.say([_append(one) for one in batch], db)
                archived = asyncio.ensure_future(desk.archive(positions[-1]))
                for one, position in zip(batch, positions, strict=True):
                    one.motion.settled.set_result(Settled(position, one.ruling.outcome, archived))
        return later + [one.motion for one in apart]

    def _rule(self, motion: Motion, docket: cases.Docket, cast: Mapping[CommandId, ProposalId]) -> Ruled | None:
        """Decide on a motion; a refusal, and the same command again, are told at once."""
        at = self._desk.clock()
        try:
            check_command(cast, motion.ballot.command, motion.proposal)
            case = case_of(docket, motion.proposal)
            ruling = decision.decide(case, motion.ballot, at)
        except Refused as refused:
            motion.settled.set_exception(refused)
            return None
        if ruling.said:
            return Ruled(motion, case, ruling, at)
        position, outcome = _before(docket.filed[motion.proposal], motion.ballot)
        archived = asyncio.ensure_future(self._desk.archive(position))
        motion.settled.set_result(Settled(position, outcome, archived, _landed(case, outcome)))
        return None

    async def _with_vectors(self, ruled: Sequence[Ruled]) -> list[Ruled]:
        """Those that may land now. The rest is told to wait for vectors, outside the turn."""
        unknown = [one for one in ruled if one.motion.vectors is None and one.bodies]
        if not unknown:
            return list(ruled)
        missing = await vectors.missing(self._desk.nc, tuple(body for one in unknown for body in one.bodies))
        for one in unknown:
            if missing == 0:
                one.motion.vectors = True
            else:
                one.motion.settled.set_result(Waits(one.bodies))
        return [one for one in ruled if not one.motion.settled.done()]


def independent(ruled: Sequence[Ruled]) -> tuple[list[Ruled], list[Ruled]]:
    """Rulings that touch no history and no path of each other and fit into one batch, and those that must wait.

    A gate that several of them move is moved once, by the first: it tells that something behind it changed.
    """
    batch: list[Ruled] = []
    apart: list[Ruled] = []
    written: set[str] = set()
    paths: set[str] = set()
    size = 0
    for one in ruled:
        histories = {subject for subject, _ in one.ruling.said if ".gate." not in subject}
        places = {draft.path for draft in one.case.drafts} if one.ruling.outcome is Outcome.APPROVED else set[str]()
        if batch and (histories & written or places & paths or size + len(one.ruling.said) > FACTS):
            apart.append(one)
            continue
        said = [pair for pair in one.ruling.said if ".gate." not in pair[0] or pair[0] not in written]
        batch.append(replace(one, ruling=replace(one.ruling, said=said)))
        written |= {subject for subject, _ in said}
        paths |= places
        size += len(said)
    return batch, apart


def _landed(case: Case, outcome: Outcome | None) -> tuple[ContentId, ...]:
    if outcome is not Outcome.APPROVED:
        return ()
    return tuple(one.draft.body.id for one in case.drafts if one.draft.action is not PageAction.DEPRECATE)


def _append(one: Ruled) -> Append:
    ballot = one.motion.ballot
    facts = tuple(one.ruling.said)
    return Append(ballot.command, ballot.reviewer, ballot.command, facts, one.ruling.expected, at=one.at)


def case_of(docket: cases.Docket, id_: ProposalId) -> Case:
    """The case of a proposal. Raises `no_such_proposal`."""
    if id_ not in docket.cases:
        raise proposal.no_such_proposal()
    return docket.cases[id_]


def check_command(cast: Mapping[CommandId, ProposalId], command: CommandId, id_: ProposalId) -> None:
    """A command decides on one proposal; whether there is the other one is not told. Raises `command_reused`."""
    if cast.get(command, id_) != id_:
        raise proposal.command_reused()


def _before(filed: loading.Filed, ballot: Ballot) -> tuple[int, Outcome | None]:
    """What the same command led to the first time."""
    cast = next(one for one in filed.cast if one.vote.command == ballot.command)
    if isinstance(filed.state, proposal.Resolved) and filed.cast[-1] is cast:
        return cast.ends, filed.state.outcome
    return cast.ends, None
