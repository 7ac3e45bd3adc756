"""How a process runs: uvloop, one way to stop, and an exit code that says how it went."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvloop

from chassis import log, telemetry
from contracts.errors import CannotStart

OK = 0
FAILED = 1
CANNOT_START = 78
"""What was given to the process is unusable, so that starting it again changes nothing (EX_CONFIG of sysexits.h)."""

TOLD = "cannot_start"
"""The event of the log line that says why: `code`, `what`, `where`, `remedy`."""

GRACE = 20.0
"""Seconds from the signal to stop until a process ends whatever it is still waiting for."""

Main = Callable[[asyncio.Event], Awaitable[None]]
"""A service: runs until the event is set, then finishes what it began and returns."""


def run(main: Main) -> None:
    """Run `main` to its end and exit the process.

    SIGTERM and SIGINT set its event. Exit code 0 after an orderly end, 78 where settings, keys or files are unusable,
    1 for any other failure.
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
    except Exception as error:  # noqa: BLE001 - the last line of a process that failed is why
        log.at_least(Path(sys.argv[0]).parent.name)
        lacks = _lacking(error)
        if lacks is not None:
            log.get().error(TOLD, code=lacks.code, what=lacks.what, where=lacks.where, remedy=lacks.remedy)
            return CANNOT_START
        log.get().exception("process_failed")
        return FAILED
    finally:
        telemetry.shutdown()
    return OK


def _lacking(error: BaseException) -> CannotStart | None:
    """The typed reason in an error, also where tasks that ran beside it have wrapped it."""
    if isinstance(error, BaseExceptionGroup):
        return next((lacks for each in error.exceptions if (lacks := _lacking(each)) is not None), None)
    return error if isinstance(error, CannotStart) else None
