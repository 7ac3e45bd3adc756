"""Where the clients run: what they cannot do there."""

import pytest

from clients.programs import Desk

pytestmark = pytest.mark.system

_REACH_OUT = (
    "fetch('http://brain.example/').then(() => console.log('reached'), (error) => console.log(error.cause.code))"
)


async def test_a_client_reaches_this_computer_alone(desk: Desk) -> None:
    ended = await desk.run("-e", _REACH_OUT)
    assert (ended.code, ended.told) == (0, "ECONNREFUSED\n")


async def test_a_client_knows_nothing_of_who_runs_the_tests(desk: Desk) -> None:
    ended = await desk.run("-p", "require('os').homedir()")
    assert ended.told.strip() == str(desk.folder / "home")
