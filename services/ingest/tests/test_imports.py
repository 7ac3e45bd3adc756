"""Imports on a real log and database: what is kept, refused and proposed, and what a second time changes."""

import asyncio
import unicodedata
from uuid import uuid4

import pytest

from chassis import postgres
from contracts import approvals_messages as approvals
from contracts import subjects
from contracts.captures import CaptureRecorded, CaptureRefused
from contracts.codec import decode
from contracts.enums import Origin, Refusal, Tier
from contracts.errors import Refused, Unavailable
from contracts.ids import CaptureId, ImportId, service_principal
from contracts.ingest_messages import ImportedPart
from corpus import page
from eventlog import leader
from importing_house import House

pytestmark = pytest.mark.service

TRAVEL = b"# Travel\n\nBook early.\n"
LEAVE = b"# Leave\n\nTell your team.\n"
TWO = {"Travel Policy.md": TRAVEL, "hr/leave.md": LEAVE}
KEY = "AKIA" + "Q3EGRIJKLM7NOPQ2"
CARD = "4111 1111 1111 1111"


def counts(part: ImportedPart) -> tuple[int, int, int]:
    return part.captures, part.unchanged, part.pages


async def captures(house: House) -> dict[str, CaptureId]:
    rows = await house.rows("select external_id, capture from captures")
    return {str(name): CaptureId(capture) for name, capture in rows}  # type: ignore[arg-type]  # a row's values


async def recording(house: House, capture: CaptureId) -> CaptureRecorded:
    stored = await leader.last(house.nc, "CAP", subjects.capture_recording(house.ledger.brain, capture))
    assert stored is not None
    fact = decode(stored.position, stored.subject, stored.body).fact
    assert isinstance(fact, CaptureRecorded)
    return fact


async def test_two_files_become_captures_and_one_build(house: House) -> None:
    part, done = await house.take(TWO)
    assert counts(part) == (2, 0, 2)
    assert (part.refused, part.archived) == ((), True)
    assert (len(done.builds), done.pages, done.withdrawn) == (1, 2, 0)
    assert house.approvals.kinds() == ["OpenBuild", "WritePages", "SubmitBuild"]
    opened = house.approvals.asked[0]
    assert isinstance(opened, approvals.OpenBuild)
    assert (opened.author, opened.runner) == (service_principal(house.ledger.brain, "ingest"), house.members["alice"])
    assert opened.origin is Origin.IMPORT
    written = house.approvals.written
    assert set(written) == {"travel-policy.md", "hr/leave.md"}
    front = page.parse(await house.body(written["travel-policy.md"].body)).front
    assert (front.title, front.owner, front.sources) == ("Travel", "alice", ["capture:notes/Travel%20Policy.md"])
    found = await recording(house, (await captures(house))["Travel Policy.md"])
    assert await house.body(found.body) == TRAVEL
    assert found.acl.everyone


async def test_one_file_becomes_a_proposal_of_its_own(house: House) -> None:
    part, done = await house.take({"travel.md": TRAVEL})
    assert counts(part) == (1, 0, 1)
    assert house.approvals.kinds() == ["SubmitPage"]
    assert (len(done.builds), done.pages) == (1, 1)


async def test_a_second_import_of_the_same_folder_says_and_proposes_nothing(house: House) -> None:
    await house.take(TWO)
    end, asked = await leader.extent(house.nc, "CAP"), len(house.approvals.asked)
    part, done = await house.take(TWO)
    assert counts(part) == (0, 2, 0)
    assert (done.builds, done.pages) == ((), 0)
    assert (await leader.extent(house.nc, "CAP")).last == end.last
    assert len(house.approvals.asked) == asked


async def test_one_edited_file_is_one_new_capture_and_one_proposal(house: House) -> None:
    await house.take(TWO)
    before = (await captures(house))["hr/leave.md"]
    house.approvals.asked.clear()
    part, done = await house.take(TWO | {"hr/leave.md": LEAVE + b"\nIn May at the latest.\n"})
    assert counts(part) == (1, 1, 1)
    assert (len(done.builds), house.approvals.kinds()) == (1, ["SubmitPage"])
    after = await recording(house, (await captures(house))["hr/leave.md"])
    assert after.supersedes == before


async def test_bytes_that_come_back_are_recorded_again(house: House) -> None:
    for body in (TRAVEL, LEAVE, TRAVEL):
        part, done = await house.take({"a.md": body})
        assert counts(part) == (1, 0, 1)
        assert len(done.builds) == 1
    assert len(house.approvals.asked) == 3


async def test_a_part_and_an_end_that_are_sent_again_tell_the_same_and_change_nothing(house: House) -> None:
    import_id, first = await house.send(TWO)
    end = await leader.extent(house.nc, "CAP")
    _, again = await house.send(TWO, import_id=import_id)
    assert counts(again) == counts(first) == (2, 0, 2)
    done = await house.finish(import_id)
    asked = len(house.approvals.asked)
    _, late = await house.send(TWO, import_id=import_id)
    assert counts(late) == (2, 0, 2)
    repeated = await house.finish(import_id)
    assert (repeated.builds, repeated.pages) == (done.builds, done.pages)
    assert (await leader.extent(house.nc, "CAP")).last == end.last
    assert len(house.approvals.asked) == asked


async def test_an_import_that_died_before_its_end_is_taken_over_by_the_next(house: House) -> None:
    await house.send(TWO)
    part, done = await house.take(TWO)
    assert counts(part) == (0, 2, 2)
    assert (len(done.builds), done.pages) == (1, 2)


@pytest.mark.parametrize("lost", ["OpenBuild", "WritePages", "SubmitBuild"])
async def test_an_end_whose_answer_was_lost_goes_on_with_the_same_build(house: House, lost: str) -> None:
    import_id, _ = await house.send(TWO)
    house.approvals.silent.add(lost)
    with pytest.raises(Unavailable):
        await house.finish(import_id)
    house.approvals.silent.clear()
    done = await house.finish(import_id)
    assert (len(done.builds), done.pages) == (1, 2)
    builds = {one.build for one in house.approvals.asked if isinstance(one, approvals.OpenBuild)}
    assert len(builds) == 1


async def test_a_refused_file_leaves_nothing_but_its_category(house: House) -> None:
    secret = f"# Keys\n\nOurs is {KEY}.\n".encode()
    part, done = await house.take({"keys.md": secret, "card.md": f"# Card\n\nCard: {CARD}\n".encode(), "a.md": TRAVEL})
    assert counts(part) == (1, 0, 1)
    told = {one.file: (one.category, one.line) for one in part.refused}
    assert told == {"keys.md": (Refusal.CREDENTIAL, 3), "card.md": (Refusal.PAYMENT_CARD, 3)}
    assert done.pages == 1
    assert set(await captures(house)) == {"a.md"}
    assert set(await house.rows("select category from refusals")) == {("credential",), ("payment_card",)}
    bodies = await house.rows("select count(*) from content.bodies")
    again, _ = await house.take({"keys.md": secret})
    assert [one.category for one in again.refused] == [Refusal.CREDENTIAL]
    assert await house.rows("select count(*) from content.bodies") == bodies
    assert len(await house.rows("select 1 from refusals")) == 2


async def test_what_is_refused_is_said_once_without_a_word_of_it(house: House) -> None:
    await house.take({"Keys of Bergen.md": f"Ours is {KEY}.\n".encode()})
    ((capture,),) = await house.rows("select capture from refusals")
    history = subjects.capture_recording(house.ledger.brain, CaptureId(capture))  # type: ignore[arg-type]  # a row's value
    stored = await leader.last(house.nc, "CAP", history)
    assert stored is not None
    fact = decode(stored.position, stored.subject, stored.body).fact
    assert fact == CaptureRefused(capture=CaptureId(capture), category=Refusal.CREDENTIAL)  # type: ignore[arg-type]  # a row's value
    assert KEY.encode() not in stored.body
    assert b"Bergen" not in stored.body


async def test_what_was_refused_is_kept_once_it_is_clean(house: House) -> None:
    await house.take({"keys.md": f"Ours is {KEY}.\n".encode()})
    part, _ = await house.take({"keys.md": b"Ours is in the vault.\n"})
    assert counts(part) == (1, 0, 1)


async def test_files_that_collide_are_both_refused(house: House) -> None:
    _, part = await house.send({"Travel.md": TRAVEL, "travel.md": TRAVEL}, colliding=("Travel.md", "travel.md"))
    assert counts(part) == (0, 0, 0)
    assert {one.category for one in part.refused} == {Refusal.PATH_COLLISION}


async def test_a_page_that_approvals_refuses_stays_out_and_is_tried_again_by_the_next_import(house: House) -> None:
    house.approvals.refused["hr/leave.md"] = Refused("forbidden", "Not there.", "hr/leave.md")
    files = TWO | {"c.md": b"# C\n\nText.\n"}
    _, done = await house.take(files)
    assert (len(done.builds), done.pages) == (1, 2)
    assert [(one.file, one.category) for one in done.refused] == [("hr/leave.md", Refusal.FORBIDDEN)]
    house.approvals.refused.clear()
    part, later = await house.take(files)
    assert counts(part) == (0, 3, 1)
    assert (later.pages, later.refused) == (1, ())


async def test_a_page_that_stands_already_as_the_file_has_it_is_proposed_to_nobody(house: House) -> None:
    house.approvals.refused["travel.md"] = Refused("unchanged", "The live page has these very bytes.")
    _, done = await house.take({"travel.md": TRAVEL})
    assert (done.builds, done.pages, done.refused) == ((), 0, ())
    part, _ = await house.take({"travel.md": TRAVEL})
    assert counts(part) == (0, 1, 0)


async def test_imports_of_one_folder_at_the_same_time_record_each_file_once(house: House) -> None:
    files = {f"{number}.md": b"# Page\n\nText %d.\n" % number for number in range(40)}
    start = await leader.extent(house.nc, "CAP")
    told = await asyncio.gather(*(house.take(files) for _ in range(4)))
    assert (await leader.extent(house.nc, "CAP")).last - start.last == len(files)
    assert sum(part.captures for part, _ in told) == len(files)
    assert sum(done.pages for _, done in told) == len(files)
    assert set(house.approvals.written) == set(files)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"owner": "stranger"}, "owner_missing"),
        ({"acl": ("alice", "stranger")}, "no_such_member"),
    ],
)
async def test_an_owner_or_reader_who_is_nobody_here_stops_the_import(
    house: House, changes: dict[str, object], code: str
) -> None:
    with pytest.raises(Refused) as told:
        await house.send(TWO, options=house.options(**changes))  # type: ignore[arg-type]  # each case names its own
    assert told.value.code == code
    assert await captures(house) == {}
    assert await house.rows("select 1 from import_pages") == []
    with pytest.raises(Refused) as ended:  # a folder without a file to send has an end all the same
        await house.finish(ImportId(uuid4()), options=house.options(**changes))  # type: ignore[arg-type]  # as above
    assert ended.value.code == code


async def test_a_source_whose_name_references_cannot_carry_is_refused(house: House) -> None:
    with pytest.raises(Refused) as told:
        await house.send(TWO, options=house.options(source="My Notes/2026"))
    assert told.value.code == "source_malformed"


async def test_only_members_import_and_only_where_they_may_suggest(house: House) -> None:
    await house.join("bob", [], Tier.EMPLOYEE)
    _, part = await house.send(TWO, by="bob")
    assert {one.category for one in part.refused} == {Refusal.FORBIDDEN}
    assert await captures(house) == {}
    house.members["ghost"] = service_principal(house.ledger.brain, "ghost")
    with pytest.raises(Refused) as told:
        await house.send(TWO, by="ghost")
    assert told.value.code == "not_a_member"


async def test_another_brain_sees_nothing_of_it(house: House) -> None:
    await house.take(TWO)
    async with postgres.transaction(house.pool, service_principal(house.ledger.brain, "other")) as db:
        for table in ("captures", "refusals", "sights", "import_pages"):
            assert await db.fetch(f"select * from {table}") == []


@pytest.mark.parametrize("ending", ["rejected", "withdrawn"])
async def test_pages_whose_proposal_ended_without_them_are_proposed_again(house: House, ending: str) -> None:
    _, first = await house.take(TWO)
    written = house.approvals.written
    house.approvals.states = dict.fromkeys(first.builds, ending)
    part, second = await house.take(TWO)
    assert counts(part) == (0, 2, 2)
    assert (len(second.builds), second.pages) == (1, 2)
    assert not set(first.builds) & set(second.builds)
    assert {path: write.body for path, write in house.approvals.written.items()} == {
        path: write.body for path, write in written.items()
    }
    part, third = await house.take(TWO)  # the new proposal is open
    assert (counts(part), third.builds) == ((0, 2, 0), ())


async def test_one_page_is_proposed_anew_each_time_that_its_proposal_is_rejected(house: House) -> None:
    seen = set()
    for _ in range(3):
        _, done = await house.take({"travel.md": TRAVEL})
        seen |= set(done.builds)
        house.approvals.states = dict.fromkeys(done.builds, "rejected")
    assert len(seen) == 3


async def test_pages_that_were_approved_are_not_proposed_again(house: House) -> None:
    _, first = await house.take(TWO)
    house.approvals.states = dict.fromkeys(first.builds, "approved")
    part, second = await house.take(TWO)
    assert (counts(part), second.builds) == ((0, 2, 0), ())
    assert await house.rows("select distinct settled from import_pages") == [(True,)]


async def test_a_folder_is_the_same_however_its_system_spells_the_names(house: House) -> None:
    composed = {"caf\u00e9.md": TRAVEL, "\u00e5r/m\u00f8te.md": LEAVE}
    await house.take(composed)
    assert set(house.approvals.written) == {"cafe.md", "ar/m-te.md"}
    part, done = await house.take(
        {unicodedata.normalize("NFD", name): body for name, body in composed.items()}, sync=True
    )
    assert (counts(part), done.withdrawn, done.builds) == ((0, 2, 0), 0, ())
    assert set(await captures(house)) == set(composed)


@pytest.mark.parametrize("bodies", [(TRAVEL, LEAVE), (TRAVEL, TRAVEL)])
async def test_two_spellings_of_one_name_are_both_refused_by_the_names_they_have(
    house: House, bodies: tuple[bytes, bytes]
) -> None:
    names = ("caf\u00e9.md", "cafe\u0301.md")
    _, part = await house.send(dict(zip(names, bodies, strict=True)))
    assert counts(part) == (0, 0, 0)
    assert [(one.file, one.category) for one in part.refused] == [(name, Refusal.PATH_COLLISION) for name in names]
    assert await captures(house) == {}


async def test_a_file_whose_path_an_earlier_part_has_is_refused_by_name(house: House) -> None:
    import_id, _ = await house.send({"cafe.md": TRAVEL})
    for _ in range(2):
        _, part = await house.send({"caf\u00e9.md": LEAVE, "tea.md": LEAVE}, import_id=import_id, part=1)
        assert counts(part) == (1, 0, 1)
        assert [(one.file, one.category) for one in part.refused] == [("caf\u00e9.md", Refusal.PATH_COLLISION)]
    assert set(await captures(house)) == {"cafe.md", "tea.md"}


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"owner": "ali\0ce"}, "options.owner"),
        ({"acl": ("alice", "\0")}, "options.acl[2]"),
        ({"source": "no\0tes"}, "options.source"),
    ],
)
async def test_a_text_with_a_nul_is_refused_with_its_place(
    house: House, changes: dict[str, object], where: str
) -> None:
    options = house.options(**changes)  # type: ignore[arg-type]  # each case names its own
    with pytest.raises(Refused) as sent:
        await house.send(TWO, options=options)
    with pytest.raises(Refused) as ended:
        await house.finish(ImportId(uuid4()), options=options)
    assert {(one.value.code, one.value.where) for one in (sent, ended)} == {("character_refused", where)}


async def test_a_file_name_with_a_nul_is_refused_with_its_place(house: House) -> None:
    with pytest.raises(Refused) as sent:
        await house.send(TWO | {"a\0.md": TRAVEL}, colliding=("b\0",))
    with pytest.raises(Refused) as ended:
        await house.finish(ImportId(uuid4()), sync=True, present=("a.md", "a\0.md"))
    assert (sent.value.where, ended.value.where) == ("files[3].path", "present[2]")
    assert await captures(house) == {}
