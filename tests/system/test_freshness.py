"""A page past its review window is stale wherever it is read, and its review waits for a person."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

import inside
import reading
import story
from contracts import subjects
from contracts.ids import CommandId, PageId
from contracts.proposals import PageVerified
from eventlog import leader
from eventlog.log import Append, EventLog
from eventlog.signing import Signer
from houses import House

pytestmark = pytest.mark.system

PATH = "freshness/kettle.md"
PAGE = """\
---
title: Capybara kettle rules
knowledge: verified
review_after: P1D
---

# Capybara kettle rules

The capybara kettle is descaled on Mondays.
"""


async def verified_long_ago(within: inside.Inside, page: PageId, days: int) -> None:
    """As if the last verification had been so many days ago: the fact that approvals would have said then."""
    home, alice = within.house.home, await within.member("alice")
    now = datetime.now(UTC)
    log = EventLog(within.nc, "EVT", within.brain, Signer.load(home.signing_key("approvals"), "approvals"), lambda: now)
    history = subjects.page(within.brain, page)
    last = await leader.last(within.nc, "EVT", history)
    assert last is not None
    fact = PageVerified(page=page, revision=1, by=alice, at=now - timedelta(days=days))
    await log.append(Append(CommandId(uuid4()), alice, uuid4(), ((history, fact),), {history: last.position}))


async def test_a_page_past_its_window_is_stale_until_a_person_verifies_it(house: House, tmp_path: Path) -> None:
    story.publish(house, story.write(tmp_path / "freshness", {PATH: PAGE}))
    token = reading.token(house, "alice", "admin")
    async with inside.look(house) as within, reading.reader(house, token) as reader:

        async def trust() -> set[object]:
            hit = next(one for one in await reader.search("Capybara kettle rules") if one["path"] == PATH)
            return {hit["trust"], (await reader.page(PATH))["trust"]}

        await within.settled()
        assert await trust() == {"canon_verified"}
        before = await reader.page(PATH)
        raised = await within.nc.subscribe(f"evt.{within.brain}.proposal.*")
        page = PageId(UUID(str(reading.receipt(before)["page"])))
        await verified_long_ago(within, page, 3)
        await within.settled()
        assert await trust() == {"canon_stale"}
        await raised.next_msg(timeout=60)
        (review,) = [line for line in story.waiting(house).values() if line["path"] == PATH]
        assert (review["kind"], review["origin"]) == ("review", "freshness")
        assert await trust() == {"canon_stale"}
        story.approve(house, str(review["id"]))
        await within.settled()
        assert await trust() == {"canon_verified"}
        after = await reader.page(PATH)
        assert reading.receipt(after)["revision"] == 1
        assert str(reading.receipt(after)["verified_at"]) > str(reading.receipt(before)["verified_at"])
        assert [line for line in story.waiting(house).values() if line["path"] == PATH] == []
