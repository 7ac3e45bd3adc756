"""What may be suggested, by whom, and what it is refused for."""

from collections.abc import Awaitable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from approvals.commands.deciding import Deciding
from approvals_world import World, digest, page_text
from contracts.approvals_messages import (
    AskLivePages,
    AskProposal,
    AskProposals,
    OpenBuild,
    PageWrite,
    RaiseReview,
    SubmitBuild,
    SubmitText,
    Withdraw,
    WritePages,
)
from contracts.content import ContentRef
from contracts.enums import Origin, PageAction, Permission, PrincipalKind, ProposalKind, Reason, Tier, Verdict
from contracts.errors import Refused
from contracts.ids import BuildId, CommandId, ContentId, PageId, PrincipalId, ProposalId

BODY = page_text("Discount ceiling", "Up to 12 %.")
NODE = "n_0123456789abcdef0123456789abcdef"


async def refused(code: str, act: Awaitable[object]) -> Refused:
    with pytest.raises(Refused) as caught:
        await act
    assert caught.value.code == code
    assert caught.value.what
    return caught.value


def instant(value: object) -> datetime:
    assert isinstance(value, datetime)
    return value


async def seen_by(world: World, who: PrincipalId) -> list[str]:
    return [line.title for line in (await world.asking.proposals(AskProposals(by=who))).proposals]


async def test_a_retried_submission_is_answered_the_same_and_filed_once(world: World) -> None:
    command = CommandId(uuid4())
    first = await world.propose("a.md", BODY, command=command)
    assert await world.propose("a.md", BODY, command=command) == first
    assert len((await world.rows())["proposals"]) == 1


@pytest.mark.parametrize(
    ("code", "path", "body"),
    [
        ("path_character", "Topics/pricing.md", BODY),
        ("path_character", "topics/pr\u0456cing.md", BODY),
        ("path_suffix", "topics/pricing", BODY),
        ("path_reserved", "topics/con.md", BODY),
        ("frontmatter_missing", "a.md", b"# No front matter\n"),
        ("system_key", "a.md", page_text("A", more="status: live\n")),
        ("id_not_own", "a.md", page_text("A", more="id: n_0123456789abcdef0123456789abcdef\n")),
        ("owner_missing", "a.md", page_text("A", owner="nobody")),
        ("not_normal", "a.md", BODY.replace(b"\n", b"\r\n")),
        ("not_utf8", "a.md", BODY + b"\xff"),
        ("page_too_large", "a.md", BODY + b"x" * 300_000),
    ],
)
async def test_a_page_that_breaks_a_rule_is_refused_and_leaves_nothing(
    world: World, code: str, path: str, body: bytes
) -> None:
    error = await refused(code, world.propose(path, body))
    assert error.where
    rows = await world.rows()
    assert (rows["proposals"], rows["drafts"]) == ([], [])


async def test_bytes_that_are_not_stored_cannot_be_proposed(world: World) -> None:
    build, author = await world.build({"a.md": BODY})
    write = PageWrite(path="b.md", body=ContentRef(ContentId(uuid4()), "0" * 64))
    asked = WritePages(command=CommandId(uuid4()), build=build, author=author, writes=(write,))
    await refused("body_missing", world.building.write_pages(asked))


async def test_a_page_edit_needs_suggest_on_its_path(world: World) -> None:
    bob = await world.member("bob")
    await world.grant(bob, "topics/**", Permission.READ)
    await refused("forbidden", world.propose("topics/a.md", BODY, bob))
    await world.grant(bob, "topics/**", Permission.SUGGEST)
    await world.propose("topics/a.md", BODY, bob)
    await refused("forbidden", world.propose("hr/a.md", BODY, bob))


async def test_who_is_no_member_suggests_nothing(world: World) -> None:
    await refused("not_a_member", world.propose("a.md", BODY, PrincipalId(uuid4())))


async def test_the_same_bytes_again_are_no_change(world: World) -> None:
    first = await world.propose("a.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    await refused("unchanged", world.propose("a.md", BODY))


async def test_what_is_not_there_cannot_end(world: World) -> None:
    await refused("no_such_page", world.propose("a.md", b"", action=PageAction.DEPRECATE))


async def test_a_live_page_that_the_writer_cannot_see_behaves_as_a_free_path(world: World) -> None:
    secret = page_text("Board", more="sensitivity: restricted\n")
    await world.grant(world.alice, "topics/board.md", Permission.APPROVE)
    first = await world.propose("topics/board.md", secret)
    await world.approve(first.proposal, world.alice, digest(secret))
    bob = await world.member("bob")
    await world.grant(bob, "topics/**", Permission.SUGGEST)
    submitted = await world.propose("topics/board.md", BODY, bob)
    (line,) = (await world.asking.proposals(AskProposals(by=bob))).proposals
    assert (line.id, line.base) == (submitted.proposal, 0)
    await refused("path_taken", world.approve(submitted.proposal, world.alice, digest(BODY)))


async def test_proposals_are_shown_to_those_they_concern_and_to_nobody_else(world: World) -> None:
    author, approver = await world.member("author"), await world.approver("approver", "topics/**")
    await world.grant(author, "**", Permission.SUGGEST)
    other, mallory = await world.approver("other", "hr/**"), await world.member("mallory")
    submitted = await world.propose("topics/a.md", BODY, author)
    for who in (author, approver, world.alice):
        assert await seen_by(world, who) == ["Discount ceiling"]
    for who in (other, mallory):
        assert await seen_by(world, who) == []
        await refused("no_such_proposal", world.asking.proposal(AskProposal(by=who, proposal=submitted.proposal)))
    await refused("not_a_member", world.asking.proposals(AskProposals(by=PrincipalId(uuid4()))))


async def test_a_view_holds_the_exact_bytes(world: World) -> None:
    submitted = await world.propose("topics/a.md", BODY)
    view = await world.asking.proposal(AskProposal(by=world.alice, proposal=submitted.proposal))
    assert (view.body, view.line.digest, view.state, view.may_decide) == (BODY, digest(BODY), "open", True)


async def test_services_are_told_from_members_by_their_names(world: World) -> None:
    ingest = await world.approver("ingest")
    build, author = await world.build({"a.md": page_text("A")}, runner=ingest)
    await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    robot = await world.member("robot", kind=PrincipalKind.SERVICE)
    await world.grant(robot, "**", Permission.SUGGEST)
    for path, writer in (("b.md", ingest), ("c.md", robot)):
        await world.propose(path, BODY, writer)
    lines = (await world.asking.proposals(AskProposals(by=world.alice))).proposals
    assert [line.proposer for line in lines] == ["ingest (service), run by ingest", "ingest", "robot (service)"]


async def test_a_list_goes_on_where_its_cursor_says(world: World) -> None:
    for number in range(5):
        await world.propose(f"a-{number}.md", page_text(f"Page {number}"))
    titles, after = [], ""
    while True:
        lines = await world.asking.proposals(AskProposals(by=world.alice, after=after, limit=2))
        titles += [line.title for line in lines.proposals]
        if not (after := lines.next):
            break
    assert titles == [f"Page {number}" for number in range(5)]
    await refused("cursor_malformed", world.asking.proposals(AskProposals(by=world.alice, after="x")))


async def test_live_pages_are_told_by_path(world: World) -> None:
    first = await world.propose("a.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    (page,) = (await world.asking.live_pages(AskLivePages(paths=("a.md", "b.md")))).pages
    assert (page.path, page.revision) == ("a.md", 1)


def text(author: PrincipalId, **changes: object) -> SubmitText:
    shape: dict[str, object] = {"title": "Seen in a call", "body": "The ceiling is fifteen.", "nodes": ()}
    shape |= changes
    return SubmitText(
        command=CommandId(uuid4()),
        author=author,
        origin=Origin.AGENT,
        kind=ProposalKind.OBSERVATION,
        **shape,  # type: ignore[arg-type]  # the fields above
    )


async def test_a_text_concerns_members_of_tier_manager_and_above(world: World) -> None:
    author, manager = await world.member("author", Tier.EMPLOYEE), await world.member("manager", Tier.MANAGER)
    other = await world.member("other", Tier.EMPLOYEE)
    submitted = await world.submissions.submit_text(text(author))
    assert [await seen_by(world, who) for who in (author, manager, other)] == [["Seen in a call"]] * 2 + [[]]
    view = await world.asking.proposal(AskProposal(by=manager, proposal=submitted.proposal))
    await refused("forbidden", world.approve(submitted.proposal, author, view.line.digest))
    assert (await world.approve(submitted.proposal, manager, view.line.digest)).outcome == "approved"


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("title_length", {"title": "ab"}),
        ("title_length", {"title": "x" * 121}),
        ("body_length", {"body": "too short"}),
        ("body_length", {"body": "x" * 4001}),
        ("title_malformed", {"title": "Seen in\na call"}),
        ("title_malformed", {"title": "Seen in a call\n"}),
        ("title_malformed", {"title": "Seen \x00in a call"}),
        ("title_malformed", {"title": "Seen \u202ein a call"}),
        ("title_malformed", {"title": "Seen \u2066in a call"}),
        ("title_malformed", {"title": "Seen\u200b in a call"}),
        ("title_malformed", {"title": "Seen\ufeff in a call"}),
        ("title_malformed", {"title": "Seen\u2028in a call"}),
        ("body_malformed", {"body": "The ceiling\x00is fifteen."}),
        ("body_malformed", {"body": "The ceiling\x1b[2Jis fifteen."}),
        ("node_malformed", {"nodes": (NODE, "n_" + "1_" * 16)}),
        ("node_malformed", {"nodes": ("n_" + "A" * 32,)}),
        ("node_malformed", {"nodes": ("topics/pricing.md",)}),
        ("node_malformed", {"nodes": (NODE + "\n",)}),
        ("too_many_nodes", {"nodes": tuple(str(n) for n in range(11))}),
        ("credential", {"body": "Use this: ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"}),
    ],
)
async def test_a_text_outside_its_bounds_is_refused(world: World, code: str, changes: dict[str, object]) -> None:
    error = await refused(code, world.submissions.submit_text(text(world.alice, **changes)))
    assert code == "credential" or (error.where and error.remedy)
    assert (await world.rows())["proposals"] == []


async def test_a_text_may_have_lines_tabs_and_nodes(world: World) -> None:
    asked = text(world.alice, title="Møtet i går ⚠️", body="First line\n\tsecond line", nodes=(NODE,))
    await world.submissions.submit_text(asked)
    assert await seen_by(world, world.alice) == ["Møtet i går ⚠️"]


async def test_a_build_belongs_to_whom_it_was_opened_for(world: World) -> None:
    build, author = await world.build({"a.md": BODY})
    mallory = await world.member("mallory")
    asked = SubmitBuild(command=CommandId(uuid4()), build=build, author=mallory)
    hidden = await refused("no_such_build", world.building.submit_build(asked))
    absent = SubmitBuild(command=CommandId(uuid4()), build=BuildId(uuid4()), author=mallory)
    assert (await refused("no_such_build", world.building.submit_build(absent))).what == hidden.what
    again = OpenBuild(command=CommandId(uuid4()), build=build, author=author, runner=world.alice, origin=Origin.IMPORT)
    await world.building.open_build(again)
    assert len((await world.rows())["builds"]) == 1


async def test_a_page_written_again_on_a_build_keeps_its_id(world: World) -> None:
    build, author = await world.build({"a.md": BODY})
    (before,) = (await world.rows())["drafts"]
    (ref,) = await world.store(page_text("Another title"))
    write = PageWrite(path="a.md", body=ref)
    await world.building.write_pages(
        WritePages(command=CommandId(uuid4()), build=build, author=author, writes=(write,))
    )
    (after,) = (await world.rows())["drafts"]
    assert (after["page"], after["title"]) == (before["page"], "Another title")


async def test_a_proposal_is_taken_back_by_its_author_or_whoever_ran_the_importer(world: World) -> None:
    build, author = await world.build({"a.md": BODY})
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    mallory = await world.member("mallory")
    for who, code in ((mallory, "no_such_proposal"), (await world.approver("bob"), "forbidden")):
        asked = Withdraw(command=CommandId(uuid4()), by=who, proposal=submitted.proposal)
        await refused(code, world.submissions.withdraw(asked))
    mine = Withdraw(command=CommandId(uuid4()), by=world.alice, proposal=submitted.proposal)
    first = await world.submissions.withdraw(mine)
    assert await world.submissions.withdraw(mine) == first
    rows = await world.rows()
    assert (rows["proposals"][0]["state"], rows["builds"][0]["state"]) == ("withdrawn", "abandoned")
    await refused("withdrawn", world.approve(submitted.proposal, world.alice, str(rows["proposals"][0]["digest"])))


async def test_a_review_is_raised_once_and_rests_after_a_rejection(world: World) -> None:
    first = await world.propose("a.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    page = (await world.rows())["pages"][0]
    due = instant(page["verified_at"]) + timedelta(days=90)
    asked = RaiseReview(page=PageId(UUID(str(page["page"]))), due=due)
    raised = await world.submissions.raise_review(asked)
    assert await world.submissions.raise_review(asked) == raised
    (line,) = (await world.asking.proposals(AskProposals(by=world.alice))).proposals
    assert (line.kind, line.title, line.change) == (
        ProposalKind.REVIEW,
        "Discount ceiling",
        "confirmation of revision 1",
    )
    assert line.listing == f"confirm 1 {digest(BODY)} a.md\n"
    assert line.digest == digest(line.listing.encode())
    ballot = world.ballot(raised.proposal, world.alice, None, verdict=Verdict.REJECT, reason=Reason.WRONG)
    await Deciding(world.desk).decide(ballot)
    assert (await world.submissions.raise_review(asked)).proposal == raised.proposal
    assert (await world.rows())["pages"][0]["stale_since"] == due
    early = RaiseReview(page=asked.page, due=due - timedelta(days=1))
    await refused("not_due", world.submissions.raise_review(early))
    unknown = RaiseReview(page=PageId(uuid4()), due=due)
    await refused("no_such_page", world.submissions.raise_review(unknown))


async def test_confirming_a_review_verifies_the_page(world: World) -> None:
    first = await world.propose("a.md", BODY)
    await world.approve(first.proposal, world.alice, digest(BODY))
    page = (await world.rows())["pages"][0]
    due = instant(page["verified_at"]) + timedelta(days=90)
    raised = await world.submissions.raise_review(RaiseReview(page=PageId(UUID(str(page["page"]))), due=due))
    await refused("digest_mismatch", world.approve(raised.proposal, world.alice, digest(BODY)))
    ballot = world.ballot(raised.proposal, world.alice, await world.shown(raised.proposal))
    confirmed = await Deciding(world.desk).decide(ballot)
    assert (await Deciding(world.desk).decide(ballot)).position == confirmed.position
    after = (await world.rows())["pages"][0]
    assert instant(after["verified_at"]) > instant(page["verified_at"])
    assert (after["stale_since"], after["revision"]) == (None, 1)


async def test_nothing_is_known_of_a_proposal_that_is_not_there(world: World) -> None:
    await refused("no_such_proposal", world.asking.proposal(AskProposal(by=world.alice, proposal=ProposalId(uuid4()))))
