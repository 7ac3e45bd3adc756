"""Two brains on one machine: each has its own home and ports, and neither knows of the other."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

import inside
import reading
import story
from houses import House, build, running

pytestmark = pytest.mark.system


@pytest.fixture(name="neighbour")
def other_brain(tmp_path: Path) -> Iterator[House]:
    """A second brain, whose embedder needs no model."""
    with running(build(tmp_path, EMBEDDER_PROFILE="hashing")) as other:
        yield other


async def test_two_brains_side_by_side_do_not_see_each_other(house: House, neighbour: House, tmp_path: Path) -> None:
    assert house.home.papers().brain != neighbour.home.papers().brain
    assert not set(house.ports.all()) & set(neighbour.ports.all())
    before = house.command("status").result["position"]
    story.publish(
        neighbour, story.write(tmp_path / "neighbours", {"neighbours/axolotl.md": "# Axolotl care\n\nFeed it.\n"})
    )
    story.join(neighbour, "neighbour-nina")
    assert house.command("status").result["position"] == before
    assert house.command("whoami", "--as", "neighbour-nina").code == 3
    here, there = reading.token(house, "alice", "admin"), reading.token(neighbour, "alice", "admin")
    async with reading.reader(house, here) as ours, reading.reader(neighbour, there) as theirs:
        assert await theirs.paths("Axolotl care") == ["neighbours/axolotl.md"]
        assert "neighbours/axolotl.md" not in await ours.paths("Axolotl care")
        assert "no page here that you can see" in await ours.words("read_page", path="neighbours/axolotl.md")
    for asked, token in ((house, there), (neighbour, here)):
        address = f"http://127.0.0.1:{asked.ports.gateway}/api/mcp"
        reply = httpx2.post(address, headers={"authorization": f"Bearer {token}"}, content=b"{}", trust_env=False)
        assert reply.status_code == 401
    async with inside.look(house) as within:
        brains = {str(row["brain"]) for row in await within.db.fetch("select distinct brain from content.bodies")}
        assert brains == {str(within.brain)}
        subjects = {one.subject.split(".")[1] for one in await within.messages("EVT")}
        assert subjects == {str(within.brain)}
