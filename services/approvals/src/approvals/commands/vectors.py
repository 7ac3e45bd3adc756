"""Whether what would become live can be found by meaning already; retrieval knows."""

from nats.aio.client import Client

from chassis import rpc
from contracts.errors import Unavailable
from contracts.ids import ContentId
from contracts.retrieval_messages import VECTORS, AskVectors, Vectors

LOOK = 5.0
"""Seconds that one question may take."""
LEAST, MOST = 10.0, 30.0
"""Seconds that a promotion waits for one page, and for any number of them (architecture: retrieval's index)."""
PAGES_A_SECOND = 20


async def missing(nc: Client, bodies: tuple[ContentId, ...], wait: float = 0.0) -> int | None:
    """How many bodies have no vectors yet, after at most `wait` seconds; None where nobody can tell."""
    try:
        asked = AskVectors(bodies=bodies, wait=wait)
        return (await rpc.ask(nc, VECTORS, asked, Vectors, seconds=wait + 2)).missing
    except Unavailable:
        return None


async def awaited(nc: Client, bodies: tuple[ContentId, ...]) -> bool:
    """Wait until every body has its vectors; False where they will land words-only. More bodies, more patience."""
    left = min(MOST, LEAST + len(bodies) / PAGES_A_SECOND)
    while left > 0:
        found = await missing(nc, bodies, min(left, LOOK))
        if found is None:
            return False
        if found == 0:
            return True
        left -= LOOK
    return False
