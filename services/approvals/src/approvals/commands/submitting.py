"""Suggest one page, suggest a text, take a suggestion back, raise the review of a stale page."""

from datetime import timedelta

import msgspec

from approvals import rights
from approvals.commands import drafting
from approvals.desk import Desk
from approvals.domain import build, page, proposal, wording
from approvals.domain.sight import sees, targets
from approvals.ledger import loading
from approvals.ledger.bodies import Text
from chassis.postgres import Pooled, transaction
from content.bodies import Put, Slot
from contracts import subjects
from contracts.approvals_messages import RaiseReview, SubmitPage, Submitted, SubmitText, Withdraw
from contracts.enums import Origin, ProposalKind
from contracts.errors import Refused
from contracts.ids import CommandId, PrincipalId, ProposalId, content_id, derived, service_principal
from contracts.proposals import ProposalSubmitted
from contracts.replies import Accepted
from eventlog.log import Append

TEXT_KINDS = frozenset(
    {ProposalKind.OBSERVATION, ProposalKind.CORRECTION, ProposalKind.PROPOSAL, ProposalKind.WORK_OUTPUT}
)
TITLE = range(3, 121)
"""Characters of an inbox title (domain: numbers that are rules)."""
BODY = range(10, 4001)
NODES = 10
SNOOZE = timedelta(days=14)
"""How long a rejected review rests, while the page stays stale (domain: freshness)."""


class Submissions:
    """The commands of those who suggest."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def submit_page(self, asked: SubmitPage) -> Submitted:
        """Suggest one page against the revision that is live. Raises as `drafting.drafts` does, and `unchanged`."""
        id_ = ProposalId(derived(asked.command, "proposal"))
        await self._desk.fresh()

        async def decide(db: Pooled) -> Append | None:
            if await self._is_filed(db, id_, asked.author):
                return None
            writer = await rights.person(db, self._desk.brain, asked.runner or asked.author)
            (draft,) = await drafting.drafts(self._desk, db, writer, asked.command, [asked.write], {})
            if draft.draft.previous is not None and draft.declared.digest:
                live = (await self._desk.bodies.pages(db, [draft.draft.previous]))[draft.draft.previous.id]
                known = (await loading.pages(db, [draft.draft.page]))[draft.draft.page]
                if live.digest == draft.declared.digest and known.path == draft.path:
                    raise Refused("unchanged", "The live page has these very bytes.", draft.path, "Nothing to do.")
            return self._filing(
                asked.command,
                ProposalSubmitted(
                    proposal=id_,
                    kind=ProposalKind.PAGE,
                    origin=asked.origin,
                    author=asked.author,
                    runner=asked.runner,
                    draft=draft.draft,
                ),
            )

        return await self._submitted(id_, await self._desk.carry_out(decide))

    async def submit_text(self, asked: SubmitText) -> Submitted:
        """Put a text into the inbox.

        Raises `text_kind`, `title_length`, `body_length`, `too_many_nodes`, and what the checks of `wording` raise.
        """
        _check_text(asked)
        id_ = ProposalId(derived(asked.command, "proposal"))
        await self._desk.fresh()

        async def decide(db: Pooled) -> Append | None:
            if await self._is_filed(db, id_, asked.author):
                return None
            await rights.person(db, self._desk.brain, asked.author)
            body = msgspec.json.encode(Text(asked.title, asked.body, asked.nodes))
            put = Put(content_id(asked.command, "text"), body, Slot.TEXT)
            (text,) = await self._desk.store.put(db, self._desk.brain, [put])
            return self._filing(
                asked.command,
                ProposalSubmitted(proposal=id_, kind=asked.kind, origin=asked.origin, author=asked.author, text=text),
            )

        return await self._submitted(id_, await self._desk.carry_out(decide))

    async def withdraw(self, asked: Withdraw) -> Accepted:
        """Take a proposal back; the branch of a build is abandoned with it."""
        position = 0

        async def decide(db: Pooled) -> Append | None:
            nonlocal position
            filed = (await loading.proposals(db, [asked.proposal])).get(asked.proposal)
            if filed is None:
                raise proposal.no_such_proposal()
            submitted, position = filed.submitted, filed.source_seq
            person = await rights.person(db, self._desk.brain, asked.by)
            held = await loading.drafts(db, [submitted.build or submitted.proposal])
            proposed = held.get(submitted.build or submitted.proposal, {})
            concerned = {*proposed, *([submitted.page] if submitted.page else [])}
            pages = await loading.pages(db, concerned)
            if not sees(person, submitted, targets(submitted, proposed.values(), pages)):
                raise proposal.no_such_proposal()
            events = proposal.withdraw(filed.state, asked.by)
            if not events:
                return None
            history = subjects.proposal(self._desk.brain, submitted.proposal)
            said: list[tuple[str, msgspec.Struct]] = [(history, event) for event in events]
            expected = {history: filed.source_seq}
            if submitted.build is not None:
                branch = (await loading.builds(db, [submitted.build], held))[submitted.build]
                of_build = subjects.build(self._desk.brain, submitted.build)
                said = [(of_build, event) for event in build.abandon(branch.state, submitted.build)] + said
                expected[of_build] = branch.source_seq
            return Append(asked.command, asked.by, asked.command, tuple(said), expected, at=self._desk.clock())

        position = await self._desk.carry_out(decide) or position
        return Accepted(position, await self._desk.archive(position))

    async def raise_review(self, asked: RaiseReview) -> Submitted:
        """Say that a page's window has passed, and let a person look at it.

        Quiet while such a review is open, and for 14 days after one was rejected. Raises `no_such_page`, `not_due`.
        """
        brain, now = self._desk.brain, self._desk.clock()
        drift = service_principal(brain, "drift")
        filed: list[ProposalId] = []

        async def decide(db: Pooled) -> Append | None:
            known = (await loading.pages(db, [asked.page])).get(asked.page)
            if known is None or not isinstance(known.state, page.Live):
                raise page.no_such_page()
            verified = known.state.verified_at
            if verified is not None and verified + timedelta(days=known.state.review_days) > asked.due:
                raise Refused("not_due", "The page has been verified since.", f"page {asked.page}", "Nothing to do.")
            before = await db.fetchrow(loading.STATEMENTS.review_of, asked.page, asked.due)
            if before is not None and (before["state"] == "open" or before["ended_at"] + SNOOZE > now):
                filed[:] = [before["proposal"]]
                return None
            times = 0 if before is None else before["times"]
            command = CommandId(derived(brain, "review", asked.page, asked.due.isoformat(), times))
            filed[:] = [ProposalId(derived(command, "proposal"))]
            submitted = ProposalSubmitted(
                proposal=filed[0],
                kind=ProposalKind.REVIEW,
                origin=Origin.FRESHNESS,
                author=drift,
                page=asked.page,
                due=asked.due,
            )
            of_page, of_proposal = subjects.page(brain, asked.page), subjects.proposal(brain, filed[0])
            stale = [(of_page, event) for event in page.go_stale(known.state, asked.page, asked.due)]
            expected = {of_proposal: 0} | ({of_page: known.source_seq} if stale else {})
            return Append(command, drift, command, (*stale, (of_proposal, submitted)), expected, at=now)

        position = await self._desk.carry_out(decide)
        return await self._submitted(filed[0], position)

    async def _is_filed(self, db: Pooled, id_: ProposalId, author: PrincipalId) -> bool:
        """Whether this command has been carried out already. Raises `proposal_exists` where somebody else's has."""
        filed = (await loading.proposals(db, [id_])).get(id_)
        if filed is not None and filed.submitted.author != author:
            raise proposal.proposal_exists(id_)
        return filed is not None

    def _filing(self, command: CommandId, submitted: ProposalSubmitted) -> Append:
        history = subjects.proposal(self._desk.brain, submitted.proposal)
        said = tuple((history, event) for event in proposal.submit(proposal.Missing(), submitted))
        actor = submitted.runner or submitted.author
        return Append(command, actor, command, said, {history: 0}, at=self._desk.clock())

    async def _submitted(self, id_: ProposalId, position: int | None) -> Submitted:
        if position is None:
            position = (await self.filed(id_)).submitted_seq
        return Submitted(proposal=id_, position=position, archived=await self._desk.archive(position))

    async def filed(self, id_: ProposalId) -> loading.Filed:
        """A proposal that is known to be there."""
        async with transaction(self._desk.pool, self._desk.brain, readonly=True) as db:
            return (await loading.proposals(db, [id_]))[id_]


def _check_text(asked: SubmitText) -> None:
    if asked.kind not in TEXT_KINDS:
        raise Refused("text_kind", "This kind of proposal is not a text.", "kind", "Send one of the inbox kinds.")
    if len(asked.title.strip()) not in TITLE:
        raise Refused("title_length", "A title has 3 to 120 characters.", "title", "Shorten or complete it.")
    if len(asked.body.strip()) not in BODY:
        raise Refused("body_length", "A text has 10 to 4000 characters.", "body", "Shorten or complete it.")
    if len(asked.nodes) > NODES:
        raise Refused("too_many_nodes", f"A text concerns at most {NODES} nodes.", "nodes", "Name the main ones.")
    wording.check_title(asked.title)
    wording.check_body(asked.body)
    wording.check_nodes(asked.nodes)
