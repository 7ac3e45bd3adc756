"""Load, decide, append; on a conflict load and decide again."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from contracts.errors import Unavailable
from eventlog.log import Append, Conflict, EventLog

S = TypeVar("S")


async def transact(
    load: Callable[[], Awaitable[S]],
    decide: Callable[[S], Append | None],
    log: EventLog,
    *,
    catch_up: Callable[[int], Awaitable[None]],
    attempts: int = 5,
) -> int | None:
    """Append what `decide` makes of the state; returns the last position, or None where nothing had to be said.

    `catch_up` waits until the fold has reached the position that the conflict told. Whatever `decide` raises goes to
    the caller. Raises `Unavailable` after `attempts` conflicts.
    """
    for _ in range(attempts):
        decision = decide(await load())
        if decision is None:
            return None
        try:
            return await log.append(decision)
        except Conflict as conflict:
            await catch_up(conflict.last)
    raise Unavailable("others keep changing the same thing; try again")
