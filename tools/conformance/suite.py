"""The official suite, run as a program of its own. Its exit code is the verdict; what it prints says why."""

import asyncio
import os
import platform
import re
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

NODE_TOOLS = Path(__file__).resolve().parent.parent / "node"
MODULES = NODE_TOOLS / "node_modules"
BASELINES = Path(__file__).resolve().parent
REQUIREMENTS = ("2025-11-25", "2026-07-28")
_PROGRAM = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_SECONDS = 120
_ASKED = re.compile(r"https?://\S+/authorize\?\S+\s*$")

Consent = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run ended, and everything that it said."""

    passed: bool
    told: str


def installed() -> bool:
    """Whether `make conformance` has installed it."""
    return _PROGRAM.is_file()


def node() -> str:
    """Node 22: of the locked package, else the one of this machine."""
    machine = _MACHINES.get(platform.machine(), "")
    bundled = MODULES / f"node-linux-{machine}" / "bin" / "node"
    return str(bundled) if bundled.is_file() else shutil.which("node") or "node"


def baseline(requirements: str) -> Path:
    """The scenarios of a requirement set that need a stream: each is expected to fail, and must."""
    return BASELINES / f"baseline.{requirements}.yml"


async def against(address: str, folder: Path, *arguments: str) -> Verdict:
    """Run scenarios against a server; results go to `folder`."""
    return await _run("server", "--url", address, "-o", str(folder), *arguments)


async def authorization(issuer: str, folder: Path, arguments: Sequence[str], consent: Consent) -> Verdict:
    """Run the scenarios of authorization servers. `consent` opens the address that a person is sent to, and allows."""
    return await _run("authorization", "--url", issuer, "-o", str(folder), *arguments, consent=consent)


async def _run(*arguments: str, consent: Consent | None = None) -> Verdict:
    """Run the suite to its end, with nothing of a proxy in its way."""
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    running = await asyncio.create_subprocess_exec(
        node(), str(_PROGRAM), *arguments, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert running.stdout is not None
    told: list[str] = []
    try:
        async with asyncio.timeout(_SECONDS):
            async for raw in running.stdout:
                line = raw.decode(errors="replace")
                told.append(line)
                if consent is not None and _ASKED.match(line):
                    await consent(line.strip())
            await running.wait()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return Verdict(running.returncode == 0, "".join(told))
