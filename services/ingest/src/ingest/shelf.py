"""Reads of ingest's own tables, and the pages that wait for the end of their import. Inside a transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import asyncpg

from access import lookup
from access.rule import Caller, GrantLine, PageClass, permission, rank
from chassis import sql
from chassis.postgres import Pooled
from contracts.captures import Acl
from contracts.content import ContentRef
from contracts.enums import PageAction, Permission, Refusal, Role
from contracts.errors import Refused
from contracts.ids import BrainId, CaptureId, ContentId, ImportId, PrincipalId, ProposalId
from ingest.domain.capture import Changer, may_change
from ingest.domain.importing import Known

STATEMENTS = sql.load("ingest", "shelf.sql")
EVERYONE = "everyone"
_ADMINISTERING = frozenset({Role.ADMIN, Role.OWNER})


@dataclass(frozen=True, slots=True)
class Held:
    """A known file, and the import and its runner that its page belongs to, if it was ever composed.

    `unsettled`: the proposal that its page went into, unless that is known to be approved.
    """

    known: Known
    import_id: ImportId | None
    runner: PrincipalId | None
    unsettled: ProposalId | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page of an import. `body` None: a withdrawal of something that is no live page. `proposal` None: not proposed.

    `facts`: how many facts its promotion takes, which bounds what fits into one build. `former`: the proposal that it
    went into before, and which ended without it.
    """

    capture: CaptureId
    action: PageAction
    external_id: str
    path: str
    body: ContentRef | None
    facts: int = 1
    proposal: ProposalId | None = None
    former: ProposalId | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """The person who imports, with the grants of all its subjects, and as whom captures know it."""

    caller: Caller
    grants: tuple[GrantLine, ...]
    changer: Changer

    def holds(self, wanted: Permission, page: PageClass) -> bool:
        """Whether the one rule gives at least `wanted` on a page of this class."""
        held = permission(self.grants, self.caller, page)
        return held is not None and rank(held) >= rank(wanted)


async def latest(db: Pooled, brain: BrainId, source: str, names: Iterable[str], changer: Changer) -> dict[str, Held]:
    """What is known of these files of a source to this one, by name: what it filed before what it may change."""
    found: dict[str, Held] = {}
    for row in await db.fetch(STATEMENTS.latest_captures, brain, source, list(names)):
        held, name = _held(row), row["external_id"]
        own = held.known.filed_by == changer.principal
        if own or (name not in found and may_change(changer, held.known.filed_by, held.known.acl)):
            found[name] = held
    return found


async def gone(
    db: Pooled, brain: BrainId, source: str, present: Iterable[str], changer: Changer
) -> list[tuple[str, Known]]:
    """What the source held, holds no more, and this one may change, in the order of names."""
    rows = await db.fetch(STATEMENTS.gone_captures, brain, source, list(present))
    found = [(row["external_id"], _held(row).known) for row in rows]
    return [(name, known) for name, known in found if may_change(changer, known.filed_by, known.acl)]


async def refusals(db: Pooled, brain: BrainId, captures: Iterable[CaptureId]) -> dict[CaptureId, tuple[Refusal, int]]:
    """Which of these were refused before: the category, and the position of that fact."""
    rows = await db.fetch(STATEMENTS.refused_captures, brain, list(captures))
    return {CaptureId(row["capture"]): (Refusal(row["category"]), row["source_seq"]) for row in rows}


async def owner_names(db: Pooled) -> frozenset[str]:
    """The names of active members and of groups."""
    return frozenset(row["name"] for row in await db.fetch(STATEMENTS.owner_names))


async def runner(db: Pooled, brain: BrainId, by: PrincipalId) -> Runner:
    """Who imports. Raises `not_a_member` for anyone who is not active."""
    caller, member = await lookup.caller_for(db, brain, by, None), await lookup.member(db, by)
    if caller is None or member is None:
        raise Refused("not_a_member", "Only an active member may import.", "by", "Sign in as a member of this brain.")
    changer = Changer(by, caller.subjects, member.role in _ADMINISTERING)
    return Runner(caller, tuple(await lookup.grants_for(db, caller.subjects)), changer)


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


async def let_wait(
    db: Pooled, brain: BrainId, by: PrincipalId, source: str, import_id: ImportId, pages: Iterable[Waiting]
) -> None:
    """Let pages wait for the end of their import. A page that was proposed already stays as it is."""
    await db.executemany(
        STATEMENTS.await_page,
        [
            (brain, page.capture, page.action.value, source, page.external_id, import_id, by, page.path, page.facts)
            + ((None, None) if page.body is None else (page.body.id, page.body.commitment))
            for page in pages
        ],
    )


async def pages_of(db: Pooled, brain: BrainId, by: PrincipalId, import_id: ImportId) -> list[Waiting]:
    """Every page of an import that this person runs, by path."""
    return [
        Waiting(
            CaptureId(row["capture"]),
            PageAction(row["action"]),
            row["external_id"],
            row["path"],
            None if row["body"] is None else ContentRef(ContentId(row["body"]), row["commitment"]),
            row["facts"],
            None if row["proposal"] is None else ProposalId(row["proposal"]),
            None if row["former"] is None else ProposalId(row["former"]),
        )
        for row in await db.fetch(STATEMENTS.pages_of_import, brain, import_id, by)
    ]


async def claims(
    db: Pooled, brain: BrainId, by: PrincipalId, import_id: ImportId, paths: Iterable[str]
) -> dict[str, str]:
    """Which of these paths files of an import have already, with the name of the file."""
    rows = await db.fetch(STATEMENTS.claimed_paths, brain, import_id, by, list(paths))
    return {row["path"]: row["external_id"] for row in rows}


async def settle(db: Pooled, brain: BrainId, captures: Iterable[CaptureId], proposals: Iterable[ProposalId]) -> None:
    """The pages of these captures were approved with these proposals."""
    await db.execute(STATEMENTS.settle_pages, brain, list(captures), list(proposals))


async def release(db: Pooled, brain: BrainId, captures: Iterable[CaptureId], proposals: Iterable[ProposalId]) -> None:
    """The pages of these captures wait again: these proposals ended without them."""
    await db.execute(STATEMENTS.release_pages, brain, list(captures), list(proposals))


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
    filed_by = PrincipalId(row["filed_by"])
    known = Known(CaptureId(row["capture"]), filed_by, supersedes, acl, row["withdrawn"], row["awaits"])
    return Held(
        known,
        None if row["import_id"] is None else ImportId(row["import_id"]),
        None if row["runner"] is None else PrincipalId(row["runner"]),
        None if row["unsettled"] is None else ProposalId(row["unsettled"]),
    )
