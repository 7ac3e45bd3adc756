"""`brain audit` and `brain trace`: who did what, whether that is still as it was written, and one request whole."""

import sys
from datetime import UTC, datetime

import click
import msgspec

from brain import api, output
from brain.groups import Group
from contracts.gateway_audit import (
    AUDIT,
    AUDIT_VERIFY,
    LARGEST_PAGE,
    TRACE,
    AuditProblem,
    AuditRow,
    AuditRows,
    Trace,
    Verified,
)

FAILED = 1


class Report(msgspec.Struct, frozen=True):
    """The chain, walked from end to end. `head`: the hash of its last seal; rows after it are `unsealed`."""

    ok: bool
    seals: int
    rows: int
    unsealed: int
    head: str
    problems: tuple[AuditProblem, ...]


@click.group(cls=Group)
def audit() -> None:
    """Look into the audit, for admins."""


@audit.command("verify")
@api.as_option
@output.json_option
def verify_audit(*, person: str | None, as_json: bool) -> int:
    """Check every minute of the audit against its seal, and every seal against the one before."""
    seals = rows = 0
    problems: list[AuditProblem] = []
    query: dict[str, str | int] = {}
    with api.connect(person) as gateway:
        while True:
            found = gateway.get(AUDIT_VERIFY, Verified, query)
            seals, rows, problems = seals + found.seals, rows + found.rows, [*problems, *found.problems]
            if found.next is None:
                break
            query = {"after": found.next.isoformat()}
    report = Report(not problems, seals, rows, found.unsealed, found.head, tuple(problems))
    lines = [f"{each.minute.isoformat()}: {each.what}" for each in problems]
    word = "whole" if report.ok else "NOT WHOLE"
    lines.append(f"{word}: {output.count(rows, 'row')} in {output.count(seals, 'sealed minute')}, {found.head}")
    lines.append(
        f"{output.count(found.unsealed, 'row')} since then {'is' if found.unsealed == 1 else 'are'} not sealed."
    )
    output.show(report, lines, as_json=as_json)
    return 0 if report.ok else FAILED


@audit.command("export")
@click.option("--since", type=click.DateTime(), help="From this instant on (UTC).")
@click.option("--until", type=click.DateTime(), help="Before this instant (UTC).")
@click.option("--operation", help="Only this operation, such as read_page.")
@api.as_option
@output.json_option
def export(
    *, since: datetime | None, until: datetime | None, operation: str | None, person: str | None, as_json: bool
) -> None:
    """Print the audit as JSON lines, the oldest row first."""
    named = {"since": since, "until": until}
    query: dict[str, str | int] = {
        name: instant.replace(tzinfo=UTC).isoformat() for name, instant in named.items() if instant is not None
    }
    if operation is not None:
        query["operation"] = operation
    kept: list[AuditRow] = []
    after, more = 0, True
    with api.connect(person) as gateway:
        while more:
            page = gateway.lines(AUDIT, AuditRow, {**query, "after": after, "limit": LARGEST_PAGE})
            if as_json:
                kept += page
            else:
                sys.stdout.writelines(msgspec.json.encode(row).decode() + "\n" for row in page)
            more = len(page) == LARGEST_PAGE
            after = page[-1].id if page else after
    if as_json:
        output.show(AuditRows(rows=tuple(kept)), (), as_json=True)


@click.command()
@click.argument("request")
@api.as_option
@output.json_option
def trace(*, request: str, person: str | None, as_json: bool) -> None:
    """Tell what became of a request, by the id in its answer (x-request-id): your own, or any for an admin.

    Prints each call with its outcome, the revisions that were served, and the facts that it led to. No content.
    """
    with api.connect(person) as gateway:
        found = gateway.get(TRACE, Trace, {"request": request})
    output.show(found, [*map(_row, found.rows), *_served(found), *_facts(found)], as_json=as_json)


def _row(row: AuditRow) -> str:
    who = f"principal {row.principal}" if row.principal else "nobody"
    told = [
        f"token {row.token} ({row.kind})" if row.token else "",
        f"results {row.results}" if row.results is not None else "",
        f"trust {row.trust}" if row.trust else "",
        f"position {row.position}" if row.position is not None else "",
        f"concerns {', '.join(str(each) for each in row.concerned)}" if row.concerned else "",
        f"arguments {row.arguments}" if row.arguments else "",
    ]
    parts = [row.at.isoformat(), f"{row.door} {row.operation}: {row.outcome}", who, *(each for each in told if each)]
    return "  ".join(parts)


def _served(found: Trace) -> list[str]:
    return [
        f"{each.at.isoformat()}  served {'a passage of ' if each.passage else ''}page {each.page}"
        f" revision {each.revision} at {each.position}"
        for each in found.served
    ]


def _facts(found: Trace) -> list[str]:
    return [f"{each.occurred_at.isoformat()}  fact {each.position} {each.type} {each.fact}" for each in found.facts]
