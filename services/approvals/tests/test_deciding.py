"""Decisions on real servers: promotion, refusals, races, retries."""

import asyncio
from uuid import uuid4

import pytest
from msgspec.structs import replace

from approvals.commands.deciding import Deciding
from approvals_world import World, digest, page_text
from contracts import codec, subjects
from contracts.approvals_messages import AskProposal, AskProposals, Decided, SubmitBuild
from contracts.enums import Origin, PageAction, Permission, Reason, Tier, Verdict
from contracts.errors import Refused
from contracts.ids import CommandId, ProposalId

BODY = page_text("Discount ceiling", "Up to 12 %.")


async def refused(code: str, awaited: "asyncio.Future[Decided] | object") -> Refused:
    with pytest.raises(Refused) as caught:
        await awaited  # type: ignore[misc]  # any awaitable of ours
    assert caught.value.code == code
    return caught.value


async def test_an_approved_page_is_promoted_verified_and_archived(world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    decided = await world.approve(submitted.proposal, world.alice, digest(BODY))
    assert (decided.outcome, decided.archived, decided.vectors) == ("approved", True, False)
    (page,) = (await world.rows())["pages"]
    assert (page["path"], page["title"], page["revision"], page["live"]) == (
        "topics/pricing.md",
        "Discount ceiling",
        1,
        True,
    )
    assert page["knowledge"] == "verified"
    assert page["verified_at"] is not None
    last = await world.last_of(subjects.proposal(world.brain, submitted.proposal))
    assert last is not None
    assert last.position == decided.position
    assert codec.decode_envelope(last.body).type == "proposal_resolved"


async def test_an_edit_is_the_next_revision_and_no_verification(world: World) -> None:
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    before = (await world.rows())["pages"][0]
    edited = page_text("Discount ceiling", "Up to 15 %.")
    second = await world.propose("topics/pricing.md", edited)
    await world.approve(second.proposal, world.alice, digest(edited))
    (page,) = (await world.rows())["pages"]
    assert (page["page"], page["revision"], page["verified_at"]) == (before["page"], 2, before["verified_at"])


async def test_an_imported_page_is_a_hypothesis_unless_it_says_otherwise(world: World) -> None:
    build, author = await world.build({"a.md": page_text("A"), "b.md": page_text("B", more="knowledge: verified\n")})
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    lines = (await world.asking.proposals(_ask(world))).proposals
    await world.approve(submitted.proposal, world.alice, lines[0].digest)
    pages = {row["path"]: row for row in (await world.rows())["pages"]}
    assert (pages["a.md"]["knowledge"], pages["a.md"]["verified_at"]) == ("hypothesis", None)
    assert pages["b.md"]["knowledge"] == "verified"
    assert pages["b.md"]["verified_at"] is not None


def _ask(world: World) -> AskProposals:
    return AskProposals(by=world.alice)


async def test_the_digest_must_be_that_of_the_stored_bytes(world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    await refused("digest_mismatch", world.approve(submitted.proposal, world.alice, digest(b"other")))
    await refused("digest_missing", Deciding(world.desk).decide(world.ballot(submitted.proposal, world.alice, None)))
    assert (await world.rows())["votes"] == []


async def test_a_second_decision_is_refused_and_a_retry_is_answered_the_same(world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    ballot = world.ballot(submitted.proposal, world.alice, digest(BODY))
    first = await Deciding(world.desk).decide(ballot)
    assert await Deciding(world.desk).decide(ballot) == first
    await refused("already_decided", world.approve(submitted.proposal, world.alice, digest(BODY)))


async def test_a_command_decides_once_and_on_one_proposal(world: World) -> None:
    one, other = [await world.propose(path, BODY) for path in ("a.md", "b.md")]
    deciding, shown = Deciding(world.desk), digest(BODY)
    first = world.ballot(one.proposal, world.alice, shown)
    done = await deciding.decide(first)
    changed = [
        replace(first, digest=None),
        replace(first, digest=digest(b"other")),
        replace(first, by=await world.approver("bob")),
        replace(first, verdict=Verdict.REJECT, reason=Reason.WRONG, note="No."),
        replace(first, proposal=other.proposal),
        replace(first, proposal=other.proposal, verdict=Verdict.REJECT, reason=Reason.OTHER, note="No."),
        replace(first, proposal=ProposalId(uuid4())),
    ]
    for each in changed:
        await refused("command_reused", deciding.decide(each))
    assert await deciding.decide(first) == done
    assert len((await world.rows())["votes"]) == 1


async def test_of_two_proposals_decided_at_once_by_one_command_one_is_decided(world: World) -> None:
    proposals = [(await world.propose(path, BODY)).proposal for path in ("a.md", "b.md")]
    deciding, command = Deciding(world.desk), CommandId(uuid4())
    ballots = [world.ballot(each, world.alice, digest(BODY), command=command) for each in proposals]
    answers = await asyncio.gather(*(deciding.decide(each) for each in ballots), return_exceptions=True)
    assert sorted(each.code if isinstance(each, Refused) else type(each).__name__ for each in answers) == [
        "Decided",
        "command_reused",
    ]
    assert len((await world.rows())["votes"]) == 1


async def test_a_moved_base_is_told(world: World) -> None:
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    one, other = page_text("Discount ceiling", "One."), page_text("Discount ceiling", "Other.")
    a = await world.propose("topics/pricing.md", one)
    b = await world.propose("topics/pricing.md", other)
    await world.approve(a.proposal, world.alice, digest(one))
    error = await refused("base_moved", world.approve(b.proposal, world.alice, digest(other)))
    assert error.where == "topics/pricing.md"


async def test_two_new_pages_at_one_path_cannot_both_land(world: World) -> None:
    other = page_text("Another")
    a, b = await world.propose("topics/new.md", BODY), await world.propose("topics/new.md", other)
    ballots = [
        world.ballot(a.proposal, world.alice, digest(BODY)),
        world.ballot(b.proposal, world.alice, digest(other)),
    ]
    deciding = Deciding(world.desk)
    answers = await asyncio.gather(*(deciding.decide(each) for each in ballots), return_exceptions=True)
    assert [getattr(each, "code", "landed") for each in answers] == ["landed", "path_taken"]


async def test_of_many_contradictory_decisions_exactly_one_counts(world: World) -> None:
    people = [world.alice, *[await world.approver(f"reviewer-{n}") for n in range(9)]]
    author = await world.approver("author")
    submitted = await world.propose("topics/pricing.md", BODY, author)
    desks = [Deciding(world.desk) for _ in range(3)]  # three replicas, as far as the log can tell
    ballots = [
        world.ballot(
            submitted.proposal,
            person,
            digest(BODY),
            verdict=Verdict.APPROVE if index % 2 else Verdict.REJECT,
            reason=None if index % 2 else Reason.WRONG,
        )
        for index, person in enumerate(people)
    ]
    answers = await asyncio.gather(
        *(desks[index % 3].decide(each) for index, each in enumerate(ballots)), return_exceptions=True
    )
    assert sum(isinstance(each, Decided) for each in answers) == 1
    assert {each.code for each in answers if isinstance(each, Refused)} == {"already_decided"}
    rows = await world.rows()
    assert len(rows["votes"]) == 1
    assert len(rows["pages"]) == (1 if rows["votes"][0]["verdict"] == "approve" else 0)


async def test_nobody_approves_their_own_while_there_is_somebody_else(world: World) -> None:
    bob = await world.approver("bob")
    submitted = await world.propose("topics/pricing.md", BODY, bob)
    await refused("self_approval", world.approve(submitted.proposal, bob, digest(BODY)))
    assert (await world.approve(submitted.proposal, world.alice, digest(BODY))).outcome == "approved"


async def test_bedrock_needs_two_different_people(world: World) -> None:
    bob, carol = await world.approver("bob"), await world.approver("carol")
    body = page_text("Values", more="criticality: bedrock\n")
    submitted = await world.propose("values.md", body)
    assert (await world.approve(submitted.proposal, bob, digest(body))).outcome is None
    await refused("already_decided", world.approve(submitted.proposal, bob, digest(body)))
    await refused("self_approval", world.approve(submitted.proposal, world.alice, digest(body)))
    assert (await world.approve(submitted.proposal, carol, digest(body))).outcome == "approved"


async def test_an_earlier_vote_does_not_count_once_its_right_is_gone(world: World) -> None:
    bob, carol, dan = await world.member("bob"), await world.approver("carol"), await world.approver("dan")
    grant = await world.grant(bob, "**", Permission.APPROVE)
    body = page_text("Values", more="criticality: bedrock\n")
    submitted = await world.propose("values.md", body)
    await world.approve(submitted.proposal, bob, digest(body))
    await world.revoke(bob, grant)
    assert (await world.approve(submitted.proposal, carol, digest(body))).outcome is None
    assert (await world.approve(submitted.proposal, dan, digest(body))).outcome == "approved"


async def test_a_proposal_does_not_exist_for_a_stranger_and_its_author_may_not_decide_without_the_right(
    world: World,
) -> None:
    mallory, author = await world.member("mallory"), await world.member("author")
    await world.grant(author, "**", Permission.SUGGEST)
    submitted = await world.propose("topics/pricing.md", BODY, author)
    unknown = await refused("no_such_proposal", world.approve(ProposalId(uuid4()), mallory, digest(BODY)))
    hidden = await refused("no_such_proposal", world.approve(submitted.proposal, mallory, digest(BODY)))
    assert (unknown.what, unknown.where, unknown.remedy) == (hidden.what, hidden.where, hidden.remedy)
    await refused("forbidden", world.approve(submitted.proposal, author, digest(BODY)))


async def test_a_right_that_is_revoked_in_between_counts_no_more(world: World) -> None:
    bob = await world.member("bob")
    grant = await world.grant(bob, "topics/**", Permission.APPROVE)
    submitted = await world.propose("topics/pricing.md", BODY)
    for follower in world.followers[:1]:
        assert follower.name == "approvals-access-v1"
    await world.revoke(bob, grant)  # the projection may lag: the log's expectation must hold
    await refused("no_such_proposal", world.approve(submitted.proposal, bob, digest(BODY)))
    assert (await world.rows())["pages"] == []


async def test_a_revocation_racing_an_approval_leaves_one_order(world: World) -> None:
    for round_ in range(5):
        bob = await world.member(f"bob-{round_}")
        grant = await world.grant(bob, "topics/**", Permission.APPROVE)
        body = page_text(f"Page {round_}")
        submitted = await world.propose(f"topics/page-{round_}.md", body)
        answer, revoked = await asyncio.gather(
            world.approve(submitted.proposal, bob, digest(body)), world.revoke(bob, grant), return_exceptions=True
        )
        assert isinstance(revoked, int)
        if isinstance(answer, Decided):
            assert answer.position < revoked
        else:
            assert isinstance(answer, Refused)


async def test_a_tier_limits_who_may_decide(world: World) -> None:
    bob = await world.approver("bob", tier=Tier.EMPLOYEE)
    body = page_text("Salaries", more="access: hr\n")
    submitted = await world.propose("hr/salaries.md", body)
    await refused("no_such_proposal", world.approve(submitted.proposal, bob, digest(body)))


async def test_deprecating_frees_the_path_and_moves_the_fence(world: World) -> None:
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    ended = await world.propose("topics/pricing.md", BODY, action=PageAction.DEPRECATE)
    before = (await world.rows())["gates"]
    await world.approve(ended.proposal, world.alice, await world.shown(ended.proposal))
    rows = await world.rows()
    assert rows["pages"][0]["live"] is False
    assert {row["gate"] for row in rows["gates"]} == {"access", "fence", "path"}
    assert before != rows["gates"]
    again = await world.propose("topics/pricing.md", BODY)
    assert (await world.approve(again.proposal, world.alice, digest(BODY))).outcome == "approved"


async def test_the_end_of_a_page_is_never_approved_by_the_digest_that_published_it(world: World) -> None:
    await world.publish("topics/pricing.md", BODY)
    ended = await world.propose("topics/pricing.md", b"", action=PageAction.DEPRECATE)
    await refused("digest_mismatch", world.approve(ended.proposal, world.alice, digest(BODY)))
    (line,) = (await world.asking.proposals(_ask(world))).proposals
    assert (line.change, line.actions) == ("end of page (revision 1)", {PageAction.DEPRECATE: 1})
    assert line.listing == f"deprecate 1 {digest(BODY)} topics/pricing.md\n"
    ballot = world.ballot(ended.proposal, world.alice, digest(line.listing.encode()))
    decided = await Deciding(world.desk).decide(ballot)
    assert decided.outcome == "approved"
    assert (await Deciding(world.desk).decide(ballot)).position == decided.position


async def test_whoever_ended_a_page_still_sees_what_was_decided(world: World) -> None:
    bob = await world.approver("bob", "topics/**")
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, bob, digest(BODY))
    ended = await world.propose("topics/pricing.md", b"", action=PageAction.DEPRECATE)
    await world.approve(ended.proposal, bob, await world.shown(ended.proposal))
    view = await world.asking.proposal(AskProposal(by=bob, proposal=ended.proposal))
    assert (view.state, view.line.change) == ("approved", "end of page (revision 1)")


async def test_a_build_that_ends_pages_has_another_digest_than_the_one_that_published_them(world: World) -> None:
    pages = {f"{name}.md": page_text(name) for name in ("a", "b")}
    shown = []
    for written, ends in ((pages, ()), ({}, tuple(pages))):
        build, author = await world.build(written, ends=ends)
        submitted = await world.building.submit_build(
            SubmitBuild(command=CommandId(uuid4()), build=build, author=author)
        )
        shown.append(await world.shown(submitted.proposal))
        if ends:
            await refused("digest_mismatch", world.approve(submitted.proposal, world.alice, shown[0]))
            (line,) = (await world.asking.proposals(_ask(world))).proposals
            assert (line.change, line.actions) == ("2 ends", {PageAction.DEPRECATE: 2})
        await world.approve(submitted.proposal, world.alice, shown[-1])
    assert not any(row["live"] for row in (await world.rows())["pages"])


async def test_a_large_build_lands_whole(world: World) -> None:
    pages = {f"handbook/page-{n}.md": page_text(f"Page {n}") for n in range(900)}
    build, author = await world.build(pages)
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    (line,) = (await world.asking.proposals(_ask(world))).proposals
    assert (line.pages, line.title) == (900, "900 pages")
    decided = await world.approve(submitted.proposal, world.alice, line.digest)
    assert decided.outcome == "approved"
    rows = await world.rows()
    assert sum(row["live"] is True for row in rows["pages"]) == 900
    assert rows["builds"][0]["state"] == "promoted"


async def test_a_rejected_build_is_abandoned(world: World) -> None:
    build, author = await world.build({"a.md": page_text("A")})
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    ballot = world.ballot(
        submitted.proposal, world.alice, None, verdict=Verdict.REJECT, reason=Reason.OTHER, note="Not ours."
    )
    assert (await Deciding(world.desk).decide(ballot)).outcome == "rejected"
    rows = await world.rows()
    assert (rows["builds"][0]["state"], rows["pages"]) == ("abandoned", [])
    assert rows["votes"][0]["note_id"] is not None


async def test_a_rename_keeps_the_page_and_frees_its_old_path(world: World) -> None:
    first = await world.propose("topics/pricing.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    page = (await world.rows())["pages"][0]["page"]
    renamed = page_text("Discount ceiling", "Up to 12 %.", more=f"id: n_{page.hex}\n")  # type: ignore[attr-defined]  # a UUID
    second = await world.propose("commercial/pricing.md", renamed, origin=Origin.AGENT)
    await refused("digest_mismatch", world.approve(second.proposal, world.alice, digest(renamed)))
    (line,) = (await world.asking.proposals(_ask(world))).proposals
    assert line.change == "move of revision 1 to this path"
    ballot = world.ballot(second.proposal, world.alice, line.digest)
    moved = await Deciding(world.desk).decide(ballot)
    assert (await Deciding(world.desk).decide(ballot)).position == moved.position
    (row,) = (await world.rows())["pages"]
    assert (row["page"], row["path"], row["revision"]) == (page, "commercial/pricing.md", 2)


async def test_decisions_that_wait_together_land_together_and_apart(world: World) -> None:
    bodies = [page_text(f"Page {n}") for n in range(40)]
    submitted = [await world.propose(f"topics/page-{n}.md", body) for n, body in enumerate(bodies)]
    deciding = Deciding(world.desk)
    answers = await asyncio.gather(
        *(
            deciding.decide(world.ballot(each.proposal, world.alice, digest(body)))
            for each, body in zip(submitted, bodies, strict=True)
        )
    )
    assert all(each.archived and each.outcome == "approved" for each in answers)
    assert len({each.position for each in answers}) == 40
    for each, answer in zip(submitted, answers, strict=True):
        last = await world.last_of(subjects.proposal(world.brain, each.proposal))
        assert last is not None
        assert last.position == answer.position
