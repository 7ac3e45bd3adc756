"""A turn waits for those who are likely to come, and for nobody else."""

import asyncio

from approvals.commands.company import Company

NEVER = 3600.0


async def gathers_at_once(company: Company, waiting: int) -> bool:
    """Whether so many begin their turn without letting anybody else in between."""
    gathering = asyncio.ensure_future(company.gathered(waiting))
    await asyncio.sleep(0)
    done = gathering.done()
    gathering.cancel()
    return done


async def test_one_alone_never_waits() -> None:
    company = Company(NEVER)
    assert await gathers_at_once(company, 1)
    company.went(1)
    assert await gathers_at_once(company, 1)


async def test_after_a_turn_of_three_the_first_waits_for_two_more() -> None:
    company = Company(NEVER)
    company.went(3)
    gathering = asyncio.ensure_future(company.gathered(1))
    await asyncio.sleep(0)
    company.came(2)
    await asyncio.sleep(0)
    assert not gathering.done()
    company.came(3)
    await asyncio.wait_for(gathering, 15)


async def test_as_many_as_before_begin_at_once() -> None:
    company = Company(NEVER)
    company.went(3)
    assert await gathers_at_once(company, 3)


async def test_who_waits_in_vain_begins_alone_and_the_next_one_does_not_wait() -> None:
    company = Company(0.01)
    company.went(3)
    await asyncio.wait_for(company.gathered(1), 15)
    company.went(1)
    assert await gathers_at_once(company, 1)
