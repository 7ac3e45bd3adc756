"""Everything that a decision stands on, loaded for many proposals at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from access import lookup
from approvals import rights
from approvals.domain import build
from approvals.domain.decision import Case
from approvals.domain.draft import Draft, Known, changes, digest, shown_digest
from approvals.domain.page import Live
from approvals.ledger import loading
from approvals.ledger.bodies import Bodies
from approvals.ledger.loading import Branch, Filed
from chassis.postgres import Pooled
from contracts.content import ContentRef
from contracts.enums import Gate
from contracts.ids import BrainId, ContentId, PageId, PrincipalId, ProposalId


@dataclass(frozen=True, slots=True)
class Docket:
    """The cases at hand by proposal, with the rows that they were made of."""

    cases: Mapping[ProposalId, Case]
    filed: Mapping[ProposalId, Filed]


async def load(db: Pooled, brain: BrainId, wanted: Mapping[ProposalId, PrincipalId], bodies: Bodies) -> Docket:
    """The cases of these proposals, each with the member who is to decide on it. Missing ones are left out."""
    filed = await loading.proposals(db, wanted)
    return await of(db, brain, filed, wanted, bodies)


async def of(
    db: Pooled,
    brain: BrainId,
    filed: Mapping[ProposalId, Filed],
    wanted: Mapping[ProposalId, PrincipalId],
    bodies: Bodies | None,
) -> Docket:
    """The same for proposals that are loaded. Without `bodies` the stored bytes are not read."""
    branches = [one.submitted.build for one in filed.values() if one.submitted.build is not None]
    held = await loading.drafts(db, branches)
    builds = await loading.builds(db, branches, held)
    drafts = {id_: _drafts(one, held) for id_, one in filed.items()}
    pages = await _pages(db, filed.values(), drafts.values())
    owners = await loading.owners(
        db, (one.declared.owner for proposed in drafts.values() for one in proposed if one.declared.owner)
    )
    moved, folded = await loading.gates(db), await lookup.gate_positions(db)
    gates = {
        Gate.ACCESS: folded[Gate.ACCESS],
        Gate.PATH: moved[Gate.PATH],
        Gate.FENCE: max(moved[Gate.FENCE], folded[Gate.FENCE]),
    }
    active = await lookup.active_people(db)
    voters = [one.vote.reviewer for each in filed.values() for one in each.cast]
    people = await rights.people(db, brain, [*(wanted[id_] for id_ in filed), *voters])
    stored = {} if bodies is None else await _stored(db, bodies, filed, drafts, pages)
    cases = {}
    for id_, one in filed.items():
        branch = Branch(build.Missing(), 0)
        if one.submitted.build is not None:
            branch = builds.get(one.submitted.build, branch)
        cases[id_] = Case(
            brain=brain,
            state=one.state,
            submitted=one.submitted,
            source_seq=one.source_seq,
            drafts=tuple(drafts[id_]),
            branch=branch.state,
            branch_seq=branch.source_seq,
            pages=pages,
            people={key: people[key] for key in _concerned(wanted[id_], one) if key in people},
            owners=owners,
            active_people=active,
            gates=gates,
            stored=stored.get(id_, ""),
        )
    return Docket(cases, filed)


def _drafts(filed: Filed, held: Mapping[UUID, Mapping[PageId, Draft]]) -> list[Draft]:
    if filed.submitted.build is not None:
        return list(held.get(filed.submitted.build, {}).values())
    return [] if filed.draft is None else [filed.draft]


def _concerned(reviewer: PrincipalId, filed: Filed) -> list[PrincipalId]:
    return [reviewer, *(one.vote.reviewer for one in filed.cast)]


async def _pages(db: Pooled, filed: Iterable[Filed], drafts: Iterable[Sequence[Draft]]) -> dict[PageId, Known]:
    proposed = [one for each in drafts for one in each]
    reviewed = [one.submitted.page for one in filed if one.submitted.page is not None]
    return await loading.pages(db, [*(one.draft.page for one in proposed), *reviewed], [one.path for one in proposed])


async def _stored(
    db: Pooled,
    bodies: Bodies,
    filed: Mapping[ProposalId, Filed],
    drafts: Mapping[ProposalId, Sequence[Draft]],
    pages: Mapping[PageId, Known],
) -> dict[ProposalId, str]:
    """The digests that are decided on, of bytes read and checked against their commitments; "" where some are gone."""
    refs = {id_: _shown(one, drafts[id_], pages) for id_, one in filed.items()}
    found = await bodies.found(db, list({ref for each in refs.values() for ref in each}))
    digests = {key: digest(body) for key, body in found.items()}
    return {id_: _digest(one, drafts[id_], pages, digests) for id_, one in filed.items()}


def _shown(filed: Filed, drafts: Sequence[Draft], pages: Mapping[PageId, Known]) -> list[ContentRef]:
    """The bodies that a reviewer of the proposal is shown."""
    if filed.submitted.text is not None:
        return [filed.submitted.text]
    if filed.submitted.page is not None:
        known = pages.get(filed.submitted.page)
        return [known.body] if known is not None and isinstance(known.state, Live) else []
    return [one.draft.body for one in drafts]


def _digest(
    filed: Filed, drafts: Sequence[Draft], pages: Mapping[PageId, Known], digests: Mapping[ContentId, str]
) -> str:
    submitted = filed.submitted
    if submitted.text is not None:
        return digests.get(submitted.text.id, "")
    reviewed = None if submitted.page is None else pages.get(submitted.page)
    return shown_digest(submitted.kind, changes(drafts, reviewed, digests))
