"""Decide: the verdict of a person on exactly the bytes that were shown."""

import asyncio
from dataclasses import replace

from approvals.commands import vectors
from approvals.commands.turns import Motion, Settled, Turns, Waits, case_of, check_command
from approvals.desk import Desk
from approvals.domain import decision
from approvals.domain.proposal import Ballot
from approvals.ledger import cases, loading
from chassis.postgres import transaction
from content.bodies import Put, Slot
from contracts.approvals_messages import Decide, Decided
from contracts.content import ContentRef
from contracts.errors import Refused
from contracts.ids import content_id

NOTE = 4000
"""Characters of a reviewer's note at most."""


class Deciding:
    """The command of those who decide."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._turns = Turns(desk)

    async def decide(self, asked: Decide) -> Decided:
        """Give a verdict. The same command again gives the same answer; every other second decision is refused.

        A refusal is told only once it stands on everything that the log has. Raises as `decision.decide` does, and
        `note_length`, `content_missing`.
        """
        if len(asked.note) > NOTE:
            raise Refused("note_length", f"A note has at most {NOTE} characters.", "note", "Shorten it.")
        try:
            settled, found = await self._decide(asked)
        except Refused:
            await self._desk.catch_up(0)
            settled, found = await self._decide(asked)
        return Decided(
            position=settled.position,
            archived=await asyncio.shield(settled.archived),
            outcome=None if settled.outcome is None else settled.outcome.value,
            vectors=found,
        )

    async def _decide(self, asked: Decide) -> tuple[Settled, bool]:
        ballot = Ballot(asked.command, asked.by, asked.verdict, asked.digest, asked.reason)
        if asked.note:
            ballot = replace(ballot, note=await self._keep_note(asked, ballot))
        motion = Motion(asked.proposal, ballot)
        settled = await self._turns.take(motion)
        if isinstance(settled, Waits):
            motion = Motion(asked.proposal, ballot, await vectors.awaited(self._desk.nc, settled.bodies))
            settled = await self._turns.take(motion)
        assert isinstance(settled, Settled)
        if settled.before:  # answered as the first time, but for vectors that have come since
            return settled, await vectors.missing(self._desk.nc, settled.before) == 0
        return settled, motion.vectors is not False

    async def _keep_note(self, asked: Decide, ballot: Ballot) -> ContentRef:
        """Store the note of somebody who may decide. Raises `Refused` for anybody else."""
        put = Put(content_id(asked.command, "note"), asked.note.encode(), Slot.NOTE)
        async with transaction(self._desk.pool, self._desk.brain) as db:
            check_command(await loading.cast_by(db, [asked.command]), asked.command, asked.proposal)
            docket = await cases.load(db, self._desk.brain, {asked.proposal: asked.by}, self._desk.bodies)
            case = case_of(docket, asked.proposal)
            decision.decide(case, replace(ballot, note=ContentRef(put.id, "")), self._desk.clock())
            (note,) = await self._desk.store.put(db, self._desk.brain, [put])
        return note
