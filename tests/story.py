"""Words of a story on a brain: let people join, import a folder, decide on what waits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from houses import House

LINES: list[str] = []
"""What stories tell about what they saw; it stands at the end of the run, whether it passed or not."""


def join(house: House, name: str, tier: str = "employee", role: str = "member") -> None:
    """A person who is signed in on this machine."""
    added = house.command("member", "add", name, "--role", role, "--tier", tier, "--as", "alice")
    assert added.code == 0, added.result
    signed = house.command("signin", name)
    assert signed.code == 0, signed.result


def grant(house: House, subject: str, permission: str, scope: str) -> None:
    """Give a permission."""
    done = house.command("grant", "add", subject, permission, scope, "--as", "alice")
    assert done.code == 0, done.result


def revoke(house: House, subject: str, permission: str, scope: str) -> None:
    """Take it back."""
    done = house.command("grant", "revoke", subject, permission, scope, "--as", "alice")
    assert done.code == 0, done.result


@contextmanager
def nobody_reads_by_default(house: House) -> Iterator[None]:
    """For the time of the block the group `everyone` has no grant."""
    revoke(house, "everyone", "read", "**")
    try:
        yield
    finally:
        grant(house, "everyone", "read", "**")


def take_in(house: House, folder: Path, *options: str) -> dict[str, object]:
    """Import a folder as alice, and what the command told."""
    done = house.command("import", str(folder), "--owner", "alice", "--as", "alice", *options)
    assert done.code == 0, (done.result, done.said)
    return done.result


def waiting(house: House, person: str = "alice") -> dict[str, dict[str, object]]:
    """The open proposals that a person may see, by id."""
    listed = house.command("proposals", "--as", person)
    assert listed.code == 0, listed.result
    found = listed.result["proposals"]
    assert isinstance(found, list)
    return {str(line["id"]): line for line in found}


def approve(house: House, proposal: str, person: str = "alice") -> dict[str, object]:
    """Approve what waits, by its digest."""
    done = house.command(
        "approve", proposal, "--digest", str(waiting(house, person)[proposal]["digest"]), "--as", person
    )
    assert (done.code, done.result.get("outcome")) == (0, "approved"), done.result
    return done.result


def proposed(imported: dict[str, object]) -> list[str]:
    """The ids of the proposals that an import made."""
    found = imported["builds"]
    assert isinstance(found, list)
    return [str(one) for one in found]


def publish(house: House, folder: Path, *options: str) -> list[str]:
    """Import a folder and approve all of it; the proposals."""
    made = proposed(take_in(house, folder, *options))
    for proposal in made:
        approve(house, proposal)
    return made


def write(folder: Path, files: dict[str, str]) -> Path:
    """Make a folder of these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
