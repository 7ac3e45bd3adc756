"""One child process: what to run, and how to start, watch and end it by its own pid."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `env` is everything it sees beside PATH, HOME, LANG, TMPDIR and TZ.

    `stop` is the signal that asks it to finish; after `patience` seconds it is killed. Its output goes to `log`.
    """

    name: str
    argv: tuple[str, ...]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    stop: signal.Signals = signal.SIGTERM
    patience: float = 20.0


class Child:
    """A running program."""

    def __init__(self, program: Program, process: asyncio.subprocess.Process, logged: int) -> None:
        """Take a program that was started when its log held `logged` bytes."""
        self.program = program
        self.process = process
        self._started = time.monotonic()
        self._logged = logged

    @property
    def lived(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._started

    def said(self) -> list[bytes]:
        """The lines of its log that are of this run."""
        try:
            with self.program.log.open("rb") as log:
                log.seek(self._logged)
                return log.read().splitlines()
        except OSError:
            return []

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.returncode is None

    async def end(self) -> None:
        """Ask it to stop, wait as long as its program allows, then kill it."""
        if self.alive:
            self.process.send_signal(self.program.stop)
        try:
            await asyncio.wait_for(self.process.wait(), self.program.patience)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


def with_parent(stop: signal.Signals) -> tuple[str, ...]:
    """A prefix that sends `stop` to the program should its parent die without stopping it (needs setpriv)."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", stop.name.removeprefix("SIG"), "--") if setpriv else ()


async def start(program: Program) -> Child:
    """Run `program` in a process group of its own, its output appended to its log (mode 0600)."""
    env = {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(program.env)
    log = os.open(program.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        logged = os.lseek(log, 0, os.SEEK_END)
        process = await asyncio.create_subprocess_exec(
            *program.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            start_new_session=True,
        )
    finally:
        os.close(log)
    return Child(program, process, logged)


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, for a message about what went wrong."""
    try:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
