"""Keeping a program running: it is started again when it ends, and nothing but its own end or ours stops the watch."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from brain.stack import child
from brain.stack.home import Home
from chassis import log

_LOG = log.get(part="supervisor")
_FIRST_WAIT, _LONGEST_WAIT, _SETTLED = 0.5, 30.0, 60.0
_NOTE_AGAIN = 1.0  # seconds after which a pid that could not be noted is tried again

Judge = Callable[[child.Child, int], None]
"""Told of a program that ended and its exit code; raises where starting it again would change nothing."""


async def keep(home: Home, running: child.Child, judge: Judge) -> None:
    """Start a program again when it ends by itself, after a wait that grows while it keeps ending soon.

    A disk that takes neither its pid nor its log for now costs the note, never the watch. The program is ended when
    the watch is cancelled, and when `judge` raises.
    """
    program, wait = running.program, _FIRST_WAIT
    try:
        while True:
            code = await _ended(home, running)
            judge(running, code)
            wait = _FIRST_WAIT if running.lived > _SETTLED else min(wait * 2, _LONGEST_WAIT)
            _LOG.warning("process_ended", program=program.name, code=code, again_in=wait)
            await asyncio.sleep(wait)
            running = await _started(program, wait)
    finally:
        await running.end()
        _strike(home, program.name)


async def _ended(home: Home, running: child.Child) -> int:
    noting = asyncio.create_task(_note(home, running))
    try:
        return await running.process.wait()
    finally:
        noting.cancel()
        with suppress(asyncio.CancelledError):
            await noting
        _strike(home, running.program.name)


async def _note(home: Home, running: child.Child) -> None:
    told = False
    while True:
        try:
            home.note_pid(running.program.name, running.pid)
        except OSError as error:
            if not told:
                _LOG.warning("pid_not_noted", program=running.program.name, error=error.strerror)
            told = True
            await asyncio.sleep(_NOTE_AGAIN)
        else:
            return


async def _started(program: child.Program, wait: float) -> child.Child:
    while True:
        try:
            return await child.start(program)
        except OSError as error:
            _LOG.warning("process_not_started", program=program.name, error=error.strerror, again_in=wait)
            await asyncio.sleep(wait)


def _strike(home: Home, name: str) -> None:
    with suppress(OSError):
        home.note_pid(name, None)
