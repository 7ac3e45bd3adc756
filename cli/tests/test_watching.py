"""A program that ends is started again, whatever the disk does, and one that cannot start is not waited for."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from brain.stack import child, supervisor, watching
from brain.stack.home import Home
from chassis import process
from contracts.errors import CannotStart

SAYS_ITS_PID = "import os, sys; open(sys.argv[1], 'w').write(f'{os.getpid()}\\n')"
STAYS = SAYS_ITS_PID + "; import time; time.sleep(600)"
WAITS_TO_BE_NOTED = """
import os, sys, time
while True:
    try:
        if open(sys.argv[2]).read() == f"{os.getpid()}\\n":
            break
    except OSError:
        pass
    time.sleep(0.01)
open(sys.argv[1], "w").write("noted\\n")
time.sleep(600)
"""


@pytest.fixture(name="home")
def a_home(tmp_path: Path) -> Home:
    for folder in ("run", "logs"):
        (tmp_path / folder).mkdir()
    os.mkfifo(tmp_path / "said")
    return Home(tmp_path)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_FIRST_WAIT", 0.01)
    monkeypatch.setattr(watching, "_NOTE_AGAIN", 0.01)


def program(home: Home, code: str) -> child.Program:
    noted = home.run / "drift.pid"
    return child.Program("drift", (sys.executable, "-c", code, str(home.root / "said"), str(noted)), home.log("drift"))


@asynccontextmanager
async def watched(home: Home, code: str, judge: watching.Judge) -> AsyncIterator[asyncio.Task[None]]:
    started = await child.start(program(home, code))
    watch = asyncio.create_task(watching.keep(home, started, judge))
    try:
        yield watch
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


async def said(home: Home) -> str:
    """What a program says next; it waits until it is read."""
    return await asyncio.to_thread((home.root / "said").read_text, "ascii")


def any_end(_ended: child.Child, _code: int) -> None:
    """Every end is one to be mended."""


async def test_a_program_comes_back_while_its_pid_cannot_be_noted_and_is_noted_once_it_can(home: Home) -> None:
    blocked = home.run / "drift.pid"
    blocked.mkdir()
    async with watched(home, SAYS_ITS_PID, any_end) as watch:
        assert len({await said(home) for _ in range(3)}) == 3
        assert not watch.done()
    async with watched(home, WAITS_TO_BE_NOTED, any_end) as watch:
        blocked.rmdir()
        assert await said(home) == "noted\n"
        assert not watch.done()
    assert home.pid("drift") is None


async def test_a_program_comes_back_when_its_log_can_be_opened_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = home.log("drift")
    told = asyncio.Event()

    def unlogged(_ended: child.Child, _code: int) -> None:
        log.unlink()
        log.mkdir()  # from here on a start fails, as on a full disk
        told.set()

    monkeypatch.setattr(watching, "_LONGEST_WAIT", 0.01)
    async with watched(home, SAYS_ITS_PID, unlogged) as watch:
        first = await said(home)
        await told.wait()
        with pytest.raises(OSError) as refused:
            await child.start(program(home, SAYS_ITS_PID))
        assert refused.value.errno == errno.EISDIR
        log.rmdir()
        assert await said(home) != first
        assert not watch.done()


async def test_what_is_watched_ends_with_its_watch(home: Home) -> None:
    async with watched(home, STAYS, any_end):
        pid = int(await said(home))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_watch_that_fails_itself_is_not_silent_and_leaves_no_program(home: Home) -> None:
    def broken(_ended: child.Child, _code: int) -> None:
        raise LookupError

    async with watched(home, SAYS_ITS_PID, broken) as watch:
        await said(home)
        with pytest.raises(LookupError):
            await watch


CANNOT = """
import asyncio
from chassis import process
from contracts.errors import CannotStart

async def main(stop):
    raise CannotStart("bad_keyring", "The key ring is open.", "/keys", "Set its mode to 600.")

process.run(main)
"""


async def test_the_reason_of_a_program_that_cannot_start_is_read_from_this_run_of_it(home: Home) -> None:
    home.log("drift").write_text('{"event":"cannot_start","what":"Long ago."}\n')
    ended = await child.start(program(home, CANNOT))
    assert await ended.process.wait() == process.CANNOT_START
    reason = supervisor.why(ended)
    assert isinstance(reason, CannotStart)
    assert (reason.code, reason.what, reason.where) == ("bad_keyring", "The key ring is open.", "drift: /keys")
    silent = await child.start(program(home, "raise SystemExit(78)"))
    await silent.process.wait()
    assert supervisor.why(silent).where == str(home.log("drift"))
