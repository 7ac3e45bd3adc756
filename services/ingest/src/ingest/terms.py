"""The terms of an import: what the rows and its options say that holds for every file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chassis.postgres import transaction
from contracts.captures import Acl
from contracts.enums import Permission
from contracts.errors import Refused
from contracts.ids import PrincipalId
from contracts.ingest_messages import ImportOptions
from ingest import shelf
from ingest.desk import Desk
from ingest.domain.importing import Terms
from ingest.shelf import Held, Runner

_SOURCE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SOURCE_LENGTH = 64


@dataclass(frozen=True, slots=True)
class World:
    """Who imports, the terms, the known ones among the files, and whom the import admits where it says so."""

    runner: Runner
    terms: Terms
    held: Mapping[str, Held]
    acl: Acl | None


async def world(desk: Desk, by: PrincipalId, options: ImportOptions, names: Iterable[str]) -> World:
    """Read what decisions on these files stand on.

    Raises `source_malformed`, `not_a_member`, `owner_missing`, `no_such_member`.
    """
    check_source(options.source)
    async with transaction(desk.pool, desk.brain, readonly=True) as db:
        runner = await shelf.runner(db, desk.brain, by)
        owners = await shelf.owner_names(db)
        acl = await shelf.admitted(db, options.acl)
        held = await shelf.latest(db, desk.brain, options.source, names, runner.changer)
    if options.owner not in owners:
        raise Refused(
            "owner_missing", "The owner is no active member and no group.", "owner", "Name one who can be asked."
        )
    terms = Terms(
        brain=desk.brain,
        by=by,
        source=options.source,
        owner=options.owner,
        access=options.access,
        names=owners,
        may_suggest=lambda page: runner.holds(Permission.SUGGEST, page),
        key=desk.key,
    )
    return World(runner, terms, held, acl)


def check_source(source: str) -> None:
    """Raise `source_malformed` unless references can carry the name of the source."""
    if len(source) > _SOURCE_LENGTH or not _SOURCE.fullmatch(source):
        raise Refused(
            "source_malformed",
            "A source is named by 1-64 lower-case letters, digits and single hyphens.",
            "source",
            "Name it otherwise.",
        )
