"""Breaking a running brain: its processes are killed while a load works on it, and what is left is judged."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import inside
import loads
import reading
import story
import verdicts
from brain.stack import readiness
from houses import House

READY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Faulty:
    """A brain whose processes get killed. `author` may suggest, `stranger` had a grant and lost it."""

    house: House
    friend: str
    stranger: str
    author: str = "fay"

    async def kill(self, program: str) -> float:
        """Kill a program by its own pid, and wait until the supervisor has started it anew; when it was killed."""
        pid = self.house.home.pid(program)
        assert pid is not None, f"{program} does not run"
        os.kill(pid, signal.SIGKILL)
        at = time.monotonic()
        async with asyncio.timeout(READY_SECONDS):
            while self.house.home.pid(program) in {None, pid}:  # noqa: ASYNC110 - the supervisor notes it
                await asyncio.sleep(0.05)
        return at

    async def ready(self, since: float) -> float:
        """Seconds from `since` until all six services say that they are ready."""
        async with asyncio.timeout(READY_SECONDS):
            while not await self._is_ready():  # noqa: ASYNC110 - other processes tell when they are asked
                await asyncio.sleep(0.1)
        return time.monotonic() - since

    async def _is_ready(self) -> bool:
        return all(state.ready for state in (await readiness.services(self.house.ports)).values())


Break = Callable[[loads.Load], Awaitable[float]]
"""Do harm while the load works; the seconds that healing took."""


def people(house: House) -> Faulty:
    """Let fay suggest, and let mallory have a grant and lose it."""
    story.join(house, "fay")
    story.join(house, "mallory")
    story.grant(house, "fay", "suggest", "load/**")
    stranger = reading.token(house, "mallory")
    story.revoke(house, "everyone", "read", "**")
    story.grant(house, "mallory", "read", "load/**")
    story.revoke(house, "mallory", "read", "load/**")
    return Faulty(house, reading.token(house, "alice"), stranger)


async def under_load(faulty: Faulty, harm: Break) -> tuple[verdicts.Verdict, loads.Load]:
    """Let the load work, do harm to it, and judge what is left; nobody was shown what he may not see."""
    async with loads.working(faulty.house, faulty.author, faulty.friend, faulty.stranger) as load:
        async with load.running():
            await load.resumed(time.monotonic())
            heal = await harm(load)
            await load.resumed(time.monotonic())
        await faulty.ready(time.monotonic())
        async with inside.look(faulty.house) as within:
            verdict = await verdicts.judge(within, load, heal)
    assert load.leaks == []
    assert set(load.probes) <= {"answered", "refused", "no answer", "503"}, load.probes
    assert set(load.reads) <= {"answered", "no answer", "503"}, load.reads
    assert load.probes["answered"] + load.probes["refused"] > 0
    assert load.reads["answered"] > 0
    assert verdict.lost == ()
    assert verdict.twice == ()
    whole = await asyncio.to_thread(faulty.house.command, "log", "verify")
    assert (whole.code, whole.result["problems"]) == (0, [])
    return verdict, load
