"""`brain rebuild`: a read model made anew from the ledger, beside the one that serves."""

import os
import subprocess
import sys

import click
import msgspec

from brain import output
from brain.stack import programs
from brain.stack.home import Ports, first_port, locate, runs
from contracts.errors import Refused, Unavailable

UNAVAILABLE = 5


@click.group()
def rebuild() -> None:
    """Make a read model anew from the ledger."""


@rebuild.command("retrieval")
@output.json_option
def rebuild_retrieval(*, as_json: bool) -> int:
    """Build the search index beside the one that serves, compare both, and switch when they are equal."""
    home = locate(os.environ)
    if not runs(home):
        raise Unavailable("the brain is not running")
    ports = Ports(first_port(os.environ, home))
    program = programs.service("retrieval", home, ports, os.environ)
    settings = dict(program.env) | {"MIGRATOR_DSN": programs.dsn(home, ports, "migrator").reveal()}
    ended = subprocess.run(
        [sys.executable, "-m", "retrieval", "rebuild"],
        env={"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "")} | settings,
        stdout=subprocess.PIPE,
        stderr=None if not as_json else subprocess.DEVNULL,
        check=False,
    )
    try:
        told = msgspec.json.decode(ended.stdout, type=dict[str, object])
    except msgspec.MsgspecError:
        raise Refused(
            "rebuild_failed", "The rebuild ended without a word.", "retrieval", "See its log lines."
        ) from None
    if ended.returncode == UNAVAILABLE:
        raise Unavailable(str(told.get("what", "something that the rebuild needs does not answer")))
    if "error" in told:
        raise Refused(str(told["error"]), str(told.get("what", "")), "retrieval", "The old index serves on.")
    done = "The new index is equal and serves now." if told.get("switched") else f"They differ: {told.get('differs')}"
    output.show(told, [done, f"{told.get('seconds')} s, {told.get('lines')}"], as_json=as_json)
    return ended.returncode
