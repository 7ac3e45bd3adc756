"""`brain proposals`, `brain approve`, `brain reject`: what waits, and a person's word on it."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import click

from brain import api, output
from contracts.approvals_messages import Decided, ProposalLine, ProposalLines
from contracts.enums import Reason


@click.command()
@api.as_option
@output.json_option
def proposals(*, person: str | None, as_json: bool) -> None:
    """List the open proposals that you may see. A build is one proposal."""
    with api.connect(person) as gateway:
        lines = tuple(_all(gateway))
    output.show({"proposals": lines}, [_line(line) for line in lines] or ["Nothing waits."], as_json=as_json)


def _all(gateway: api.Api) -> Iterator[ProposalLine]:
    after = ""
    while True:
        part = gateway.get("/api/v1/proposals", ProposalLines, {"after": after})
        yield from part.proposals
        after = part.next
        if not after:
            return


def _line(line: ProposalLine) -> str:
    return f"{line.id}  {line.kind.value:10}  {line.title}  {line.path}  {line.digest[:12]}  {line.needs}"


@click.command()
@click.argument("id", type=click.UUID)
@click.option("--digest", required=True, help="SHA-256 of the bytes you read, in full.")
@click.option("--command", "command_id", type=click.UUID, help="The id of an earlier try, to repeat exactly that one.")
@api.as_option
@output.json_option
def approve(*, id: UUID, digest: str, command_id: UUID | None, person: str | None, as_json: bool) -> None:  # noqa: A002 - the argument's name on screen
    """Approve a proposal: exactly the bytes whose digest you give."""
    _decide(id, {"verdict": "approve", "digest": digest}, command_id, person, as_json=as_json)


@click.command()
@click.argument("id", type=click.UUID)
@click.option("--reason", type=click.Choice([reason.value for reason in Reason]), required=True)
@click.option("--note", default="", help="A word to the proposer.")
@click.option("--command", "command_id", type=click.UUID, help="The id of an earlier try, to repeat exactly that one.")
@api.as_option
@output.json_option
def reject(
    *,
    id: UUID,  # noqa: A002 - the argument's name on screen
    reason: str,
    note: str,
    command_id: UUID | None,
    person: str | None,
    as_json: bool,
) -> None:
    """Reject a proposal."""
    _decide(id, {"verdict": "reject", "reason": reason, "note": note}, command_id, person, as_json=as_json)


def _decide(
    proposal: UUID, said: dict[str, object], command: UUID | None, person: str | None, *, as_json: bool
) -> None:
    with api.connect(person) as gateway:
        request = {"command": command or uuid4(), "proposal": proposal, **said}
        decided = gateway.post(f"/api/v1/proposals/{proposal}/decide", request, Decided)
    outcome = decided.outcome or "recorded; another approver is still wanted"
    archived = "archived" if decided.archived else "being archived"
    output.show(decided, [f"{outcome} at position {decided.position}, {archived}"], as_json=as_json)
