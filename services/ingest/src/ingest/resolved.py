"""What became of the proposals that pages of an import went into: pages of one that ended without them wait again."""

from collections.abc import Iterable, Mapping

from chassis import rpc
from chassis.postgres import transaction
from contracts.approvals_messages import PROPOSAL, AskProposal, ProposalView
from contracts.errors import Refused
from contracts.ids import PrincipalId, ProposalId
from ingest import shelf
from ingest.desk import Desk
from ingest.proposing import SECONDS
from ingest.shelf import Held

_OPEN, _APPROVED = "open", "approved"


async def release(desk: Desk, by: PrincipalId, unchanged: Iterable[Held]) -> bool:
    """Let pages wait again whose proposals were rejected or withdrawn; whether there were any. Raises `Unavailable`.

    A proposal that this person may not know of counts as open. One that was approved is not asked for again.
    """
    waiting = {held.known.capture: held.unsettled for held in unchanged if held.unsettled is not None}
    states = {proposal: await _state(desk, by, proposal) for proposal in dict.fromkeys(waiting.values())}
    approved = _in(states, _APPROVED)
    ended = states.keys() - approved - _in(states, _OPEN)
    async with transaction(desk.pool, desk.brain) as db:
        if approved:
            await shelf.settle(db, desk.brain, waiting, approved)
        if ended:
            await shelf.release(db, desk.brain, waiting, ended)
    return bool(ended)


def _in(states: Mapping[ProposalId, str], wanted: str) -> frozenset[ProposalId]:
    return frozenset(proposal for proposal, state in states.items() if state == wanted)


async def _state(desk: Desk, by: PrincipalId, proposal: ProposalId) -> str:
    asked = AskProposal(by=by, proposal=proposal)
    try:
        return (await rpc.ask(desk.nc, PROPOSAL, asked, ProposalView, seconds=SECONDS)).state
    except Refused:
        return _OPEN
