"""How a turn waits for company: decisions that land together cost little more than one alone."""

import asyncio
from contextlib import suppress

LINGER = 0.04
"""Seconds that a turn waits for as many as wanted the turn before: who decides on a pile comes right back.

To answer a full batch and hear from the same callers again takes some 30 ms; a turn for one costs half of a full one.
"""


class Company:
    """Knows how many wanted the turn before. One alone, or the first after a pause, never waits twice."""

    def __init__(self, linger: float = LINGER) -> None:
        self._linger = linger
        self._usual = 1
        self._enough = asyncio.Event()

    def came(self, waiting: int) -> None:
        """Another one waits; so many do now."""
        if waiting >= self._usual:
            self._enough.set()

    async def gathered(self, waiting: int) -> None:
        """Return once as many wait as last time, or after a moment."""
        if waiting < self._usual:
            self._enough.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._linger):
                    await self._enough.wait()

    def went(self, wanted: int) -> None:
        """A turn is over: so many had it or came during it."""
        self._usual = wanted
