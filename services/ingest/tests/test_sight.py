"""Who may see captures, and what happens when their source lets them go."""

from uuid import uuid4

import msgspec
import pytest

from contracts import approvals_messages as approvals
from contracts.enums import PageAction, Permission, Refusal, Role, Tier
from contracts.errors import Refused, Unavailable
from contracts.ids import ImportId, PrincipalId
from contracts.ingest_messages import Imported, ImportOptions
from eventlog import fence, leader
from importing_house import House

pytestmark = pytest.mark.service

TRAVEL = b"# Travel\n\nBook early.\n"
LEAVE = b"# Leave\n\nTell your team.\n"
TWO = {"travel.md": TRAVEL, "hr/leave.md": LEAVE}


async def admits(house: House) -> dict[str, tuple[bool, frozenset[PrincipalId]]]:
    rows = await house.rows(
        "select c.external_id, coalesce(s.everyone, c.everyone), coalesce(s.principals, c.principals)"
        " from captures c left join sights s using (brain, capture)"
    )
    return {str(name): (bool(everyone), frozenset(who)) for name, everyone, who in rows}  # type: ignore[call-overload]  # a row's values


async def withdrawn(house: House) -> list[str]:
    rows = await house.rows(
        "select c.external_id from captures c join sights s using (brain, capture) where s.withdrawn order by 1"
    )
    return [str(name) for (name,) in rows]


async def the_fence(house: House) -> int:
    return await fence.fence(house.nc, house.ledger.brain)


def only(house: House, *names: str) -> ImportOptions:
    return house.options(acl=names)


async def test_a_file_that_is_gone_changes_nothing_unless_the_folder_is_synced(house: House) -> None:
    await house.take(TWO)
    stands = await the_fence(house)
    _, done = await house.take({"travel.md": TRAVEL})
    assert (done.withdrawn, done.builds) == (0, ())
    assert await withdrawn(house) == []
    assert await the_fence(house) == stands


async def test_a_synced_folder_withdraws_what_is_gone_and_proposes_to_deprecate_its_page(house: House) -> None:
    await house.take(TWO)
    house.approvals.live = {path: write.body for path, write in house.approvals.written.items()}
    house.approvals.asked.clear()
    stands = await the_fence(house)
    _, done = await house.take({"travel.md": TRAVEL}, sync=True)
    assert (done.withdrawn, done.pages, len(done.builds), done.archived) == (1, 1, 1, True)
    assert await withdrawn(house) == ["hr/leave.md"]
    assert await the_fence(house) > stands
    (asked,) = house.approvals.asked
    assert isinstance(asked, approvals.SubmitPage)
    assert (asked.write.path, asked.write.action) == ("hr/leave.md", PageAction.DEPRECATE)


async def test_syncing_twice_withdraws_once(house: House) -> None:
    await house.take(TWO)
    await house.take({"travel.md": TRAVEL}, sync=True)
    stands = await the_fence(house)
    _, done = await house.take({"travel.md": TRAVEL}, sync=True)
    assert (done.withdrawn, done.builds) == (0, ())
    assert await the_fence(house) == stands


async def test_a_sync_whose_answer_was_lost_tells_the_same_when_it_is_sent_again(house: House) -> None:
    await house.take(TWO)
    house.approvals.live = {path: write.body for path, write in house.approvals.written.items()}
    import_id, _ = await house.send({"travel.md": TRAVEL})
    house.approvals.silent.add("SubmitPage")
    with pytest.raises(Unavailable):
        await house.finish(import_id, sync=True, present=("travel.md",))
    house.approvals.silent.clear()
    done = await house.finish(import_id, sync=True, present=("travel.md",))
    assert (done.withdrawn, done.pages, len(done.builds)) == (1, 1, 1)


async def test_what_is_gone_without_a_live_page_is_withdrawn_and_proposed_to_nobody(house: House) -> None:
    await house.take(TWO)
    house.approvals.asked.clear()
    _, done = await house.take({"travel.md": TRAVEL}, sync=True)
    assert (done.withdrawn, done.pages, done.builds) == (1, 0, ())
    assert house.approvals.asked == []


async def test_a_file_that_comes_back_is_a_new_capture_that_can_be_seen(house: House) -> None:
    await house.take(TWO)
    await house.take({"travel.md": TRAVEL}, sync=True)
    part, done = await house.take(TWO, sync=True)
    assert (part.captures, part.unchanged, done.withdrawn) == (1, 1, 0)
    assert await withdrawn(house) == []


async def test_another_source_is_left_alone_by_a_sync(house: House) -> None:
    await house.take(TWO)
    import_id, _ = await house.send({"other.md": TRAVEL}, options=house.options(source="wiki"))
    await house.finish(import_id, options=house.options(source="wiki"), sync=True, present=("other.md",))
    assert await withdrawn(house) == []


async def test_captures_admit_exactly_whom_the_import_names(house: House) -> None:
    await house.join("bob")
    await house.take(TWO, options=only(house, "alice", "bob"))
    both = frozenset({house.members["alice"], house.members["bob"]})
    assert await admits(house) == {"travel.md": (False, both), "hr/leave.md": (False, both)}


async def test_an_import_that_says_nothing_keeps_whom_the_files_admit(house: House) -> None:
    await house.take(TWO, options=only(house, "alice"))
    await house.take({"travel.md": TRAVEL, "hr/leave.md": LEAVE + b"More.\n", "new.md": TRAVEL})
    alice = frozenset({house.members["alice"]})
    assert await admits(house) == {
        "travel.md": (False, alice),
        "hr/leave.md": (False, alice),
        "new.md": (True, frozenset()),
    }


async def test_an_import_that_narrows_the_access_list_moves_the_fence(house: House) -> None:
    await house.take(TWO)
    stands = await the_fence(house)
    part, _ = await house.take(TWO, options=only(house, "alice"))
    assert (part.captures, part.unchanged) == (0, 2)
    assert await the_fence(house) > stands
    assert (await admits(house))["travel.md"] == (False, frozenset({house.members["alice"]}))


async def test_an_import_that_widens_the_access_list_leaves_the_fence(house: House) -> None:
    await house.take(TWO, options=only(house, "alice"))
    stands = await the_fence(house)
    await house.take(TWO, options=only(house, "everyone"))
    assert await the_fence(house) == stands
    assert (await admits(house))["travel.md"] == (True, frozenset())


async def test_the_same_access_list_again_says_nothing(house: House) -> None:
    await house.take(TWO, options=only(house, "alice"))
    end = await leader.extent(house.nc, "EVT")
    await house.take(TWO, options=only(house, "alice"))
    assert (await leader.extent(house.nc, "EVT")).last == end.last


async def nils(house: House, role: Role = Role.MEMBER, tier: Tier = Tier.ADMIN) -> None:
    await house.join("nils", [("**", Permission.SUGGEST)], tier, role)


async def empties(house: House, source: str = "notes") -> Imported:
    """nils says that the folder holds nothing any more; what he is told, but for the position."""
    options = house.options(owner="nils", source=source)
    done = await house.finish(ImportId(uuid4()), by="nils", options=options, sync=True)
    return msgspec.structs.replace(done, position=0)


def lives(house: House) -> None:
    """Every page that was proposed is approved."""
    house.approvals.live = {path: write.body for path, write in house.approvals.written.items()}
    house.approvals.asked.clear()


async def test_what_somebody_else_filed_is_not_withdrawn_nor_told_of(house: House) -> None:
    await nils(house)
    await house.take(TWO)
    lives(house)
    stands, end = await the_fence(house), await leader.extent(house.nc, "EVT")
    assert await empties(house) == await empties(house, source="nothing")
    assert await withdrawn(house) == []
    assert house.approvals.asked == []
    assert await the_fence(house) == stands
    assert (await leader.extent(house.nc, "EVT")).last == end.last


async def test_a_sync_withdraws_what_its_runner_filed_and_leaves_the_same_files_of_others(house: House) -> None:
    await nils(house)
    await house.take(TWO)
    await house.take({"travel.md": b"# Mine\n\nWords.\n"}, by="nils")
    done = await empties(house)
    assert (done.withdrawn, done.refused) == (1, ())
    rows = await house.rows("select c.filed_by from captures c join sights s using (brain, capture) where s.withdrawn")
    assert rows == [(house.members["nils"],)]


async def test_an_admin_withdraws_what_admits_it_and_learns_of_nothing_else(house: House) -> None:
    await nils(house, Role.ADMIN)
    await house.take({"travel.md": TRAVEL}, options=only(house, "alice", "nils"))
    import_id, _ = await house.send({"hr/leave.md": LEAVE}, options=only(house, "alice"))
    await house.finish(import_id)
    lives(house)
    done = await empties(house)
    assert (done.withdrawn, done.pages, done.refused) == (1, 1, ())
    assert await withdrawn(house) == ["travel.md"]


async def test_a_file_of_the_same_name_leaves_what_somebody_else_filed_as_it_is(house: House) -> None:
    await nils(house)
    await house.take(TWO, options=only(house, "alice"))
    before = await house.rows("select * from captures order by external_id")
    same, _ = await house.take(TWO, by="nils", options=only(house, "everyone"))
    other, _ = await house.take({"travel.md": TRAVEL + b"Or late.\n"}, by="nils", options=only(house, "nils"))
    new, _ = await house.take(TWO, by="nils", options=house.options(source="nothing"))
    counted = [(part.captures, part.unchanged, part.refused, part.pages) for part in (same, other, new)]
    assert counted == [(2, 0, (), 2), (1, 0, (), 1), (2, 0, (), 2)]
    closed, _ = await house.take({"hr/leave.md": LEAVE}, by="nils", options=only(house, "nils"))
    assert (closed.captures, closed.unchanged) == (0, 1)
    alice, his = house.members["alice"], house.members["nils"]
    hers = f"select * from captures where filed_by = '{alice}' order by external_id"
    assert await house.rows(hers) == before
    assert await house.rows("select c.filed_by from sights s left join captures c using (brain, capture)") == [(his,)]
    again, done = await house.take(TWO)
    assert (again.captures, again.unchanged, done.builds) == (0, 2, ())


async def test_an_import_of_the_same_id_by_another_is_another_import(house: House) -> None:
    await nils(house)
    import_id, _ = await house.send(TWO)
    waiting = await house.finish(import_id, by="nils", options=house.options(owner="nils"))
    assert (waiting.builds, waiting.pages) == ((), 0)
    await house.finish(import_id)
    proposed = await house.finish(import_id, by="nils", options=house.options(owner="nils"))
    assert (proposed.builds, proposed.pages) == ((), 0)
    part = (await house.send(TWO, by="nils", import_id=import_id))[1]
    assert (part.captures, part.unchanged) == (2, 0)


async def test_a_page_that_may_not_be_deprecated_keeps_its_capture(house: House) -> None:
    await house.take(TWO)
    lives(house)
    house.approvals.refused["hr/leave.md"] = Refused("forbidden", "Not there.", "hr/leave.md")
    import_id, _ = await house.send({"travel.md": TRAVEL})
    for _ in range(2):
        done = await house.finish(import_id, sync=True, present=("travel.md",))
        assert (done.withdrawn, done.pages, done.builds) == (0, 0, ())
        assert [(one.file, one.category) for one in done.refused] == [("hr/leave.md", Refusal.FORBIDDEN)]
        assert await withdrawn(house) == []
    house.approvals.refused.clear()
    assert (await house.finish(import_id, sync=True, present=("travel.md",))).withdrawn == 1


async def test_whoever_may_not_suggest_a_change_of_the_page_leaves_its_capture(house: House) -> None:
    await house.join("nils", [("mine/**", Permission.SUGGEST)], role=Role.MEMBER)
    await house.take({"mine/a.md": TRAVEL}, by="nils", options=house.options(owner="nils"))
    lives(house)
    await house.join("reader", [("mine/**", Permission.READ)], role=Role.OWNER)
    options = house.options(owner="reader")
    done = await house.finish(ImportId(uuid4()), by="reader", options=options, sync=True)
    assert (done.withdrawn, done.pages) == (0, 0)
    assert [(one.file, one.category) for one in done.refused] == [("mine/a.md", Refusal.FORBIDDEN)]
    assert house.approvals.asked == []
    assert await withdrawn(house) == []


async def test_a_live_page_that_the_runner_cannot_see_is_as_if_it_were_not_there(house: House) -> None:
    await house.join("nils", [("mine/**", Permission.SUGGEST)], role=Role.MEMBER)
    await house.take({"mine/a.md": TRAVEL}, by="nils", options=house.options(owner="nils"))
    restricted = b"---\nsensitivity: restricted\n---\n# Secret\n\nWords.\n"
    await house.join("boss", [("mine/a.md", Permission.APPROVE)])
    part, _ = await house.take({"mine/a.md": restricted}, by="boss", options=house.options(source="other"))
    assert part.refused == ()
    lives(house)
    done = await empties(house)
    assert (done.withdrawn, done.pages, done.builds, done.refused) == (1, 0, (), ())
    assert house.approvals.asked == []


async def test_a_page_that_a_file_of_another_name_still_proposes_is_not_deprecated(house: House) -> None:
    await house.take({"Travel Policy.md": TRAVEL})
    lives(house)
    _, done = await house.take({"travel-policy.md": TRAVEL}, sync=True)
    assert done.withdrawn == 1
    assert {write.action for write in house.approvals.written.values()} == {PageAction.EDIT}


async def test_what_was_filed_under_an_id_that_makes_no_path_is_withdrawn_all_the_same(house: House) -> None:
    await house.file("\u65e5\u672c", source="notes")
    _, done = await house.take({}, sync=True)
    assert (done.withdrawn, done.refused) == (1, ())
