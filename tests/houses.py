"""A whole brain for system tests: both servers and all six services, in a home and on ports of their own."""

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from brain.stack.home import Home, Ports

START_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: its exit code, the one JSON object it printed, and what it said on stderr."""

    code: int
    result: dict[str, object]
    said: str


@dataclass(frozen=True, slots=True)
class House:
    """A brain in a home of its own. `traces` gets a JSON line for each span of every service."""

    home: Home
    ports: Ports
    traces: Path
    settings: dict[str, str] = field(default_factory=dict)

    def command(self, *words: str, seconds: float = START_SECONDS) -> Outcome:
        """Run `brain WORDS --json`, as a script would."""
        ended = subprocess.run(
            self._argv(*words), env=self._env(), capture_output=True, text=True, timeout=seconds, check=False
        )
        result = msgspec.json.decode(ended.stdout, type=dict[str, object]) if ended.stdout else {}
        return Outcome(ended.returncode, result, ended.stderr)

    def foreground(self) -> "subprocess.Popen[bytes]":
        """Run `brain up --json` without letting go of it; it prints when it is ready."""
        return subprocess.Popen(self._argv("up"), env=self._env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "brain.main", *words, "--json"]

    def _env(self) -> dict[str, str]:
        mine = {"BRAIN_HOME": str(self.home.root), "BRAIN_PORT": str(self.ports.first)}
        return {**os.environ, **mine, "BRAIN_TRACE_FILE": str(self.traces), **self.settings}

    def spans(self) -> list[dict[str, object]]:
        """All spans so far."""
        lines = self.traces.read_bytes().splitlines() if self.traces.exists() else []
        return [msgspec.json.decode(line, type=dict[str, object]) for line in lines]


def build(folder: Path, **settings: str) -> House:
    """A house that does not run yet, on a run of ports that are free now."""
    while True:
        ports = Ports(random.randrange(20_000, 55_000, 20))
        if all(_is_free(port) for port in ports.all()):
            return House(Home(folder / "home"), ports, folder / "spans.jsonl", settings)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@contextmanager
def running(house: House) -> Iterator[House]:
    """Its brain, while the block runs."""
    started = house.command("up", "--detach")
    try:
        assert started.code == 0, (started.result, started.said)
        yield house
    finally:
        house.command("down")


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The session's running brain. Tests share it: use names and paths of your own."""
    with running(build(tmp_path_factory.mktemp("house"), SWEEP_SECONDS="1")) as shared:
        yield shared
