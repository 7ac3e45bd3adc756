"""How a process ends, even one that waits for what is gone."""

import signal
import subprocess
import sys

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
