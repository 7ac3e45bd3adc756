"""What may be asked: the proposals that one may see, one of them in full, and which paths hold a live page."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from approvals import rights, telling
from approvals.desk import Desk
from approvals.domain import decision, page, proposal, sight
from approvals.domain.decision import Case
from approvals.domain.draft import Change, Draft, changes, listing, shown_digest
from approvals.domain.sight import Person
from approvals.ledger import cases, loading
from approvals.ledger.loading import Filed
from approvals.ledger.projector import NAME as LEDGER
from chassis.postgres import Pooled, transaction
from contracts.approvals_messages import (
    AskLivePages,
    AskProposal,
    AskProposals,
    Ballot,
    LivePage,
    LivePages,
    ProposalLine,
    ProposalLines,
    ProposalView,
    ProposedPage,
)
from contracts.content import ContentRef
from contracts.enums import ProposalKind
from contracts.errors import Refused
from contracts.ids import SERVICES, PageId, PrincipalId, ProposalId, service_principal

CHUNK = 200
"""Open proposals looked at in one statement."""
LONGEST = 18
"""Digits of a cursor."""
MOST = 500
"""Lines of one answer: they stay far below the size of a message."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A proposal before its reader: row and case, what a list says of it, what it would do, the reader's rights."""

    filed: Filed
    case: Case
    reader: Person
    line: ProposalLine
    changes: tuple[Change, ...]
    may_decide: bool
    ballots: tuple[Ballot, ...]


class Asking:
    """The queries."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def proposals(self, asked: AskProposals) -> ProposalLines:
        """Open proposals that `by` may see, oldest first. Raises `not_a_member`, `cursor_malformed`."""
        sheets, after = await self.open_sheets(asked.by, asked.after, asked.limit)
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            position = await db.fetchval(loading.STATEMENTS.folded_to, LEDGER) or 0
        return ProposalLines(proposals=tuple(sheet.line for sheet in sheets), next=after, position=position)

    async def open_sheets(self, by: PrincipalId, after: str, limit: int) -> tuple[list[Sheet], str]:
        """The same in full, with the cursor of what comes after, "" where nothing does."""
        await self._desk.fresh()
        at, most = cursor(after), min(max(limit, 1), MOST)
        sheets: list[Sheet] = []
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            reader = await rights.person(db, self._desk.brain, by)
            while True:
                rows = await db.fetch(loading.STATEMENTS.open_after, at, CHUNK)
                for sheet in await self._sheets(db, reader, await loading.with_votes(db, rows)):
                    if len(sheets) == most:
                        return sheets, str(sheets[-1].filed.submitted_seq)
                    sheets.append(sheet)
                if len(rows) < CHUNK:
                    return sheets, ""
                at = rows[-1]["submitted_seq"]

    async def proposal(self, asked: AskProposal) -> ProposalView:
        """One proposal in full. Raises `no_such_proposal`, also where the asker may not know of it."""
        await self._desk.fresh()
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            sheet = await self.sheet(db, asked.by, asked.proposal)
            ref = self.body_of(sheet, asked.page)
            body = b"" if ref is None else (await self._desk.bodies.found(db, [ref])).get(ref.id, b"")
        return ProposalView(
            line=sheet.line,
            state=state_word(sheet.filed),
            may_decide=sheet.may_decide,
            ballots=sheet.ballots,
            pages=tuple(_proposed(one) for one in sheet.case.drafts),
            body=body,
        )

    async def live_pages(self, asked: AskLivePages) -> LivePages:
        """Which of these paths hold a live page, and with which body."""
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            found = await loading.pages(db, (), asked.paths)
        return LivePages(
            pages=tuple(
                LivePage(path=known.path, page=known.page, revision=known.state.revision, body=known.state.body)
                for known in found.values()
                if isinstance(known.state, page.Live)
            )
        )

    async def sheet(self, db: Pooled, by: PrincipalId, id_: ProposalId) -> Sheet:
        """One proposal before its reader. Raises `no_such_proposal` and `not_a_member`."""
        reader = await rights.person(db, self._desk.brain, by)
        sheets = await self._sheets(db, reader, await loading.proposals(db, [id_]))
        if not sheets:
            raise proposal.no_such_proposal()
        return sheets[0]

    @staticmethod
    def body_of(sheet: Sheet, wanted: PageId | None) -> ContentRef | None:
        """The body that is shown: of the page asked for, the only page, or the text. Raises `no_such_page`."""
        submitted, drafts = sheet.filed.submitted, {one.draft.page: one for one in sheet.case.drafts}
        if submitted.text is not None:
            return submitted.text
        if submitted.page is not None:
            known = sheet.case.reviewed
            return None if known is None else known.body
        if submitted.draft is not None:
            return submitted.draft.body
        if wanted is None:
            return None
        if wanted not in drafts:
            raise page.no_such_page()
        return drafts[wanted].draft.body

    async def _sheets(self, db: Pooled, reader: Person, filed: dict[ProposalId, Filed]) -> list[Sheet]:
        """Those of these proposals that exist for the reader, in order."""
        if not filed:
            return []
        brain, by = self._desk.brain, reader.caller.principal
        docket = await cases.of(db, brain, filed, dict.fromkeys(filed, by), None)
        seen = {id_: case for id_, case in docket.cases.items() if sight.sees(reader, case.submitted, case.targets)}
        names = await self._names(db, [filed[id_] for id_ in seen])
        reviewed = [known.body for case in seen.values() if (known := case.reviewed) is not None]
        said = await self._desk.bodies.pages(db, reviewed)
        sheets = []
        for id_, case in seen.items():
            one = filed[id_]
            digests = {draft.draft.body.id: draft.declared.digest for draft in case.drafts}
            digests |= {body: page.digest for body, page in said.items()}
            concerned = changes(case.drafts, case.reviewed, digests)
            may = sight.may_decide(reader, case.submitted, case.targets)
            ballots = tuple(
                Ballot(reviewer=names.get(cast.vote.reviewer, ""), verdict=cast.vote.verdict) for cast in one.cast
            )
            line = _line(one, case, reader, names, concerned)
            sheets.append(Sheet(one, case, reader, line, concerned, may, ballots))
        return sheets

    async def _names(self, db: Pooled, filed: Sequence[Filed]) -> dict[UUID, str]:
        wanted = {cast.vote.reviewer for one in filed for cast in one.cast}
        for one in filed:
            wanted |= {one.submitted.author, one.submitted.runner or one.submitted.author}
        names: dict[UUID, str] = {service_principal(self._desk.brain, name): f"{name} (service)" for name in SERVICES}
        return names | {row["id"]: row["name"] for row in await db.fetch(loading.STATEMENTS.called, list(wanted))}


def state_word(filed: Filed) -> str:
    """What became of a proposal, in a word."""
    match filed.state:
        case proposal.Open():
            return "open"
        case proposal.Resolved(outcome=outcome):
            return outcome.value
        case _:
            return "withdrawn"


def needs(case: Case, reader: Person) -> str:
    """What is still wanted, for people."""
    wanted = decision.requirement(case, reader)
    match case.submitted.kind:
        case ProposalKind.PAGE | ProposalKind.REVIEW:
            right = "approve on its path"
        case ProposalKind.BUILD:
            right = "approve on every path of it"
        case _:
            return f"{wanted.words}, of tier manager or above"
    given = len(proposal.approvers(case.state.votes)) if isinstance(case.state, proposal.Open) else 0
    return f"{wanted.words}, with {right}" + (f"; {given} approved so far" if given else "")


def _line(
    one: Filed, case: Case, reader: Person, names: dict[UUID, str], concerned: tuple[Change, ...]
) -> ProposalLine:
    submitted, title, path, base = one.submitted, one.title, "", 0
    match submitted.kind:
        case ProposalKind.PAGE:
            draft = case.drafts[0]
            path, base = draft.path, draft.draft.base
        case ProposalKind.BUILD:
            title = f"{submitted.pages} pages"
        case ProposalKind.REVIEW:
            known = case.reviewed
            if known is not None:
                title, path = known.title, known.path
                base = known.state.revision if isinstance(known.state, page.Live) else 0
        case _:
            pass
    proposer = names.get(submitted.author, "")
    if submitted.runner is not None and submitted.runner != submitted.author:
        proposer = f"{proposer}, run by {names.get(submitted.runner, '')}".lstrip(", ")
    return ProposalLine(
        id=ProposalId(submitted.proposal),
        kind=submitted.kind,
        title=title,
        path=path,
        change=telling.change(submitted.kind, concerned),
        digest=shown_digest(submitted.kind, concerned) if submitted.kind is ProposalKind.REVIEW else one.shown,
        base=base,
        origin=submitted.origin,
        proposer=proposer,
        waiting_since=one.submitted_at,
        needs=needs(case, reader),
        pages=max(submitted.pages, 1),
        actions=telling.counts(concerned),
        listing="" if submitted.kind is ProposalKind.BUILD else listing(submitted.kind, concerned),
    )


def _proposed(one: Draft) -> ProposedPage:
    return ProposedPage(
        page=PageId(one.draft.page),
        path=one.path,
        title=one.declared.title,
        action=one.draft.action,
        base=one.draft.base,
        digest=one.declared.digest,
    )


def cursor(text: str) -> int:
    """A cursor that an answer of ours held. Raises `cursor_malformed`."""
    if text and not (text.isascii() and text.isdigit() and len(text) <= LONGEST):
        raise Refused("cursor_malformed", "This is not a cursor of ours.", "after", "Begin without one.")
    return int(text or 0)
