"""Reads of ingest's own tables, and the pages that wait for the end of their import. Inside a transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import asyncpg

from access import lookup
from access.rule import Caller, GrantLine
from chassis import sql
from chassis.postgres import Pooled
from contracts.captures import Acl
from contracts.content import ContentRef
from contracts.enums import PageAction, Refusal
from contracts.errors import Refused
from contracts.ids import BrainId, CaptureId, ContentId, ImportId, PrincipalId, ProposalId
from ingest.domain.importing import Known

STATEMENTS = sql.load("ingest", "shelf.sql")
EVERYONE = "everyone"


@dataclass(frozen=True, slots=True)
class Held:
    """A known file, and the import that its page belongs to, if it was ever composed."""

    known: Known
    import_id: ImportId | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page of an import. `body` None: a withdrawal of something that is no live page. `proposal` None: not proposed.

    `facts`: how many facts its promotion takes, which bounds what fits into one build.
    """

    capture: CaptureId
    action: PageAction
    external_id: str
    path: str
    body: ContentRef | None
    facts: int = 1
    proposal: ProposalId | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """The person who imports, with the grants of all its subjects."""

    caller: Caller
    grants: tuple[GrantLine, ...]


async def latest(db: Pooled, brain: BrainId, source: str, names: Iterable[str]) -> dict[str, Held]:
    """What is known of these files of a source, by name."""
    rows = await db.fetch(STATEMENTS.latest_captures, brain, source, list(names))
    return {row["external_id"]: _held(row) for row in rows}


async def gone(db: Pooled, brain: BrainId, source: str, present: Iterable[str]) -> dict[str, Known]:
    """What the source held and holds no more, by name."""
    rows = await db.fetch(STATEMENTS.gone_captures, brain, source, list(present))
    return {row["external_id"]: _held(row).known for row in rows}


async def refusals(db: Pooled, brain: BrainId, captures: Iterable[CaptureId]) -> dict[CaptureId, tuple[Refusal, int]]:
    """Which of these were refused before: the category, and the position of that fact."""
    rows = await db.fetch(STATEMENTS.refused_captures, brain, list(captures))
    return {CaptureId(row["capture"]): (Refusal(row["category"]), row["source_seq"]) for row in rows}


async def owner_names(db: Pooled) -> frozenset[str]:
    """The names of active members and of groups."""
    return frozenset(row["name"] for row in await db.fetch(STATEMENTS.owner_names))


async def runner(db: Pooled, brain: BrainId, by: PrincipalId) -> Runner:
    """Who imports. Raises `not_a_member` for anyone who is not active."""
    caller = await lookup.caller_for(db, brain, by, None)
    if caller is None:
        raise Refused("not_a_member", "Only an active member may import.", "by", "Sign in as a member of this brain.")
    return Runner(caller, tuple(await lookup.grants_for(db, caller.subjects)))


async def admitted(db: Pooled, names: Sequence[str]) -> Acl | None:
    """Whom these names admit, None where nothing was said. Raises `no_such_member`."""
    if not names:
        return None
    if EVERYONE in names:
        return Acl(everyone=True)
    found: list[PrincipalId] = []
    for name in dict.fromkeys(names):
        member = await lookup.member_by_name(db, name)
        principal = member.id if member is not None and member.active else await lookup.group_by_name(db, name)
        if principal is None:
            raise Refused(
                "no_such_member",
                "The access list names nobody here.",
                "acl",
                "Name active members, groups or everyone.",
            )
        found.append(principal)
    return Acl(principals=tuple(sorted(found)))


async def let_wait(db: Pooled, brain: BrainId, source: str, import_id: ImportId, pages: Iterable[Waiting]) -> None:
    """Let pages wait for the end of their import. A page that was proposed already stays as it is."""
    await db.executemany(
        STATEMENTS.await_page,
        [
            (brain, page.capture, page.action.value, source, page.external_id, import_id, page.path, page.facts)
            + ((None, None) if page.body is None else (page.body.id, page.body.commitment))
            for page in pages
        ],
    )


async def pages_of(db: Pooled, brain: BrainId, import_id: ImportId) -> list[Waiting]:
    """Every page of an import, by path."""
    return [
        Waiting(
            CaptureId(row["capture"]),
            PageAction(row["action"]),
            row["external_id"],
            row["path"],
            None if row["body"] is None else ContentRef(ContentId(row["body"]), row["commitment"]),
            row["facts"],
            None if row["proposal"] is None else ProposalId(row["proposal"]),
        )
        for row in await db.fetch(STATEMENTS.pages_of_import, brain, import_id)
    ]


async def mark_proposed(db: Pooled, brain: BrainId, pages: Sequence[Waiting], proposal: ProposalId | None) -> None:
    """These pages went into a proposal; None: there is nothing to propose of them, so they wait no more."""
    for action in {page.action for page in pages}:
        captures = [page.capture for page in pages if page.action is action]
        if proposal is None:
            await db.execute(STATEMENTS.forget_pages, brain, captures, action.value)
        else:
            await db.execute(STATEMENTS.mark_proposed, brain, captures, proposal, action.value)


def _held(row: asyncpg.Record) -> Held:
    acl = Acl(everyone=row["everyone"], principals=tuple(map(PrincipalId, row["principals"])), known=row["known"])
    supersedes = None if row["supersedes"] is None else CaptureId(row["supersedes"])
    known = Known(CaptureId(row["capture"]), supersedes, acl, row["withdrawn"], row["awaits"])
    return Held(known, None if row["import_id"] is None else ImportId(row["import_id"]))
