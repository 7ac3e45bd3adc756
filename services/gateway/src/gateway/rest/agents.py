"""The four operations of agents, carried out by the services behind. Each is defined here once, for every door."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from contracts import retrieval_messages
from contracts.enums import ProposalKind, Scope
from contracts.errors import Refused, Unavailable
from contracts.ids import CommandId
from contracts.retrieval_messages import Hits, PageView
from gateway.audit import trail
from gateway.behind import Behind, registered
from gateway.credentials import Viewer
from gateway.limits.rates import Limit
from gateway.mcp import render, words
from gateway.rest import shapes

ABOUT_SECONDS = 3.0
"""How long an answer waits for what is open about its citations."""
STALE = "canon_stale"
_ABOUT = 20
NOT_THERE = "There is nothing here that you can see."


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One Struct in, one Struct out. `path`: over REST, by `method`; a name in braces is a field of what it takes.

    `told`: the answer as text, for clients that read no structure.
    """

    name: str
    title: str
    description: str
    method: str
    path: str
    asked: type[Any]
    answer: type[msgspec.Struct]
    serve: Callable[[Viewer, Any], Awaitable[msgspec.Struct]]
    told: Callable[[Any], str]
    rate: Limit
    scope: Scope = Scope.READ
    denial: str = "Forbidden: this token is missing the required brain:read scope."
    read_only: bool = True


class Agents:
    """Answers agents from what the services behind say."""

    def __init__(self, behind: Behind, new_id: Callable[[], UUID]) -> None:
        self._behind = behind
        self._new_id = new_id

    def operations(self) -> tuple[Operation, ...]:
        """All of them, in the order in which they are listed."""
        return (
            Operation(
                name="query",
                title="Ask the brain",
                description="Passages of approved pages that answer a question, each cited with page, revision, digest"
                " and approver; with trust, open conflicts and freshness.",
                method="POST",
                path="/tools/query",
                asked=shapes.Query,
                answer=shapes.Answer,
                serve=self.query,
                told=_answer,
                rate=Limit.SEARCH,
            ),
            Operation(
                name="get_entry",
                title="Get a page",
                description="One page by path or node id: text, owner, trust, review, relations, figures, receipt.",
                method="GET",
                path="/tools/entries/{entry}",
                asked=shapes.GetEntry,
                answer=shapes.EntryView,
                serve=self.get_entry,
                told=_entry,
                rate=Limit.READ,
            ),
            Operation(
                name="list_conflicts",
                title="List open conflicts",
                description="What pages say is open: unresolved pages, unresolved relations, and those that need"
                " clarification.",
                method="GET",
                path="/tools/conflicts",
                asked=shapes.ListConflicts,
                answer=shapes.Conflicts,
                serve=self.list_conflicts,
                told=_conflicts,
                rate=Limit.READ,
            ),
            Operation(
                name="propose_update",
                title="Propose an update",
                description="Propose a correction of a page. It changes nothing: a person reads exactly what you sent"
                " and decides. Needs the scope brain:propose.",
                method="POST",
                path="/tools/proposals",
                asked=shapes.ProposeUpdate,
                answer=shapes.Proposed,
                serve=self.propose_update,
                told=_proposed,
                rate=Limit.PROPOSE,
                scope=Scope.PROPOSE,
                denial=words.FORBIDDEN_PROPOSE,
                read_only=False,
            ),
        )

    async def query(self, viewer: Viewer, asked: shapes.Query) -> shapes.Answer:
        """The best passages, as the answer. Raises `Refused` for domains that the token is not for."""
        _admits(viewer, asked.domains)
        found = await self._behind.passages(viewer, asked.question, asked.max_citations, asked.domains)
        degraded = [*found.degraded, *(["stream"] if asked.include_stream else [])]
        conflicts: tuple[retrieval_messages.Contested, ...] = ()
        if found.hits:
            cited = tuple(dict.fromkeys(hit.receipt.page for hit in found.hits))
            try:
                about = await self._behind.contested(viewer, pages=cited, limit=_ABOUT, seconds=ABOUT_SECONDS)
                conflicts = about.contested
            except Unavailable:
                degraded.append("conflicts")
        return _answered(found, conflicts, tuple(degraded))

    async def get_entry(self, viewer: Viewer, asked: shapes.GetEntry) -> shapes.EntryView:
        """One page. Raises `Refused` (no_such_page), alike for one that there is not and one that is hidden."""
        view = await self._page(viewer, asked.entry)
        trail.current().saw_page(view)
        text, following = render.part(view, asked.offset)
        fields = {name: getattr(view, name) for name in view.__struct_fields__ if name != "text"}
        return shapes.EntryView(**fields, text=text, next_offset=following)

    async def list_conflicts(self, viewer: Viewer, asked: shapes.ListConflicts) -> shapes.Conflicts:
        """What pages say is open. Raises `Refused` for domains that the token is not for."""
        _admits(viewer, asked.domains)
        found = await self._behind.contested(viewer, domains=asked.domains, limit=asked.limit)
        left = trail.current()
        left.results, left.position = len(found.contested), found.position
        return shapes.Conflicts(conflicts=found.contested, more=found.more, empty=found.empty, position=found.position)

    async def propose_update(self, viewer: Viewer, asked: shapes.ProposeUpdate) -> shapes.Proposed:
        """A correction for the inbox, of a page that the caller sees. Raises `Refused`."""
        view = await self._page(viewer, asked.entry)
        command = CommandId(asked.command or self._new_id())
        filed = await self._behind.file(viewer, command, ProposalKind.CORRECTION, asked.title, asked.body, (view.id,))
        return shapes.Proposed(
            proposal=filed.proposal,
            kind="correction",
            status="pending",
            entry=view.id,
            position=filed.position,
            archived=filed.archived,
        )

    async def _page(self, viewer: Viewer, entry: str) -> PageView:
        try:
            return await self._behind.page(viewer, entry)
        except Refused as refused:
            if refused.code != "no_such_page":
                raise
            raise Refused("no_such_page", NOT_THERE, "entry", "Find it with query.") from refused


def _admits(viewer: Viewer, domains: list[str]) -> None:
    """Refuse domains beyond the token's own, whether or not there are pages of them."""
    held = viewer.caller.domains
    if held is not None and not held.issuperset(domains):
        raise Refused(
            "forbidden", "This token is not for every domain that was asked for.", "domains", "Ask for fewer."
        )


def _answered(
    found: Hits, conflicts: tuple[retrieval_messages.Contested, ...], degraded: tuple[str, ...]
) -> shapes.Answer:
    citations = tuple(
        shapes.Citation(
            number=number,
            id=hit.id,
            path=hit.path,
            title=hit.title,
            heading=hit.heading,
            trust=hit.trust,
            revision=hit.receipt.revision,
            digest=hit.receipt.digest,
            approver=hit.receipt.approver,
            approved_at=hit.receipt.approved_at,
            verified=hit.receipt.verified_at,
            position=hit.receipt.position,
        )
        for number, hit in enumerate(found.hits, start=1)
    )
    passages = [f"{hit.text} [{number}]" for number, hit in enumerate(found.hits, start=1)]
    verified = [each.verified for each in citations if each.verified is not None]
    return shapes.Answer(
        answer="\n\n".join(passages) or render.NOTHING,
        trust=found.trust,
        citations=citations,
        conflicts=conflicts,
        freshness=shapes.Freshness(
            oldest_verified=min(verified, default=None), stale=sum(each.trust == STALE for each in citations)
        ),
        empty=found.empty,
        degraded=degraded,
        position=found.position,
    )


def _answer(answer: shapes.Answer) -> str:
    lines = [answer.answer if answer.citations else f"{answer.answer} {answer.empty}".strip(), f"trust: {answer.trust}"]
    lines += [
        f"[{each.number}] [{each.id}] {each.title} ({each.path}); {each.trust}; revision {each.revision} approved by"
        f" {each.approver} at {each.approved_at.isoformat()}, sha256 {each.digest}"
        for each in answer.citations
    ]
    lines += [f"Open: {_open(each)}" for each in answer.conflicts]
    if answer.degraded:
        lines.append(f"answered without: {', '.join(answer.degraded)}")
    return "\n".join(lines)


def _entry(entry: shapes.EntryView) -> str:
    return render.page(entry, entry.text, entry.next_offset)


def _conflicts(found: shapes.Conflicts) -> str:
    if not found.conflicts:
        return f"No page that you see says that anything is open. {found.empty}"
    lines = [_open(each) for each in found.conflicts]
    return "\n".join([*lines, "There are more."] if found.more else lines)


def _open(each: retrieval_messages.Contested) -> str:
    other = f" with [{each.other_id}] {each.other_title} ({each.other})" if each.other else ""
    return f"[{each.id}] {each.title} ({each.path}): {each.reason}{other}"


def _proposed(receipt: shapes.Proposed) -> str:
    return registered(receipt.proposal, receipt.kind)
