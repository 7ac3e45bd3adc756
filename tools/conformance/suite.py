"""The official suite, run as a program of its own. Its exit code is the verdict; what it prints says why."""

import asyncio
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

NODE_TOOLS = Path(__file__).resolve().parent.parent / "node"
MODULES = NODE_TOOLS / "node_modules"
BASELINES = Path(__file__).resolve().parent
REQUIREMENTS = ("2025-11-25", "2026-07-28")
_PROGRAM = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_SECONDS = 120


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
    argv = [str(_PROGRAM), "server", "--url", address, "-o", str(folder), *arguments]
    return await program(*argv)


async def program(*argv: str) -> Verdict:
    """Run a program of Node to its end, with nothing of a proxy in its way."""
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    running = await asyncio.create_subprocess_exec(
        node(), *argv, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(_SECONDS):
            told, _ = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
    return Verdict(running.returncode == 0, told.decode(errors="replace"))
