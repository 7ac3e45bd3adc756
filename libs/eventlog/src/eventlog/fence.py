"""The fence: the position of the last fact that narrowed what anyone may see. Always read from the leader."""

from nats.aio.client import Client

from contracts import subjects
from contracts.enums import Gate
from contracts.ids import BrainId
from eventlog import leader


async def gate(nc: Client, brain: BrainId, which: Gate) -> int:
    """The last position of a gate, 0 where it never moved. Raises `Unavailable`: no answer means refuse."""
    found = await leader.last(nc, "EVT", subjects.gate(brain, which))
    return 0 if found is None else found.position


async def fence(nc: Client, brain: BrainId) -> int:
    """The position that reads, decisions and token look-ups demand of their projections. Raises `Unavailable`."""
    return await gate(nc, brain, Gate.FENCE)
