"""What a page of this site shows, gathered inside one transaction of the brain."""

from dataclasses import dataclass

import msgspec

from approvals.asking import Asking, Sheet, state_word
from approvals.desk import Desk
from approvals.domain import decision, page, policy, proposal
from approvals.domain.draft import Draft, Known, changes, digest, listing, shown_digest
from approvals.domain.page import Live
from approvals.ledger.bodies import Text
from approvals.web import showing
from approvals.web.showing import Line
from chassis.postgres import transaction
from contracts.content import ContentRef
from contracts.enums import PageAction, ProposalKind
from contracts.ids import PageId, PrincipalId, ProposalId


@dataclass(frozen=True, slots=True)
class Body:
    """Stored bytes before a reader. `gone`: they are not in the store any more."""

    digest: str
    lines: list[Line]
    hidden: int
    size: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """One proposal, or one page of a build, before its reader.

    `digest`: what a decision binds to, of the bytes that are shown, "" where they are gone. `listing`: the text that it
    is the digest of, "" where it is that of the bytes alone.
    """

    sheet: Sheet
    state: str
    digest: str
    listing: str
    body: Body | None
    draft: Draft | None
    live: Known | None
    changes: list[Line]
    text: Text | None
    requirement: policy.Requirement
    own: bool
    missing: int
    moved: str


class Reading:
    """Gathers for one reader at a time."""

    def __init__(self, desk: Desk, asking: Asking) -> None:
        self._desk = desk
        self._asking = asking

    async def one(self, by: PrincipalId, id_: ProposalId, wanted: PageId | None = None) -> Shown:
        """A proposal; with `wanted`, that page of the build. Raises `no_such_proposal`, `no_such_page`."""
        await self._desk.fresh()
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            sheet = await self._asking.sheet(db, by, id_)
            ref = self._asking.body_of(sheet, wanted)
            draft = _draft_of(sheet, wanted)
            live = None if draft is None else sheet.case.pages.get(draft.draft.page)
            refs = [each for each in (ref, _replaced(draft)) if each is not None]
            found = await self._desk.bodies.found(db, refs)
        body = None if ref is None else _body(found.get(ref.id))
        compared: list[Line] = []
        replaced = _replaced(draft)
        if ref is not None and replaced is not None and {ref.id, replaced.id} <= found.keys():
            compared = showing.comparison(found[replaced.id].decode(), found[ref.id].decode())
        text = None
        if sheet.filed.submitted.text is not None and ref is not None and ref.id in found:
            text = msgspec.json.decode(found[ref.id], type=Text)
        bound, listed = _bound(sheet, ref, body)
        requirement = decision.requirement(sheet.case, sheet.reader)
        votes = sheet.case.state.votes if isinstance(sheet.case.state, proposal.Open) else ()
        return Shown(
            sheet=sheet,
            state=state_word(sheet.filed),
            digest=bound,
            listing=listed,
            body=body,
            draft=draft,
            live=live,
            changes=compared,
            text=text,
            requirement=requirement,
            own=by == sheet.filed.submitted.author and not requirement.self_approval,
            missing=max(1, requirement.approvals - len(proposal.approvers(votes))),
            moved=_moved(sheet),
        )


def _draft_of(sheet: Sheet, wanted: PageId | None) -> Draft | None:
    drafts = {one.draft.page: one for one in sheet.case.drafts}
    if wanted is not None:
        if wanted not in drafts:
            raise page.no_such_page()
        return drafts[wanted]
    return sheet.case.drafts[0] if sheet.filed.submitted.kind is ProposalKind.PAGE else None


def _replaced(draft: Draft | None) -> ContentRef | None:
    if draft is None or draft.draft.action is PageAction.DEPRECATE:
        return None
    return draft.draft.previous


def _body(stored: bytes | None) -> Body:
    if stored is None:
        return Body("", [], 0, 0, gone=True)
    text = stored.decode()
    return Body(digest(stored), showing.lines(text), showing.hidden(text), len(stored))


def _bound(sheet: Sheet, ref: ContentRef | None, body: Body | None) -> tuple[str, str]:
    """What a decision binds to, and its listing; of the bytes before the reader, where they are the whole of it."""
    kind, concerned = sheet.filed.submitted.kind, sheet.changes
    if sheet.filed.submitted.text is not None:
        return ("" if body is None else body.digest), ""
    if kind is not ProposalKind.BUILD and ref is not None and body is not None:
        concerned = changes(sheet.case.drafts, sheet.case.reviewed, {ref.id: body.digest})
    return shown_digest(kind, concerned), listing(kind, concerned)


def _moved(sheet: Sheet) -> str:
    """In words, why the pages of an open proposal are not what they were when it was made; "" where they are."""
    if not isinstance(sheet.case.state, proposal.Open):
        return ""
    for one in sheet.case.drafts:
        known = sheet.case.pages.get(one.draft.page)
        live = known.state.revision if known is not None and isinstance(known.state, Live) else 0
        if live != one.draft.base:
            now = f"revision {live} is live" if live else "no revision is live"
            return f"{one.path} has changed: this was made against revision {one.draft.base}, and now {now}."
    return ""
