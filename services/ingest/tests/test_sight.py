"""Who may see captures, and what happens when their source lets them go."""

import pytest

from contracts import approvals_messages as approvals
from contracts.enums import PageAction
from contracts.errors import Unavailable
from contracts.ids import PrincipalId
from contracts.ingest_messages import ImportOptions
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
