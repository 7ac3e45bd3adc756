"""Decide: one at a time for a brain, several independent decisions in one atomic batch where they wait together."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from approvals.desk import ATTEMPTS, Desk
from approvals.domain import decision, proposal
from approvals.domain.decision import FACTS, Case, Ruling
from approvals.domain.proposal import Ballot
from approvals.ledger import cases, loading
from chassis import rpc
from chassis.postgres import transaction
from content.bodies import Put, Slot
from contracts.approvals_messages import Decide, Decided
from contracts.content import ContentRef
from contracts.enums import Outcome, Verdict
from contracts.errors import Refused, Unavailable
from contracts.ids import ContentId, ProposalId, content_id
from contracts.retrieval_messages import VECTORS, AskVectors, Vectors
from eventlog.log import Append, Conflict

TOGETHER = 16
"""Decisions of one batch at most: beyond it a batch grows slower than what it saves."""
NOTE = 4000
"""Characters of a reviewer's note at most."""
LOOK = 5.0
"""Seconds that one question about vectors may take."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision that stands: the position of its last fact, and what became of the proposal (None: still open)."""

    position: int
    outcome: Outcome | None


@dataclass(slots=True)
class Motion:
    """A ballot that waits for its turn."""

    proposal: ProposalId
    ballot: Ballot
    settled: "asyncio.Future[Settled]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Deciding:
    """The command of those who decide."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[Motion] = []
        self._turn = asyncio.Lock()

    async def decide(self, asked: Decide) -> Decided:
        """Give a verdict. The same command again gives the same answer; every other second decision is refused.

        A refusal is told only once it stands on everything that the log has. Raises as `decision.decide` does, and
        `note_length`, `content_missing`.
        """
        if len(asked.note) > NOTE:
            raise Refused("note_length", f"A note has at most {NOTE} characters.", "note", "Shorten it.")
        try:
            settled, vectors = await self._decide(asked)
        except Refused:
            await self._desk.catch_up(0)
            settled, vectors = await self._decide(asked)
        return Decided(
            position=settled.position,
            archived=await self._desk.archive(settled.position),
            outcome=None if settled.outcome is None else settled.outcome.value,
            vectors=vectors,
        )

    async def _decide(self, asked: Decide) -> tuple[Settled, bool]:
        ballot = Ballot(asked.command, asked.by, asked.verdict, asked.digest, asked.reason)
        vectors = True
        if asked.verdict is Verdict.APPROVE:
            vectors = await self._await_vectors(asked.proposal, ballot)
        if asked.note:
            ballot = replace(ballot, note=await self._keep_note(asked, ballot))
        motion = Motion(asked.proposal, ballot)
        self._waiting.append(motion)
        async with self._turn:
            if not motion.settled.done():
                group, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
                if motion not in group:  # more wait than fit: those in front first, this one with them
                    self._waiting.remove(motion)
                    group.append(motion)
                await asyncio.shield(asyncio.ensure_future(self._settle(group)))
        return await motion.settled, vectors

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
                left = await self._together(left)
            except Conflict as conflict:
                conflicts += 1
                if conflicts == ATTEMPTS:
                    raise Unavailable("others keep changing the same thing; try again") from conflict
                await self._desk.catch_up(conflict.last)
                if len(left) > 1:
                    for motion in left:
                        await self._settle([motion])
                    return

    async def _together(self, group: Sequence[Motion]) -> list[Motion]:
        """Settle as many as go into one batch; those that must wait for its outcome come back."""
        desk = self._desk
        first = {motion.proposal: motion for motion in reversed(group)}
        async with transaction(desk.pool, desk.brain) as db:
            await db.execute(loading.STATEMENTS.one_decision_at_a_time, f"{desk.brain}/decide")
            wanted = {id_: motion.ballot.reviewer for id_, motion in first.items()}
            docket = await cases.load(db, desk.brain, wanted, desk.bodies)
            batch = _Batch(desk)
            later = [motion for motion in group if first[motion.proposal] is not motion]
            for motion in first.values():
                later += batch.take(motion, docket)
            await batch.append()
        return later

    async def _await_vectors(self, id_: ProposalId, ballot: Ballot) -> bool:
        """Wait until what would become live can be found by meaning; False where it will land words-only.

        Waits up to half a minute, less for little (architecture: retrieval's index), and only for a decision that
        would be carried out.
        """
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            rows = await db.fetch(loading.STATEMENTS.bodies_to_land, id_)
        bodies = tuple(ContentId(row["body_id"]) for row in rows)
        if not bodies or await self._missing(bodies, 0.0) == 0:
            return True
        ruling = await self._rehearse(id_, ballot)
        if ruling.outcome is not Outcome.APPROVED:
            return bool(ruling.said)  # a vote lands nothing yet; a retry is told what is so now
        left = min(30.0, 10.0 + len(bodies) / 20)
        while left > 0:
            missing = await self._missing(bodies, min(left, LOOK))
            if missing is None:
                return False
            if missing == 0:
                return True
            left -= LOOK
        return False

    async def _missing(self, bodies: tuple[ContentId, ...], wait: float) -> int | None:
        """How many bodies have no vectors yet, None where nobody can tell."""
        try:
            asked = AskVectors(bodies=bodies, wait=wait)
            return (await rpc.ask(self._desk.nc, VECTORS, asked, Vectors, seconds=wait + 2)).missing
        except Unavailable:
            return None

    async def _rehearse(self, id_: ProposalId, ballot: Ballot) -> Ruling:
        """What a ballot would lead to now; it is decided again when its turn comes. Raises `Refused`."""
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            docket = await cases.load(db, self._desk.brain, {id_: ballot.reviewer}, self._desk.bodies)
        return decision.decide(_case(docket, id_), ballot, self._desk.clock())

    async def _keep_note(self, asked: Decide, ballot: Ballot) -> ContentRef:
        """Store the note of somebody who may decide."""
        put = Put(content_id(asked.command, "note"), asked.note.encode(), Slot.NOTE)
        await self._rehearse(asked.proposal, replace(ballot, note=ContentRef(put.id, "")))
        async with transaction(self._desk.pool, self._desk.brain) as db:
            (note,) = await self._desk.store.put(db, self._desk.brain, [put])
        return note


class _Batch:
    """Decisions that do not touch each other, with the motions that they settle."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._taken: list[tuple[Motion, Ruling, Append]] = []
        self._written: set[str] = set()
        self._paths: set[str] = set()

    def take(self, motion: Motion, docket: cases.Docket) -> list[Motion]:
        """Decide on a motion. It comes back where it must wait for what this batch changes."""
        at = self._desk.clock()
        try:
            case = _case(docket, motion.proposal)
            ruling = decision.decide(case, motion.ballot, at)
        except Refused as refused:
            motion.settled.set_exception(refused)
            return []
        if not ruling.said:
            motion.settled.set_result(_before(docket.filed[motion.proposal], motion.ballot))
            return []
        written = {subject for subject, _ in ruling.said if ".gate." not in subject}
        paths = {one.path for one in case.drafts} if ruling.outcome is Outcome.APPROVED else set[str]()
        size = sum(len(each.said) for _, each, _ in self._taken) + len(ruling.said)
        if self._taken and (written & self._written or paths & self._paths or size > FACTS):
            return [motion]
        self._written |= written
        self._paths |= paths
        ballot = motion.ballot
        facts = tuple(ruling.said)
        append = Append(ballot.command, ballot.reviewer, ballot.command, facts, ruling.expected, at=at)
        self._taken.append((motion, ruling, append))
        return []

    async def append(self) -> None:
        """Say it all, and tell who waits."""
        if not self._taken:
            return
        positions = await self._desk.say([append for _, _, append in self._taken])
        for (motion, ruling, _), position in zip(self._taken, positions, strict=True):
            motion.settled.set_result(Settled(position, ruling.outcome))


def _case(docket: cases.Docket, id_: ProposalId) -> Case:
    if id_ not in docket.cases:
        raise proposal.no_such_proposal()
    return docket.cases[id_]


def _before(filed: loading.Filed, ballot: Ballot) -> Settled:
    """What the same command led to the first time."""
    cast = next(one for one in filed.cast if one.vote.command == ballot.command)
    resolved = isinstance(filed.state, proposal.Resolved) and filed.cast[-1] is cast
    return Settled(cast.ends, filed.state.outcome if resolved and isinstance(filed.state, proposal.Resolved) else None)
