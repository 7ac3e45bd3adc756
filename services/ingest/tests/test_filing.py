"""One text kept as a capture."""

from uuid import uuid4

import pytest

from chassis import rpc
from contracts.errors import Refused
from contracts.ids import CommandId
from contracts.ingest_messages import FILE_CAPTURE, FileCapture, Filed
from eventlog import leader
from importing_house import House

pytestmark = pytest.mark.service


async def file(house: House, text: str, external_id: str = "note-1", title: str = "A note") -> Filed:
    asked = FileCapture(
        command=CommandId(uuid4()), by=house.members["alice"], title=title, text=text, external_id=external_id
    )
    return await rpc.ask(house.nc, FILE_CAPTURE, asked, Filed, seconds=20)


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


@pytest.mark.parametrize(
    ("text", "external_id", "code"),
    [
        (" \n", "note-1", "text_missing"),
        ("Card: 4111 1111 1111 1111", "note-1", "payment_card"),
        ("The lease ends in May.", "", "invalid_reference"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_leaves_nothing(
    house: House, text: str, external_id: str, code: str
) -> None:
    with pytest.raises(Refused) as told:
        await file(house, text, external_id)
    assert told.value.code == code
    assert await house.rows("select 1 from captures") == []
