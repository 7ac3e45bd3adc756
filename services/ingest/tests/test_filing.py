"""One text kept as a capture."""

import pytest

from contracts.enums import Role
from contracts.errors import Refused
from contracts.ingest_messages import Filed
from eventlog import leader
from importing_house import House

pytestmark = pytest.mark.service


async def file(house: House, text: str, external_id: str = "note-1", by: str = "alice") -> Filed:
    return await house.file(external_id, text=text, by=by)


async def test_a_text_is_kept_as_a_capture_that_everyone_may_see(house: House) -> None:
    filed = await file(house, "The lease ends in May.")
    assert filed.archived
    rows = await house.rows("select source, external_id, capture, everyone from captures")
    assert rows == [("inbox", "note-1", filed.capture, True)]


async def test_the_same_text_again_is_kept_once(house: House) -> None:
    first = await file(house, "The lease ends in May.")
    end = await leader.extent(house.nc, "CAP")
    again = await file(house, "The lease ends in May.")
    assert again.capture == first.capture
    assert (await leader.extent(house.nc, "CAP")).last == end.last


async def test_another_text_under_the_same_id_supersedes(house: House) -> None:
    first = await file(house, "The lease ends in May.")
    second = await file(house, "The lease ends in June.")
    assert await house.rows("select capture, supersedes from captures") == [(second.capture, first.capture)]


async def test_the_same_id_in_another_spelling_is_the_same_text(house: House) -> None:
    first = await file(house, "The lease ends in May.", "caf\u00e9")
    assert (await file(house, "The lease ends in May.", "cafe\u0301")).capture == first.capture


async def test_what_another_files_under_the_same_id_supersedes_nothing(house: House) -> None:
    await house.join("nils", role=Role.MEMBER)
    first = await file(house, "The lease ends in May.")
    second = await file(house, "The lease ends in May.", by="nils")
    assert set(await house.rows("select capture, supersedes from captures")) == {
        (first.capture, None),
        (second.capture, None),
    }


@pytest.mark.parametrize(
    ("text", "external_id", "code"),
    [
        (" \n", "note-1", "text_missing"),
        ("Card: 4111 1111 1111 1111", "note-1", "payment_card"),
        ("The lease ends in May.", "", "invalid_reference"),
        ("The lease\0 ends in May.", "note-1", "character_refused"),
        ("The lease ends in May.", "note\0", "character_refused"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_leaves_nothing(
    house: House, text: str, external_id: str, code: str
) -> None:
    with pytest.raises(Refused) as told:
        await file(house, text, external_id)
    assert told.value.code == code
    assert await house.rows("select 1 from captures") == []
