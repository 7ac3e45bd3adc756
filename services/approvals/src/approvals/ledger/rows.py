"""The parameters of the fold's statements, fact by fact."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

import msgspec

from approvals.domain.draft import Declared
from contracts import proposals as facts
from contracts.access_facts import GateMoved
from contracts.content import ContentRef
from contracts.envelope import Recorded
from contracts.ids import ContentId, PageId
from contracts.subjects import parse

Fact: TypeAlias = Recorded[msgspec.Struct]
Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """What the content store says about the facts at hand, and where the decision behind each vote ends."""

    pages: Mapping[ContentId, Declared]
    paths: Mapping[ContentId, str]
    texts: Mapping[ContentId, bytes]
    ends: Mapping[int, int]


def of(one: Fact, words: Words) -> Iterator[tuple[str, Row]]:  # noqa: C901, PLR0912 - one branch a fact
    """The statements that a fact leads to, in order. A submitted proposal has its own functions below."""
    fact, brain, position = one.fact, one.envelope.brain, one.position
    match fact:
        case facts.ProposalDecided():
            vote = (fact.proposal, one.envelope.correlation, fact.reviewer, fact.verdict.value)
            reason = None if fact.reason is None else fact.reason.value
            at = one.envelope.occurred_at
            yield "note_vote", (brain, *vote, reason, *_reference(fact.note), at, position, words.ends[position])
        case facts.ProposalResolved():
            yield "end_proposal", (brain, fact.proposal, fact.outcome.value, one.envelope.occurred_at, position)
        case facts.ProposalWithdrawn():
            yield "end_proposal", (brain, fact.proposal, "withdrawn", one.envelope.occurred_at, position)
        case facts.BuildOpened():
            yield "add_build", (brain, fact.build, fact.principal, fact.runner, fact.origin.value, position)
        case facts.BuildPageWritten():
            yield "put_draft", draft(one, fact.build, fact.draft, words)
            yield "touch_build", (brain, fact.build, position)
        case facts.BuildSubmitted():
            yield "move_build", (brain, fact.build, "submitted", fact.proposal, position)
        case facts.BuildPromoted():
            yield "move_build", (brain, fact.build, "promoted", None, position)
        case facts.BuildAbandoned():
            yield "move_build", (brain, fact.build, "abandoned", None, position)
        case facts.PagePromoted():
            yield "promote_page", page(one, fact, words)
        case facts.PageVerified():
            yield "verify_page", (brain, fact.page, fact.at, position)
        case facts.PageWentStale():
            yield "stale_page", (brain, fact.page, fact.due, position)
        case facts.PageDeprecated():
            yield "deprecate_page", (brain, fact.page, fact.proposal, fact.approver, position)
        case GateMoved():
            yield "move_gate", (brain, parse(one.subject).id, position)
        case _:
            raise TypeError(f"the fold does not know {type(fact).__name__}")


def proposal(one: Fact, fact: facts.ProposalSubmitted, title: str, shown: str, of_page: PageId | None) -> Row:
    """A proposal as it begins. `shown`: the digest that is decided on, "" where it is another row's."""
    return (
        one.envelope.brain,
        fact.proposal,
        fact.kind.value,
        fact.origin.value,
        fact.author,
        fact.runner,
        fact.build,
        max(fact.pages, int(fact.draft is not None)),
        of_page,
        fact.due,
        *_reference(fact.text),
        title,
        shown,
        one.envelope.occurred_at,
        one.position,
        one.envelope.correlation,
    )


def draft(one: Fact, holder: UUID, proposed: facts.PageDraft, words: Words) -> Row:
    """A page as proposed, on its own or on a build."""
    said = words.pages[proposed.body.id]
    return (
        one.envelope.brain,
        holder,
        proposed.page,
        proposed.action.value,
        proposed.base,
        *_reference(proposed.body),
        *_reference(proposed.path),
        *_reference(proposed.previous),
        words.paths[proposed.path.id],
        said.title,
        said.digest,
        said.owner,
        said.access.value,
        said.reach.value,
        said.category,
        said.domain,
        said.weight.value,
        said.owner_decides,
        None if said.knowledge is None else said.knowledge.value,
        said.review_days,
        one.position,
    )


def page(one: Fact, fact: facts.PagePromoted, words: Words) -> Row:
    """A page as it became live."""
    said = words.pages[fact.body.id]
    return (
        one.envelope.brain,
        fact.page,
        fact.revision,
        *_reference(fact.body),
        *_reference(fact.path),
        words.paths[fact.path.id],
        said.title,
        fact.owner,
        fact.access.value,
        fact.reach.value,
        said.category,
        said.domain,
        said.weight.value,
        said.owner_decides,
        fact.knowledge.value,
        fact.review_days,
        fact.proposal,
        fact.approver,
        one.position,
    )


def _reference(ref: ContentRef | None) -> tuple[UUID | None, str | None]:
    return (None, None) if ref is None else (ref.id, ref.commitment)
