"""A message that nobody can read stops its readers; an operator names what he saw, and they go on."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from brain.stack import programs
from chassis import nats
from contracts import codec, subjects
from contracts.ids import BrainId, PrincipalId
from houses import House, build, running

pytestmark = pytest.mark.system


@pytest.fixture(name="struck")
def own_brain(tmp_path: Path) -> Iterator[House]:
    """A brain of this story alone: what it does to the log stays there."""
    with running(build(tmp_path, EMBEDDER_PROFILE="hashing")) as own:
        yield own


async def strike(house: House) -> int:
    """Bytes that are no fact, under a type that every reader of members hears."""
    brain = BrainId(house.home.papers().brain)
    client = await nats.connect(programs.bus(house.home, house.ports).url, "test")
    try:
        heard = {codec.TYPE_HEADER: "member_left"}
        subject = subjects.access(brain, PrincipalId(uuid4()))
        return (await client.jetstream().publish(subject, b"no fact", headers=heard)).seq
    finally:
        await client.close()


def told(house: House, *words: str) -> tuple[int, str, str]:
    """How a quarantine was refused: exit code, refusal code, remedy."""
    ended = house.command("log", "quarantine", *words, "--reason", "looked at")
    error = ended.result["error"]
    assert isinstance(error, dict)
    return ended.code, error["code"], error["remedy"]


async def test_only_what_cannot_be_read_is_quarantined_and_then_the_brain_goes_on(struck: House) -> None:
    assert told(struck, "3")[:2] == (1, "message_readable")
    assert told(struck, "999999")[:2] == (1, "no_such_message")
    bad = str(await strike(struck))
    code, refused, remedy = told(struck, bad)
    assert (code, refused) == (1, "digest_needed")
    digest = remedy.split()[-1]
    assert told(struck, bad, "--digest", "0" * 64)[:2] == (1, "digest_differs")
    words = ("log", "quarantine", bad, "--reason", "looked at", "--digest", digest)
    done = struck.command(*words)
    assert (done.code, done.result["already"]) == (0, False)
    again = struck.command(*words)
    assert (again.code, again.result["already"], again.result["position"]) == (0, True, done.result["position"])
    added = struck.command("member", "add", "quarantine-bob", "--as", "alice")
    assert (added.code, added.result["archived"]) == (0, True)
    assert struck.command("signin", "quarantine-bob").code == 0
    assert struck.command("whoami", "--as", "quarantine-bob").result["name"] == "quarantine-bob"
    assert struck.command("rebuild", "retrieval").code == 0
