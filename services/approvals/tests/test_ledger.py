"""The fold: played twice, after a crash, and rebuilt, it holds the same rows."""

from uuid import uuid4

from approvals.commands.deciding import Deciding
from approvals.ledger import projector as ledger
from approvals.ledger.projector import NAME as LEDGER
from approvals_world import World, digest, page_text, projectors
from chassis import postgres
from contracts.approvals_messages import RaiseReview, SubmitBuild, SubmitText, Withdraw
from contracts.enums import Origin, PageAction, ProposalKind, Reason, Verdict
from contracts.ids import CommandId, PageId
from eventlog import leader
from eventlog.projector import read

BODY = page_text("Discount ceiling", "Up to 12 %.")


async def a_busy_week(world: World) -> int:
    """A history with every kind of fact that this service says; the last position."""
    bob = await world.approver("bob")
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, bob, digest(BODY))
    edited = page_text("Discount ceiling", "Up to 15 %.", more="criticality: bedrock\n")
    second = await world.propose("topics/pricing.md", edited, await world.approver("carol"))
    await world.approve(second.proposal, bob, digest(edited))
    await world.approve(second.proposal, world.alice, digest(edited))
    build, author = await world.build({"a.md": page_text("A"), "b.md": page_text("B", more="knowledge: verified\n")})
    landed = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    line = (await world.asking.open_sheets(world.alice, "", 10))[0][0].line
    await world.approve(landed.proposal, world.alice, line.digest)
    ended = await world.propose("a.md", b"", action=PageAction.DEPRECATE)
    await world.approve(ended.proposal, bob, await world.shown(ended.proposal))
    page = next(row for row in (await world.rows())["pages"] if row["path"] == "topics/pricing.md")
    asked = RaiseReview(page=PageId(page["page"]), due=world.desk.clock().replace(year=2027))  # type: ignore[arg-type]  # a UUID
    await world.submissions.raise_review(asked)
    text = SubmitText(
        command=CommandId(uuid4()),
        author=bob,
        origin=Origin.PERSON,
        kind=ProposalKind.OBSERVATION,
        title="Seen in a call",
        body="The ceiling is fifteen.",
    )
    seen = await world.submissions.submit_text(text)
    ballot = world.ballot(
        seen.proposal, world.alice, None, verdict=Verdict.REJECT, reason=Reason.OTHER, note="Known already."
    )
    await Deciding(world.desk).decide(ballot)
    taken = await world.propose("topics/other.md", page_text("Other"), bob)
    back = Withdraw(command=CommandId(uuid4()), by=bob, proposal=taken.proposal)
    position = (await world.submissions.withdraw(back)).position
    assert await world.desk.ledger.reached(position, 10)
    return position


async def test_rows_written_at_once_are_the_rows_that_a_rebuild_makes(world: World) -> None:
    position = await a_busy_week(world)
    incremental = await world.rows()
    assert {row["state"] for row in incremental["proposals"]} == {"open", "approved", "rejected", "withdrawn"}
    await world.rebuild(position)
    assert await world.rows() == incremental


async def test_after_a_crash_the_projector_goes_on_and_decisions_need_not_wait(world: World) -> None:
    await world.desk.catch_up(0)
    await world.stop(LEDGER)
    submitted = await world.propose("topics/pricing.md", BODY)
    decided = await world.approve(submitted.proposal, world.alice, digest(BODY))
    rows = await world.rows()
    assert rows["pages"][0]["live"] is True
    (follower,) = [each for each in projectors(world.desk, world.ledger) if each.name == LEDGER]
    world.run(follower)
    assert await follower.reached(decided.position, 20)
    assert await world.rows() == rows


async def test_facts_that_come_again_change_nothing(world: World) -> None:
    position = await a_busy_week(world)
    before = await world.rows()
    facts = []
    for at in range(1, position + 1):
        stored = await leader.at(world.nc, "EVT", at)
        assert stored is not None
        if stored.subject.split(".")[1] == str(world.brain) and stored.headers["Brain-Type"] in ledger.HEARS:
            facts.append(read(stored, world.ledger.verifier))
    for again in (facts, facts[len(facts) // 2 :], facts[-1:]):
        async with postgres.transaction(world.desk.pool, world.brain) as db:
            await world.desk.write(db, again)
    assert await world.rows() == before
