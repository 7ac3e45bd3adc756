"""Clients that are programs of Node: each runs in folders of its own, reaches this computer alone, and ends with us."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from clients.person import Person
from conformance.suite import MODULES, node
from servers import free_port

TYPESCRIPT = Path(__file__).parent / "typescript"
BRIDGE = MODULES / "mcp-remote" / "dist" / "proxy.js"
INSPECTOR = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: what is not on this computer is asked of it, and refused."""

_SECONDS = 60
_OPENER = """#!{python} -SE
import socket, sys
with socket.create_connection(("127.0.0.1", {port})) as bell:
    bell.sendall(sys.argv[-1].encode())
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it said."""

    code: int
    told: str
    said: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a program runs: its environment, a folder of its own, and a person whom it can send an address."""

    folder: Path
    environ: dict[str, str]
    person: Person

    async def run(self, *arguments: str) -> Ended:
        """Run a program to its end."""
        pipe = asyncio.subprocess.PIPE
        async with self.started(*arguments, stderr=pipe) as running, asyncio.timeout(_SECONDS):
            told, said = await running.communicate()
        assert running.returncode is not None
        return Ended(running.returncode, told.decode(), said.decode())

    @asynccontextmanager
    async def started(self, *arguments: str, stderr: int | None = None) -> AsyncIterator[asyncio.subprocess.Process]:
        """Start a program; at the end of the block it ends, with all that it started."""
        pipe = asyncio.subprocess.PIPE
        running = await asyncio.create_subprocess_exec(
            node(),
            *arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=stderr,
            cwd=self.folder,
            env=self.environ,
            start_new_session=True,
            limit=2**24,
        )
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            await running.wait()


@asynccontextmanager
async def desk(folder: Path, person: Person) -> AsyncIterator[Desk]:
    """A desk at which `person` opens what a program asks a browser to open."""
    assert BRIDGE.is_file(), "`make test` installs the clients of tools/node"
    opening: set[asyncio.Task[None]] = set()

    async def rung(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = (await reader.read()).decode()
        writer.close()
        opening.add(asyncio.create_task(person.allows(address)))

    async with await asyncio.start_server(rung, "127.0.0.1", 0) as bell:
        (folder / "bin").mkdir()
        opener = folder / "bin" / "xdg-open"
        opener.write_text(_OPENER.format(python=sys.executable, port=bell.sockets[0].getsockname()[1]))
        opener.chmod(0o700)
        (folder / "node_modules").symlink_to(MODULES)
        for script in TYPESCRIPT.iterdir():
            (folder / script.name).write_bytes(script.read_bytes())
        yield Desk(folder, _environ(folder, opener), person)
        for opened in opening:
            await opened


def _environ(folder: Path, opener: Path) -> dict[str, str]:
    """Nothing of who runs the tests: folders of its own, the opener as its browser, and no way out."""
    places = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    rooms = {name: folder / name.lower() for name in (*places, "MCP_REMOTE_CONFIG_DIR", "MCP_STORAGE_DIR")}
    for room in rooms.values():
        room.mkdir()
    return {
        **{name: str(room) for name, room in rooms.items()},
        "PATH": f"{opener.parent}:{Path(node()).parent}:/usr/bin:/bin",
        "BROWSER": str(opener),
        "MCP_AUTO_OPEN_ENABLED": "true",
        "MCP_OAUTH_CALLBACK_URL": f"http://127.0.0.1:{free_port()}/oauth/callback",
        "MCP_INSPECTOR_SECRET_STORE": "file",
        "NODE_NO_WARNINGS": "1",
        "NODE_USE_ENV_PROXY": "1",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "npm_config_offline": "true",
    }


class Answer(msgspec.Struct, rename="camel"):
    """The result of a call, as a client gives it."""

    content: list[dict[str, object]]
    structured_content: dict[str, object] | None = None
    is_error: bool = False

    @property
    def words(self) -> str:
        return "\n".join(str(part.get("text", "")) for part in self.content)


class Connected(msgspec.Struct):
    revision: str
    tools: list[str]
    scope: str


class Failed(msgspec.Struct):
    kind: str
    message: str
    code: int | str | None = None
    status: int | None = None


class Line(msgspec.Struct):
    """A line of a TypeScript client: something for its person, or what came of what it was told."""

    open: str = ""
    connected: Connected | None = None
    answer: Answer | None = None
    failed: Failed | None = None


@dataclass(frozen=True, slots=True)
class TypeScript:
    """A TypeScript client that has connected."""

    running: asyncio.subprocess.Process
    person: Person
    connected: Connected

    async def call(self, tool: str, arguments: dict[str, object], *, forget: bool = False) -> Line:
        """What came of a call; the person allows what is asked on the way. `forget`: nothing can be refreshed."""
        assert self.running.stdin is not None
        asked = {"name": tool, "arguments": arguments, "forget": forget}
        self.running.stdin.write(msgspec.json.encode(asked) + b"\n")
        return await _next(self.running, self.person)

    async def answer(self, tool: str, arguments: dict[str, object], *, forget: bool = False) -> Answer:
        """The result of a call that has to work."""
        line = await self.call(tool, arguments, forget=forget)
        assert line.answer is not None, line
        assert not line.answer.is_error, line.answer
        return line.answer


@asynccontextmanager
async def typescript(desk: Desk, script: str, address: str, mode: str) -> AsyncIterator[TypeScript]:
    """Connect a generation of the client, through its person's consent; at the end it has to close well."""
    async with desk.started(str(desk.folder / script), address, mode) as running:
        line = await _next(running, desk.person)
        assert line.connected is not None, line
        yield TypeScript(running, desk.person, line.connected)
        assert running.stdin is not None
        running.stdin.close()
        async with asyncio.timeout(_SECONDS):
            assert await running.wait() == 0


async def _next(running: asyncio.subprocess.Process, person: Person) -> Line:
    assert running.stdout is not None
    async with asyncio.timeout(_SECONDS):
        while raw := await running.stdout.readline():
            line = msgspec.json.decode(raw, type=Line)
            if not line.open:
                return line
            await person.allows(line.open)
    raise AssertionError("the client ended before it answered")
