"""Open a branch, write pages on it, submit it as one proposal."""

import msgspec

from access import lookup
from approvals import rights
from approvals.commands import drafting
from approvals.desk import Desk
from approvals.domain import build, decision, proposal
from approvals.domain.draft import Draft
from approvals.ledger import loading
from approvals.ledger.loading import Branch
from chassis.postgres import Pooled
from contracts import subjects
from contracts.approvals_messages import OpenBuild, SubmitBuild, Submitted, WritePages
from contracts.enums import Gate, ProposalKind
from contracts.errors import Refused
from contracts.ids import BuildId, PageId, PrincipalId, ProposalId, derived
from contracts.proposals import BuildOpened, BuildSubmitted, ProposalSubmitted
from contracts.replies import Accepted
from eventlog.log import Append

WRITES = 250
"""Pages of one request at most: one bulk batch of the log."""


class Building:
    """The commands of those who write a build."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def open_build(self, asked: OpenBuild) -> Accepted:
        """Begin a branch under the id that the caller chose."""
        opened = BuildOpened(build=asked.build, principal=asked.author, runner=asked.runner, origin=asked.origin)
        held = 0
        await self._desk.fresh()

        async def decide(db: Pooled) -> Append | None:
            nonlocal held
            branch = await self._branch(db, asked.build)
            held = branch.source_seq
            await rights.person(db, self._desk.brain, asked.runner)
            history = subjects.build(self._desk.brain, asked.build)
            said = tuple((history, event) for event in build.open_build(branch.state, opened))
            if not said:
                return None
            return Append(asked.command, asked.runner, asked.command, said, {history: 0}, at=self._desk.clock())

        return await self._accepted(await self._desk.carry_out(decide) or held)

    async def write_pages(self, asked: WritePages) -> Accepted:
        """Put pages on the branch. Raises as `drafting.drafts` and `build.write` do, and `too_many_writes`."""
        if len(asked.writes) > WRITES:
            raise Refused("too_many_writes", f"One request writes at most {WRITES} pages.", "writes", "Send parts.")
        held = 0
        await self._desk.fresh()

        async def decide(db: Pooled) -> Append | None:
            nonlocal held
            branch, drafts = await self._with_drafts(db, asked.build)
            held = branch.source_seq
            if isinstance(branch.state, build.Missing) or branch.state.opened.principal != asked.author:
                raise build.no_such_build()
            runner = PrincipalId(branch.state.opened.runner)
            writer = await rights.person(db, self._desk.brain, runner)
            written = await drafting.drafts(self._desk, db, writer, asked.command, asked.writes, drafts)
            events = build.write(branch.state, asked.build, asked.author, [one.draft for one in written])
            if not events:
                return None
            history = subjects.build(self._desk.brain, asked.build)
            expected = {history: branch.source_seq}
            if len(events) > 1:
                access = (await lookup.gate_positions(db))[Gate.ACCESS]
                expected[subjects.gate(self._desk.brain, Gate.ACCESS)] = access
            said = tuple((history, event) for event in events)
            return Append(asked.command, runner, asked.command, said, expected, at=self._desk.clock())

        return await self._accepted(await self._desk.carry_out(decide) or held)

    async def submit_build(self, asked: SubmitBuild) -> Submitted:
        """Close the branch; it waits as one proposal."""
        id_ = ProposalId(derived(asked.build, "proposal"))
        held = 0
        await self._desk.fresh()

        async def decide(db: Pooled) -> Append | None:
            nonlocal held
            branch, drafts = await self._with_drafts(db, asked.build)
            held = branch.source_seq
            events = build.submit(branch.state, asked.author, BuildSubmitted(build=asked.build, proposal=id_))
            if not events:
                return None
            assert isinstance(branch.state, build.Open)
            opened = branch.state.opened
            await rights.person(db, self._desk.brain, PrincipalId(opened.runner))
            submitted = ProposalSubmitted(
                proposal=id_,
                kind=ProposalKind.BUILD,
                origin=opened.origin,
                author=opened.principal,
                runner=opened.runner,
                build=asked.build,
                pages=len(drafts),
            )
            pages = await loading.pages(db, drafts)
            if decision.facts_of_landing(drafts, pages, opened.origin) > decision.FACTS:
                raise decision.too_many_facts(submitted)
            history, filed = subjects.build(self._desk.brain, asked.build), subjects.proposal(self._desk.brain, id_)
            said: list[tuple[str, msgspec.Struct]] = [(history, event) for event in events]
            said += [(filed, event) for event in proposal.submit(proposal.Missing(), submitted)]
            return Append(
                asked.command,
                PrincipalId(opened.runner),
                asked.command,
                tuple(said),
                {history: branch.source_seq, filed: 0},
                at=self._desk.clock(),
            )

        position = await self._desk.carry_out(decide) or held
        return Submitted(proposal=id_, position=position, archived=await self._desk.archive(position))

    async def _branch(self, db: Pooled, id_: BuildId) -> Branch:
        return (await loading.builds(db, [id_], {})).get(id_, Branch(build.Missing(), 0))

    async def _with_drafts(self, db: Pooled, id_: BuildId) -> tuple[Branch, dict[PageId, Draft]]:
        held = await loading.drafts(db, [id_])
        branch = (await loading.builds(db, [id_], held)).get(id_, Branch(build.Missing(), 0))
        return branch, held.get(id_, {})

    async def _accepted(self, position: int) -> Accepted:
        return Accepted(position, await self._desk.archive(position))
