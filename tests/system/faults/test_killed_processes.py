"""Processes that are killed under load: what was acknowledged stays, once; nothing unauthorised is served; it heals."""

import os
import signal
import time
from collections.abc import Awaitable, Callable

import pytest

import inside
from brain.stack.members import SERVICES
from breaking import Break, Faulty
from loads import Load
from verdicts import Verdict

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

Suffers = Callable[[Break], Awaitable[tuple[Verdict, Load]]]
Tell = Callable[[str], None]

HEALED_SECONDS = 30.0


async def test_each_service_killed_in_turn_loses_nothing(faulty: Faulty, suffers: Suffers, tell: Tell) -> None:
    """Fault 1 of the matrix."""

    async def harm(load: Load) -> float:
        slowest = 0.0
        for service in SERVICES:
            at = await faulty.kill(service)
            slowest = max(slowest, await faulty.ready(at), await load.resumed(at))
        return slowest

    verdict, load = await suffers(harm)
    tell(f"{verdict.line('F1 each service killed in turn')}; {load.unknown} answers unknown at first")
    assert verdict.heal < HEALED_SECONDS


async def test_the_bus_killed_three_times_loses_nothing(faulty: Faulty, suffers: Suffers, tell: Tell) -> None:
    """Fault 2: what timed out is unknown, and resolved by asking again with the same id."""

    async def harm(load: Load) -> float:
        slowest = 0.0
        for _ in range(3):
            at = await faulty.kill("nats")
            slowest = max(slowest, await load.resumed(at), await faulty.ready(at))
        return slowest

    verdict, load = await suffers(harm)
    tell(f"{verdict.line('F2 nats-server killed three times')}; {load.unknown} answers unknown at first")
    assert verdict.heal < HEALED_SECONDS


async def test_the_database_killed_whole_loses_nothing(faulty: Faulty, suffers: Suffers, tell: Tell) -> None:
    """Fault 3: there is no acknowledgement without the second copy, and pools heal."""

    async def harm(load: Load) -> float:
        at = await faulty.kill("postgres")
        return max(await load.resumed(at), await faulty.ready(at))

    verdict, load = await suffers(harm)
    tell(f"{verdict.line('F3 postmaster killed')}; {load.unknown} answers unknown at first")
    assert verdict.heal < HEALED_SECONDS


async def test_one_backend_of_the_database_killed_loses_nothing(faulty: Faulty, suffers: Suffers, tell: Tell) -> None:
    """Fault 3, the other half: PostgreSQL ends every connection when one backend is killed."""

    async def harm(load: Load) -> float:
        async with inside.look(faulty.house) as within:
            pid = await within.db.fetchval(
                "select pid from pg_stat_activity where usename = 'approvals' and backend_type = 'client backend'"
                " and application_name <> 'load' order by state = 'active' desc limit 1"
            )
            os.kill(pid, signal.SIGKILL)
            at = time.monotonic()
        return max(await load.resumed(at), await faulty.ready(at))

    verdict, load = await suffers(harm)
    tell(f"{verdict.line('F3 one backend killed')}; {load.unknown} answers unknown at first")
    assert verdict.heal < HEALED_SECONDS
