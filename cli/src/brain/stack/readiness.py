"""Whether the services of a brain are ready, as they say themselves."""

import asyncio
import urllib.error
import urllib.request

import msgspec

from brain.stack.home import Ports
from brain.stack.members import SERVICES
from brain.stack.postgres import LOOPBACK


class State(msgspec.Struct, frozen=True):
    """What `/readyz` answers: `reasons` names each part that is not ready, and why."""

    ready: bool
    reasons: dict[str, str]


async def services(ports: Ports) -> dict[str, State]:
    """Ask all six at once."""
    states = await asyncio.gather(*(asyncio.to_thread(_ask, ports.health(name)) for name in SERVICES))
    return dict(zip(SERVICES, states, strict=True))


def _ask(port: int) -> State:
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/readyz", timeout=5) as reply:
            body: bytes = reply.read()
    except urllib.error.HTTPError as error:
        body = error.read()
    except OSError:
        return State(ready=False, reasons={"process": "does not answer"})
    try:
        return msgspec.json.decode(body, type=State)
    except msgspec.MsgspecError:
        return State(ready=False, reasons={"process": "answers with something else"})
