"""A page that is gone from a synced folder: what waits says that it would end, and is decided on as that."""

import hashlib
from pathlib import Path

import pytest

import story
from houses import House

pytestmark = pytest.mark.system


def listing(house: House, proposal: str) -> str:
    """What the console shows as the text that a proposal's digest is of."""
    shown = house.command("proposals", proposal, "--as", "alice")
    assert shown.code == 0, shown.result
    return str(shown.result["listing"])


def sha(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_end_of_a_page_is_told_and_decided_on_as_one(house: House, tmp_path: Path) -> None:
    gone = "# Gone\n\nThe bell went.\n"
    folder = story.write(tmp_path / "bells", {"bells/kept.md": "# Kept\n\nThe bell stays.\n", "bells/gone.md": gone})
    (published,) = story.proposed(story.take_in(house, folder, "--source", "bells"))
    line = story.waiting(house)[published]
    assert (line["change"], line["actions"]) == ("2 new", {"create": 2})
    assert sha(listing(house, published)) == line["digest"]
    assert story.approve(house, published)["change"] == "2 new"
    (folder / "bells" / "gone.md").unlink()
    (ended,) = story.proposed(story.take_in(house, folder, "--source", "bells", "--sync"))
    line = story.waiting(house)[ended]
    assert (line["change"], line["path"]) == ("end of page (revision 1)", "bells/gone.md")
    listed = listing(house, ended)
    action, revision, page, path = listed.split()
    assert (action, revision, path) == ("deprecate", "1", "bells/gone.md")
    refused = house.command("approve", ended, "--digest", page, "--as", "alice")
    assert "digest_mismatch" in str(refused.result)
    decided = house.command("approve", ended, "--digest", sha(listed), "--as", "alice")
    assert (decided.code, decided.result["change"]) == (0, "end of page (revision 1), bells/gone.md")
