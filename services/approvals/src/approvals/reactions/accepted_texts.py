"""A text that a person accepted from the inbox is kept as a capture, by ingest."""

from collections.abc import Sequence

import msgspec

from approvals.desk import PATIENCE, Desk
from approvals.ledger import loading
from approvals.ledger.bodies import Text
from chassis import rpc
from chassis.postgres import transaction
from contracts.content import ContentRef
from contracts.enums import Outcome
from contracts.envelope import Recorded
from contracts.errors import Unavailable
from contracts.ids import CommandId, ContentId, derived
from contracts.ingest_messages import FILE_CAPTURE, FileCapture, Filed
from contracts.proposals import ProposalResolved

DURABLE = "approvals-on-proposal_resolved-v1"
HEARS = frozenset({"proposal_resolved"})


class AcceptedTexts:
    """Files each accepted text once: the command's id follows from the fact."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def react(self, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        """File what was accepted. Raises `Unavailable` while ingest or the fold is not there."""
        accepted = [
            one
            for one in recorded
            if isinstance(one.fact, ProposalResolved)
            and one.fact.outcome is Outcome.APPROVED
            and one.envelope.brain == self._desk.brain
        ]
        if not accepted:
            return
        if not await self._desk.ledger.reached(max(one.position for one in accepted), PATIENCE):
            raise Unavailable("the fold has not reached this fact yet")
        by_proposal = {one.fact.proposal: one for one in accepted if isinstance(one.fact, ProposalResolved)}
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            rows = await db.fetch(loading.STATEMENTS.accepted_texts, list(by_proposal))
            refs = {row["proposal"]: ContentRef(ContentId(row["text_id"]), row["text_commitment"]) for row in rows}
            found = await self._desk.bodies.found(db, list(refs.values()))
        for proposal, ref in refs.items():
            if ref.id not in found:  # erased before it was filed: there is nothing to keep
                continue
            text = msgspec.json.decode(found[ref.id], type=Text)
            envelope = by_proposal[proposal].envelope
            asked = FileCapture(
                command=CommandId(derived(envelope.id, "file")),
                by=envelope.actor,
                title=text.title,
                text=text.body,
                external_id=str(proposal),
            )
            await rpc.ask(self._desk.nc, FILE_CAPTURE, asked, Filed)
