"""`brain rebuild`: a read model made anew from the ledger, beside the one that serves."""

import os
import signal
import subprocess
import sys

import click
import msgspec

from brain import console, output
from brain.groups import Group
from brain.stack import child, programs
from brain.stack.home import Ports, first_port, locate
from contracts.errors import Refused, Unavailable

UNAVAILABLE = 5


class Told(msgspec.Struct, frozen=True):
    """What the rebuilding process said: what it did, or `error` and why. `lines`: rows of each part of the index."""

    switched: bool = False
    differs: tuple[str, ...] = ()
    lines: dict[str, int] = {}
    seconds: float = 0.0
    error: str = ""
    what: str = ""


@click.group(cls=Group)
def rebuild() -> None:
    """Make a read model anew from the ledger."""


@rebuild.command("retrieval")
@output.json_option
def rebuild_retrieval(*, as_json: bool) -> int:
    """Build the search index beside the one that serves, compare both, and switch when they are equal."""
    home = locate(os.environ)
    console.reach(home)
    ports = Ports(first_port(os.environ, home))
    program = programs.service("retrieval", home, ports, os.environ)
    settings = dict(program.env) | {"MIGRATOR_DSN": programs.dsn(home, ports, "migrator").reveal()}
    log = os.open(home.log("rebuild"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        ended = subprocess.run(
            [*child.with_parent(signal.SIGTERM), sys.executable, "-m", "retrieval", "rebuild"],
            env={"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "")} | settings,
            stdout=subprocess.PIPE,
            stderr=log,
            check=False,
        )
    finally:
        os.close(log)
    try:
        told = msgspec.json.decode(ended.stdout, type=Told)
    except msgspec.MsgspecError:
        place = str(home.log("rebuild"))
        raise Refused("rebuild_failed", "The rebuild ended without a word.", place, "Its log tells more.") from None
    if ended.returncode == UNAVAILABLE:
        raise Unavailable(told.what or "something that the rebuild needs does not answer")
    if told.error:
        raise Refused(told.error, told.what, "retrieval", "The old index serves on.")
    output.show(msgspec.Raw(ended.stdout.strip()), [line(told)], as_json=as_json)
    return ended.returncode


def line(told: Told) -> str:
    """What came of a rebuild, for a person."""
    if told.switched:
        return f"The new index is equal and serves now: {sum(told.lines.values())} rows in {told.seconds:.1f} s."
    return f"The old index serves on; the new one differs in {', '.join(told.differs)}."
