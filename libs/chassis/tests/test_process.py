"""How a process ends, even one that waits for what is gone."""

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from chassis import process

STUCK = """
import asyncio
from chassis import process

process.GRACE = 0.5

async def main(stop):
    print("ready", flush=True)
    await stop.wait()
    await asyncio.Event().wait()

process.run(main)
"""


def test_a_process_that_cannot_finish_ends_when_its_grace_is_over() -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == "ready\n"
        stuck.send_signal(signal.SIGTERM)
        assert stuck.wait(timeout=30) == 1


LACKING = """
import asyncio
from chassis import log, process
from chassis.settings import BadSettings
from contracts.errors import CannotStart

async def main(stop):
    REASON

process.run(main)
"""
KEYS = 'CannotStart("bad_keys", "The keys are gone.", "/keys", "Bring them back.")'
TOLD = ("bad_keys", "The keys are gone.", "/keys", "Bring them back.")
UNSET = ("bad_settings", "Settings are missing or unusable.", "environment", "Set BRAIN_ID.")


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (f"raise {KEYS}", TOLD),
        (f'raise ExceptionGroup("", [ValueError("s3cret"), {KEYS}])', TOLD),
        ('raise BadSettings(("BRAIN_ID",), ())', UNSET),
    ],
)
def test_a_process_that_cannot_start_says_why_on_one_line_and_by_its_exit_code(
    reason: str, told: tuple[str, str, str, str]
) -> None:
    lacking = subprocess.run(
        [sys.executable, "-c", LACKING.replace("REASON", reason)], capture_output=True, text=True, check=False
    )
    assert lacking.returncode == process.CANNOT_START
    [line] = map(msgspec.json.decode, lacking.stderr.splitlines())
    assert line["event"] == process.TOLD
    assert (line["code"], line["what"], line["where"], line["remedy"]) == told
    assert "s3cret" not in lacking.stderr
    assert lacking.stdout == ""


FULL = """
import asyncio
from chassis import log, process

async def main(stop):
    log.configure("drift")
    for _ in range(3):
        log.get().warning("disk_is_full")
    with open(OUT, "w") as out:
        out.write("went on")

process.run(main)
"""


def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Path("/dev/full").open("wb") as full:
        subprocess.run([sys.executable, "-c", FULL.replace("OUT", repr(str(out)))], stderr=full, check=False)
    assert out.read_text() == "went on"
