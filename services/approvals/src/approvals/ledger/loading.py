"""Rows of the fold as the states that decisions know."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import asyncpg

from access.rule import PageClass
from approvals.domain import build, page, proposal
from approvals.domain.draft import Declared, Draft, Known
from approvals.domain.policy import Weight
from approvals.domain.proposal import Vote
from chassis import sql
from chassis.postgres import Pooled
from contracts.content import ContentRef
from contracts.enums import Access, Gate, Knowledge, Origin, Outcome, PageAction, ProposalKind, Reach, Verdict
from contracts.ids import BuildId, CommandId, ContentId, PageId, PrincipalId, ProposalId
from contracts.proposals import BuildOpened, PageDraft, ProposalSubmitted

STATEMENTS = sql.load("approvals.ledger", "reads.sql")

Row = asyncpg.Record


@dataclass(frozen=True, slots=True)
class Cast:
    """A vote, and the position at which its decision ended."""

    vote: Vote
    ends: int


@dataclass(frozen=True, slots=True)
class Filed:
    """A proposal of the fold, with its draft where it is of kind page.

    `shown`: the digest that the fold knows, which is not proof of the stored bytes.
    """

    state: proposal.State
    submitted: ProposalSubmitted
    source_seq: int
    title: str
    shown: str
    submitted_at: datetime
    submitted_seq: int
    command: CommandId
    ended_at: datetime | None
    cast: tuple[Cast, ...] = ()
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A build of the fold, and the last position of its history."""

    state: build.State
    source_seq: int


async def proposals(db: Pooled, ids: Iterable[ProposalId]) -> dict[ProposalId, Filed]:
    """The proposals of these ids that there are, with their votes."""
    wanted = list(ids)
    rows = await db.fetch(STATEMENTS.proposals, wanted)
    return await with_votes(db, rows)


async def with_votes(db: Pooled, rows: Sequence[Row]) -> dict[ProposalId, Filed]:
    """Proposal rows as proposals, each with its draft where it is of kind page."""
    ids = [row["proposal"] for row in rows]
    cast: dict[UUID, list[Cast]] = {}
    for row in await db.fetch(STATEMENTS.votes, ids):
        vote = Vote(PrincipalId(row["reviewer"]), Verdict(row["verdict"]), CommandId(row["command"]))
        cast.setdefault(row["proposal"], []).append(Cast(vote, row["ends_seq"]))
    pages = [row["proposal"] for row in rows if row["kind"] == ProposalKind.PAGE.value]
    held = await drafts(db, pages)
    return {row["proposal"]: _filed(row, tuple(cast.get(row["proposal"], ())), held) for row in rows}


async def cast_by(db: Pooled, commands: Iterable[CommandId]) -> dict[CommandId, ProposalId]:
    """On which proposals these commands have cast a vote."""
    rows = await db.fetch(STATEMENTS.cast_by, list(commands))
    return {CommandId(row["command"]): ProposalId(row["proposal"]) for row in rows}


async def drafts(db: Pooled, holders: Sequence[UUID]) -> dict[UUID, dict[PageId, Draft]]:
    """The drafts of these holders (proposals of kind page, or builds), by page, in the order of their paths."""
    held: dict[UUID, dict[PageId, Draft]] = {}
    if holders:
        for row in await db.fetch(STATEMENTS.drafts, list(holders)):
            held.setdefault(row["holder"], {})[PageId(row["page"])] = _draft(row)
    return held


async def builds(
    db: Pooled, ids: Sequence[BuildId], held: Mapping[UUID, Mapping[PageId, Draft]]
) -> dict[BuildId, Branch]:
    """The builds of these ids. `held`: their drafts, as `drafts` told them."""
    found = {}
    for row in await db.fetch(STATEMENTS.builds, list(ids)) if ids else ():
        pages = {key: one.draft for key, one in held.get(row["build"], {}).items()}
        found[BuildId(row["build"])] = Branch(_build(row, pages), row["source_seq"])
    return found


async def pages(db: Pooled, ids: Iterable[PageId], paths: Iterable[str] = ()) -> dict[PageId, Known]:
    """The pages of these ids, live or not, and the live ones at these paths."""
    return {PageId(row["page"]): _known(row) for row in await db.fetch(STATEMENTS.pages, list(ids), list(paths))}


async def owners(db: Pooled, names: Iterable[str]) -> dict[str, PrincipalId]:
    """Who these names are: active members, or groups."""
    wanted = list(dict.fromkeys(names))
    rows = await db.fetch(STATEMENTS.owners, wanted) if wanted else ()
    return {row["name"]: PrincipalId(row["id"]) for row in rows}


async def gates(db: Pooled) -> dict[Gate, int]:
    """Where the gates stand that page decisions move."""
    found = {row["gate"]: row["source_seq"] for row in await db.fetch(STATEMENTS.gates)}
    return {gate: found.get(gate.value, 0) for gate in Gate}


def reference(row: Row, name: str) -> ContentRef | None:
    """The body that the columns `<name>_id` and `<name>_commitment` refer to."""
    return None if row[f"{name}_id"] is None else ContentRef(ContentId(row[f"{name}_id"]), row[f"{name}_commitment"])


def _needed(row: Row, name: str) -> ContentRef:
    return ContentRef(ContentId(row[f"{name}_id"]), row[f"{name}_commitment"])


def _filed(row: Row, cast: tuple[Cast, ...], held: Mapping[UUID, Mapping[PageId, Draft]]) -> Filed:
    kind = ProposalKind(row["kind"])
    own = held.get(row["proposal"], {}).get(row["page"]) if kind is ProposalKind.PAGE else None
    submitted = ProposalSubmitted(
        proposal=row["proposal"],
        kind=kind,
        origin=Origin(row["origin"]),
        author=row["author"],
        runner=row["runner"],
        draft=None if own is None else own.draft,
        build=row["build"],
        pages=row["pages"] if kind is ProposalKind.BUILD else 0,
        page=row["page"] if kind is ProposalKind.REVIEW else None,
        due=row["due"],
        text=reference(row, "text"),
    )
    votes = tuple(one.vote for one in cast)
    state: proposal.State
    match row["state"]:
        case "open":
            state = proposal.Open(submitted, votes)
        case "withdrawn":
            state = proposal.Withdrawn(submitted, votes)
        case outcome:
            state = proposal.Resolved(submitted, votes, Outcome(outcome))
    return Filed(
        state,
        submitted,
        row["source_seq"],
        row["title"],
        row["digest"],
        row["submitted_at"],
        row["submitted_seq"],
        CommandId(row["command"]),
        row["ended_at"],
        cast,
        own,
    )


def _draft(row: Row) -> Draft:
    proposed = PageDraft(
        page=row["page"],
        action=PageAction(row["action"]),
        base=row["base"],
        body=_needed(row, "body"),
        path=_needed(row, "path"),
        previous=reference(row, "previous"),
    )
    said = Declared(
        title=row["title"],
        digest=row["digest"],
        owner=row["owner"],
        access=Access(row["access"]),
        reach=Reach(row["reach"]),
        category=row["category"],
        domain=row["domain"],
        weight=Weight(row["weight"]),
        owner_decides=row["owner_decides"],
        knowledge=None if row["knowledge"] is None else Knowledge(row["knowledge"]),
        review_days=row["review_days"],
    )
    return Draft(proposed, row["path"], said)


def _build(row: Row, pages_: Mapping[PageId, PageDraft]) -> build.State:
    opened = BuildOpened(
        build=row["build"], principal=row["principal"], runner=row["runner"], origin=Origin(row["origin"])
    )
    match row["state"]:
        case "open":
            return build.Open(opened, pages_)
        case "submitted":
            return build.Submitted(opened, pages_, row["proposal"])
        case state:
            return build.Ended(opened, landed=state == "promoted")


def _known(row: Row) -> Known:
    state: page.State = page.Deprecated(row["revision"], row["proposal"])
    if row["live"]:
        state = page.Live(
            row["revision"],
            _needed(row, "body"),
            row["proposal"],
            Knowledge(row["knowledge"]),
            row["review_days"],
            row["verified_at"],
            row["stale_since"],
        )
    return Known(
        page=PageId(row["page"]),
        state=state,
        source_seq=row["source_seq"],
        path=row["path"],
        title=row["title"],
        body=_needed(row, "body"),
        path_ref=_needed(row, "path"),
        owner=PrincipalId(row["owner"]),
        placed=PageClass(row["path"], Access(row["access"]), Reach(row["reach"]), row["category"], row["domain"]),
        weight=Weight(row["weight"]),
        owner_decides=row["owner_decides"],
    )
