"""`brain proposals`, `brain approve`, `brain reject`, `brain withdraw`: what waits, and a person's word on it."""

from collections.abc import Callable, Iterator
from uuid import UUID, uuid4

import click
import msgspec

from brain import api, output
from brain.output import F
from contracts import gateway_api
from contracts.approvals_messages import Decided, ProposalLine, ProposalLines, ProposalView, listing_line
from contracts.enums import ProposalKind, Reason
from contracts.ids import CommandId, ProposalId
from contracts.replies import Accepted


class Told(msgspec.Struct, frozen=True):
    """One proposal. `listing`: the text whose SHA-256 is its digest, "" where that is of the stored bytes."""

    proposal: ProposalLine
    listing: str


@click.command()
@click.argument("proposal", metavar="[ID]", type=click.UUID, required=False)
@api.as_option
@output.json_option
def proposals(*, proposal: UUID | None, person: str | None, as_json: bool) -> None:
    """List the open proposals that you may see. A build is one proposal.

    With ID: that one, and the listing of what it would do where its digest is the SHA-256 of one. In JSON the listing
    is exactly the text that is hashed.
    """
    with api.connect(person) as gateway:
        if proposal is not None:
            view = _one(gateway, proposal)
            listing = listing_of(view)
            output.show(Told(view.line, listing), [*lines_of(view.line), *listing.splitlines()], as_json=as_json)
            return
        lines = tuple(_all(gateway))
    told = [part for line in lines for part in lines_of(line)]
    output.show({"proposals": lines}, told or ["Nothing waits."], as_json=as_json)


def _all(gateway: api.Api) -> Iterator[ProposalLine]:
    after = ""
    while True:
        part = gateway.get(gateway_api.PROPOSALS, ProposalLines, {"after": after})
        yield from part.proposals
        after = part.next
        if not after:
            return


def _one(gateway: api.Api, proposal: UUID) -> ProposalView:
    return gateway.get(gateway_api.PROPOSAL, ProposalView, {"proposal": str(proposal)})


def listing_of(view: ProposalView) -> str:
    """The text that a proposal's digest is of, "" where that is of the stored bytes."""
    if view.line.kind is not ProposalKind.BUILD:
        return view.line.listing
    return "".join(sorted(listing_line(one.action.value, one.base, one.digest, one.path) for one in view.pages))


def lines_of(line: ProposalLine) -> Iterator[str]:
    """What would happen, and below it the digest in full: an approval repeats all of it."""
    place = output.count(line.pages, "page") if line.kind is ProposalKind.BUILD else line.path
    yield f"{line.id}  {line.kind.value:10}  {line.change}  {line.title}  {place}  {line.needs}"
    yield f"  digest {line.digest}"


def _decision(command: F) -> F:
    parts: list[Callable[[F], F]] = [
        output.json_option,
        api.as_option,
        click.option("--command", "command_id", type=click.UUID, help="The id of an earlier try, to repeat it."),
        click.argument("proposal", metavar="ID", type=click.UUID),
    ]
    for part in parts:
        command = part(command)
    return command


@click.command()
@click.option("--digest", required=True, help="What `brain proposals` or its page shows, in full.")
@_decision
def approve(*, proposal: UUID, digest: str, command_id: UUID | None, person: str | None, as_json: bool) -> None:
    """Approve a proposal: exactly what the digest that you give covers."""
    asked = gateway_api.Approve(proposal=ProposalId(proposal), digest=digest, command=_command(command_id))
    _decide(gateway_api.APPROVE, asked, person, as_json=as_json)


@click.command()
@click.option("--reason", type=click.Choice([reason.value for reason in Reason]), required=True)
@click.option("--note", default="", help="A word to the proposer.")
@_decision
def reject(
    *, proposal: UUID, reason: str, note: str, command_id: UUID | None, person: str | None, as_json: bool
) -> None:
    """Reject a proposal."""
    command = _command(command_id)
    asked = gateway_api.Reject(proposal=ProposalId(proposal), reason=Reason(reason), note=note, command=command)
    _decide(gateway_api.REJECT, asked, person, as_json=as_json)


@click.command()
@_decision
def withdraw(*, proposal: UUID, command_id: UUID | None, person: str | None, as_json: bool) -> None:
    """Take back a proposal of your own."""
    asked = gateway_api.WithdrawText(proposal=ProposalId(proposal), command=_command(command_id))
    with api.connect(person) as gateway:
        taken = gateway.post(gateway_api.WITHDRAW, asked, Accepted)
    output.show(taken, [f"withdrawn at position {taken.position}"], as_json=as_json)


def _command(given: UUID | None) -> CommandId:
    return CommandId(given or uuid4())


def _decide(
    address: str, asked: gateway_api.Approve | gateway_api.Reject, person: str | None, *, as_json: bool
) -> None:
    with api.connect(person) as gateway:
        change = what(_one(gateway, asked.proposal).line)
        decided = gateway.post(address, asked, Decided)
    outcome = decided.outcome or "recorded; another approver is still wanted"
    archived = "archived" if decided.archived else "being archived"
    told = [f"{outcome} at position {decided.position}, {archived}: {change}"]
    output.show({**msgspec.to_builtins(decided), "change": change}, told, as_json=as_json)


def what(line: ProposalLine) -> str:
    """What a decision was about, in the words of the list."""
    return f"{line.change}, {line.path}" if line.path else line.change
