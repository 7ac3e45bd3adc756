"""`brain proposals`, `brain approve`, `brain reject`, `brain withdraw`: what waits, and a person's word on it."""

from collections.abc import Callable, Iterator
from uuid import UUID, uuid4

import click

from brain import api, output
from brain.output import F
from contracts import gateway_api
from contracts.approvals_messages import Decided, ProposalLine, ProposalLines
from contracts.enums import ProposalKind, Reason
from contracts.ids import CommandId, ProposalId
from contracts.replies import Accepted


@click.command()
@api.as_option
@output.json_option
def proposals(*, person: str | None, as_json: bool) -> None:
    """List the open proposals that you may see. A build is one proposal."""
    with api.connect(person) as gateway:
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


def lines_of(line: ProposalLine) -> Iterator[str]:
    """What waits, and below it the digest in full: an approval repeats all of it."""
    place = output.count(line.pages, "page") if line.kind is ProposalKind.BUILD else line.path
    yield f"{line.id}  {line.kind.value:10}  {line.title}  {place}  {line.needs}"
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
@click.option("--digest", required=True, help="SHA-256 of the bytes you read, in full.")
@_decision
def approve(*, proposal: UUID, digest: str, command_id: UUID | None, person: str | None, as_json: bool) -> None:
    """Approve a proposal: exactly the bytes whose digest you give."""
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
        decided = gateway.post(address, asked, Decided)
    outcome = decided.outcome or "recorded; another approver is still wanted"
    archived = "archived" if decided.archived else "being archived"
    output.show(decided, [f"{outcome} at position {decided.position}, {archived}"], as_json=as_json)
