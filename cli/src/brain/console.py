"""What an operator at the console asks over the bus, with the keys of the home: to begin a brain, to sign people in."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar
from uuid import uuid4

import msgspec
from nats.aio.client import Client

from brain import signins
from brain.stack import programs
from brain.stack.home import Home, Ports, first_port, runs
from chassis import asking, log, nats
from contracts.errors import Unavailable
from contracts.gateway_messages import OPEN_BRAIN, SIGN_IN, Issued, MemberAdded, OpenBrain, SignIn
from contracts.ids import CommandId, derived

T = TypeVar("T")

_CONNECT_SECONDS = 5.0


def ask(home: Home, subject: str, request: msgspec.Struct, shape: type[T], *, seconds: float = 30.0) -> T:
    """Ask a service of the brain that runs in `home`. Raises `Refused` or `Unavailable`."""
    return asyncio.run(_ask(home, subject, request, shape, seconds))


async def _ask(home: Home, subject: str, request: msgspec.Struct, shape: type[T], seconds: float) -> T:
    async with bus(home) as client:
        return await asking.ask(client, subject, request, shape, seconds=seconds)


@asynccontextmanager
async def bus(home: Home) -> AsyncIterator[Client]:
    """The bus of the brain that runs in `home`. Raises `Unavailable` when none does, or its bus does not answer."""
    if not runs(home):
        raise Unavailable("the brain is not running")
    log.configure("console", "error")  # stdout is for results, and a person wants no log lines
    url = programs.bus(home, Ports(first_port(os.environ, home))).url
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):  # a service would try for ever
            client = await nats.connect(url, "console")
    except TimeoutError as error:
        raise Unavailable("the bus does not answer") from error
    try:
        yield client
    finally:
        await client.close()


def reach(home: Home) -> None:
    """Return when the bus answers. Raises `Unavailable` like `bus`."""
    asyncio.run(_reach(home))


async def _reach(home: Home) -> None:
    async with bus(home):
        pass


def open_brain(home: Home, owner: str) -> MemberAdded:
    """Begin the brain with its first owner; asked again it changes nothing."""
    command = CommandId(derived(home.papers().brain, "open", owner))
    return ask(home, OPEN_BRAIN, OpenBrain(command=command, owner=owner), MemberAdded)


def begin(home: Home, owner: str) -> None:
    """Open a new brain for `owner`, who is signed in on this machine then; a brain that has an owner stays as it is."""
    if (home.root / "opened").exists():
        return
    open_brain(home, owner)
    signins.keep(home, owner, sign_in(home, owner).secret)
    (home.root / "opened").touch(mode=0o600)


def sign_in(home: Home, name: str, *, link: bool = False) -> Issued:
    """A new sign-in of a member: a token to store here, or the code of a one-time link for a browser."""
    return ask(home, SIGN_IN, SignIn(command=CommandId(uuid4()), name=name, link=link), Issued)
