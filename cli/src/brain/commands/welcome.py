"""`brain welcome`: a sample company in a new brain, and how to look at it."""

import os
import shlex
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from uuid import UUID

import click
import msgspec

from brain import api, console, folder, output, signins
from brain.commands.importing import take_in
from brain.commands.people import web_link
from brain.stack.home import Home, locate
from contracts import gateway_api
from contracts.approvals_messages import Decided, ProposalLines
from contracts.enums import Permission
from contracts.errors import Refused
from contracts.gateway_messages import GrantMade
from contracts.ids import CommandId, PrincipalId, derived
from contracts.ingest_messages import FILE_CAPTURE, FileCapture, Filed, ImportOptions

_SEALED_OFF = "category:salaries"  # its pages are restricted: only a grant that names them or their category reaches


@click.command()
@click.option("--sample/--no-sample", default=True, show_default=True, help="Load the sample company, once.")
@click.option("--as", "person", default="alice", show_default=True, metavar="PERSON", help="Whose brain it is.")
@output.json_option
def welcome(*, sample: bool, person: str, as_json: bool) -> None:
    """Load the sample company into a new brain, and say how people and clients come in."""
    home = locate(os.environ)
    signins.named(person)
    if sample and not (home.root / "sampled").exists():
        _load(home, person)
        (home.root / "sampled").touch(mode=0o600)
    mcp = f"{api.address(home)}/api/mcp"
    link = web_link(console.sign_in(home, person, link=True))
    client = (
        f'export BRAIN_MCP_TOKEN="$({_brain(home)} token issue --as {person} --scope brain:read)"'
        f" && claude mcp add-json --scope user company-brain '{_server(mcp)}'"
    )
    lines = [
        "",
        f"On the web, signed in as {person} (this link works once, for ten minutes):",
        f"  {link}",
        "Over MCP:",
        f"  {mcp}",
        "To connect a client, for example:",
        f"  {client}",
    ]
    output.show({"link": link, "mcp": mcp, "client": client}, lines, as_json=as_json)


def _server(mcp: str) -> str:
    """The client's entry. It names the variable, so that the token itself lands in no file."""
    entry = {"type": "http", "url": mcp, "headers": {"Authorization": "Bearer ${BRAIN_MCP_TOKEN}"}}
    return msgspec.json.encode(entry).decode()


def _load(home: Home, person: str) -> None:
    """Keep the captures, propose the pages, and approve them: a part done by an earlier try changes nothing."""
    output.note("loading the sample company")
    root = Path(str(files("brain.sample")))
    brain = home.papers().brain
    with api.connect(person) as gateway:
        me = gateway.get(gateway_api.WHOAMI, gateway_api.WhoAmI)
        for capture in _captures(brain, me.principal, root / "captures"):
            console.ask(home, FILE_CAPTURE, capture, Filed)
        grant = gateway_api.GrantText(
            subject=me.name,
            permission=Permission.APPROVE,
            scope=_SEALED_OFF,
            command=CommandId(derived(brain, "sample", "grant")),
        )
        gateway.post(gateway_api.GRANT_ADD, grant, GrantMade)
        options = ImportOptions(source="sample", owner=me.name)
        outcome, refused = take_in(gateway, folder.look(root / "pages"), options)
        if refused:
            raise Refused(refused[0].category.value, "A page of the sample was refused.", refused[0].file)
        waiting = gateway.get(gateway_api.PROPOSALS, ProposalLines).proposals
        for line in waiting:
            if line.id in outcome.builds:
                command = CommandId(derived(brain, "sample", "approve", line.id.hex))
                asked = gateway_api.Approve(proposal=line.id, digest=line.digest, command=command)
                gateway.post(gateway_api.APPROVE, asked, Decided)


def _captures(brain: UUID, by: PrincipalId, root: Path) -> Iterator[FileCapture]:
    for path in sorted(root.glob("*.md")):
        source, _, name = path.stem.partition("--")
        text = path.read_text(encoding="utf-8")
        title = text.splitlines()[0].lstrip("# ")
        command = CommandId(derived(brain, "sample", path.name))
        yield FileCapture(command=command, by=by, title=title, text=text, external_id=name, source=source)


def _brain(home: Home) -> str:
    """How this command is written in a shell so that it finds this home, wherever it is run from."""
    command = shlex.quote(str(Path(sys.executable).with_name("brain")))
    return command if home == locate({}) else f"BRAIN_HOME={shlex.quote(str(home.root))} {command}"
