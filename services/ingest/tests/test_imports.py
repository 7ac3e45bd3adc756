"""Imports on a real log and database: what is kept, refused, proposed, and what a second time changes."""

import pytest

from corpus import page
from importing_house import House

pytestmark = pytest.mark.service

TRAVEL = b"# Travel\n\nBook early.\n"
LEAVE = b"# Leave\n\nTell your team.\n"


async def test_two_files_become_captures_and_one_build(house: House) -> None:
    part, done = await house.take({"Travel Policy.md": TRAVEL, "hr/leave.md": LEAVE})
    assert (part.captures, part.unchanged, part.refused, part.pages, part.archived) == (2, 0, (), 2, True)
    assert (len(done.builds), done.pages, done.withdrawn) == (1, 2, 0)
    assert house.approvals.kinds() == ["OpenBuild", "WritePages", "SubmitBuild"]
    written = house.approvals.written
    assert set(written) == {"travel-policy.md", "hr/leave.md"}
    front = page.parse(await house.body(written["travel-policy.md"].body)).front
    assert (front.title, front.owner, front.access, front.type) == ("Travel", "alice", "department", "topic")
    assert front.sources == ["capture:notes/Travel%20Policy.md"]
