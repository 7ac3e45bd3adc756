"""`brain import`: a folder of Markdown becomes captures, and pages that wait for a decision."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import click
import msgspec

from brain import api, folder, output
from brain.folder import Folder
from contracts import gateway_api
from contracts.enums import Access, Refusal
from contracts.errors import Unavailable
from contracts.ids import ImportId, ProposalId
from contracts.ingest_messages import Imported, ImportedPart, ImportOptions, RefusedFile

_TRIES = 6
"""A part that was not answered is sent again: the same part changes nothing twice."""

FAILED = 1

T = TypeVar("T")


class RefusedLine(msgspec.Struct, frozen=True):
    """A refused file: why, and on which line (0 where it has none)."""

    file: str
    category: Refusal
    line: int


class Outcome(msgspec.Struct, frozen=True):
    """What an import did. `builds`: the ids of the proposals, each a build or one page."""

    captures: int
    unchanged: int
    refused: list[RefusedLine]
    pages: int
    builds: tuple[ProposalId, ...]
    withdrawn: int
    skipped: int


@click.command("import")
@click.argument("root", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("more", metavar="", nargs=-1)
@click.option("--owner", required=True, help="Who owns pages that name no owner: an active member or a group.")
@click.option(
    "--access",
    type=click.Choice([level.value for level in Access]),
    default=Access.DEPARTMENT.value,
    show_default=True,
    help="The access level of pages that name none.",
)
@click.option("--acl", multiple=True, metavar="everyone|PRINCIPAL...", help="Whom the captures admit.")
@click.option("--sync", is_flag=True, help="Withdraw what the folder holds no more, and propose to deprecate it.")
@click.option("--source", default="", help="The name of the source; the folder's where it is left out.")
@api.as_option
@output.json_option
def import_(
    *,
    root: Path,
    more: tuple[str, ...],
    owner: str,
    access: str,
    acl: tuple[str, ...],
    sync: bool,
    source: str,
    person: str | None,
    as_json: bool,
) -> int:
    """Import the Markdown files of DIR. The same bytes again change nothing; other bytes propose an edit.

    Files that are refused are named, each with the reason, and the others go on. Exit code 1 where every file was.
    """
    if more and not acl:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(more)})")
    names = tuple(name for part in (*acl, *more) for name in part.split(",") if name)
    options = ImportOptions(source=source or folder.slug(root), owner=owner, access=Access(access), acl=names)
    with api.connect(person) as gateway:
        outcome, refused = take_in(gateway, folder.look(root), options, sync=sync)
    output.show(outcome, lines_of(outcome, refused), as_json=as_json)
    return code_of(outcome)


def take_in(
    gateway: api.Api, found: Folder, options: ImportOptions, *, sync: bool = False
) -> tuple[Outcome, list[RefusedFile]]:
    """Send a folder in parts and propose its pages; what came of it, and every refused file with the reason."""
    import_id = ImportId(uuid4())
    told = list(_send(gateway, import_id, options, found))
    output.note(f"proposing {output.count(sum(part.pages for part in told), 'page')}")
    end = gateway_api.ImportEnd(
        import_id=import_id, options=options, sync=sync, present=tuple(found.names) if sync else ()
    )
    done = _patiently(partial(gateway.post, gateway_api.IMPORT_FINISH, end, Imported))
    refused = folder.ordered([*found.refused, *(one for part in told for one in part.refused), *done.refused])
    outcome = Outcome(
        captures=sum(part.captures for part in told),
        unchanged=sum(part.unchanged for part in told),
        refused=[RefusedLine(one.file, one.category, one.line) for one in refused],
        pages=done.pages,
        builds=done.builds,
        withdrawn=done.withdrawn,
        skipped=found.skipped,
    )
    return outcome, refused


def _send(gateway: api.Api, import_id: ImportId, options: ImportOptions, found: Folder) -> Iterator[ImportedPart]:
    colliding, sent = folder.colliding(found), 0
    for number, files in enumerate(folder.parts(found)):
        part = gateway_api.ImportPart(
            import_id=import_id,
            part=number,
            options=options,
            files=tuple(files),
            colliding=tuple(file.path for file in files if file.path in colliding),
        )
        yield _patiently(partial(gateway.post, gateway_api.IMPORT_PART, part, ImportedPart))
        sent += len(files)
        output.note(f"read {sent} of {output.count(len(found.readable), 'file')}")


def _patiently(send: Callable[[], T]) -> T:
    """Send until there is an answer, a few times. Raises `Unavailable` after that, and what is refused at once."""
    for attempt in range(_TRIES - 1):
        try:
            return send()
        except Unavailable:
            time.sleep(min(2.0**attempt, 8.0))
    return send()


def code_of(outcome: Outcome) -> int:
    """The exit code: 1 where there were files and every one was refused."""
    return FAILED if outcome.refused and not outcome.captures and not outcome.unchanged else 0


def lines_of(outcome: Outcome, refused: list[RefusedFile]) -> Iterator[str]:
    """What an import did, for a person: the numbers first, each refused file last."""
    recorded, unchanged = output.count(outcome.captures, "capture"), output.count(outcome.unchanged, "file")
    yield f"{recorded} recorded, {unchanged} unchanged, {len(refused)} refused, {outcome.skipped} passed by"
    if outcome.withdrawn:
        yield f"{output.count(outcome.withdrawn, 'capture')} withdrawn"
    yield f"{output.count(outcome.pages, 'page')} proposed in {output.count(len(outcome.builds), 'proposal')}"
    for proposal in outcome.builds:
        yield f"  {proposal}"
    for one in refused:
        place = f", line {one.line}" if one.line else ""
        yield f"refused: {one.file}{place}: {one.category.value}. {one.detail}"
