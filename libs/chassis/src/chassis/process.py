"""How a process runs: uvloop, one way to stop, and an exit code that says how it went."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable

import uvloop

from chassis import log, telemetry
from chassis.settings import BadSettings

OK = 0
FAILED = 1
USAGE = 2

GRACE = 20.0
"""Seconds from the signal to stop until a process ends whatever it is still waiting for."""

Main = Callable[[asyncio.Event], Awaitable[None]]
"""A service: runs until the event is set, then finishes what it began and returns."""


def run(main: Main) -> None:
    """Run `main` to its end and exit the process.

    SIGTERM and SIGINT set its event. Exit code 0 after an orderly end, 2 for unusable settings, 1 for any failure.
    """
    sys.exit(uvloop.run(_guarded(main)))


async def _guarded(main: Main) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        """Finish what was begun, but not for ever: what it waits for may itself be gone."""
        if not stop.is_set():
            last = threading.Timer(GRACE, os._exit, (FAILED,))
            last.daemon = True
            last.start()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    try:
        await main(stop)
    except BadSettings as error:
        log.get().error("settings_unusable", missing=error.missing, unusable=error.unusable)
        return USAGE
    except Exception:  # noqa: BLE001 - the last line of a process that failed is why
        log.get().exception("process_failed")
        return FAILED
    finally:
        telemetry.shutdown()
    return OK
