"""Sight: for whom a read is, what that caller may see, and from which position it is answered."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from nats.aio.client import Client

from access import lookup
from access.rule import Caller
from chassis import sql
from chassis.postgres import Pool, Pooled, transaction
from contracts.errors import Unavailable
from contracts.ids import BrainId, PrincipalId
from contracts.retrieval_messages import FindContested, FindPage, ReadPage, Search
from corpus import references
from corpus.statements import withhold
from eventlog.fence import fence
from eventlog.wait import Watch

STATEMENTS = sql.load("retrieval.reads", "sight.sql")
ACCESS = "retrieval-access-v1"
PAGES = "retrieval-pages-v1"
PATIENCE = 2.0
"""Seconds that a read waits for the index to come up to the fence, or to a position that was asked for."""

NOTHING_GRANTED = "nothing_granted"
INDEX_BEHIND = "index_behind"
NO_MATCH = "no_match"


@dataclass(frozen=True, slots=True)
class Sight:
    """One caller in one transaction. `rule` is what every function of the index takes last: subjects, tier, domains.

    `behind`: the caller's own last write is not yet in what is read.
    """

    db: Pooled
    brain: BrainId
    rule: tuple[list[PrincipalId], str, list[str] | None]
    behind: bool = False

    async def position(self) -> int:
        """The position that this transaction's reads stand on."""
        found: int = await self.db.fetchval(STATEMENTS.standing, self.brain, [ACCESS, PAGES])
        return found

    async def emptiness(self) -> str:
        """Why there is nothing: no grant at all, an index that is behind, or no match (also where all is hidden)."""
        granted: bool = await self.db.fetchval(STATEMENTS.has_grant, self.brain, self.rule[0])
        if granted and self.behind:
            return INDEX_BEHIND
        return NO_MATCH if granted else NOTHING_GRANTED

    async def withheld(self, named: Iterable[references.Reference]) -> dict[str, str]:
        """Of these captures, those that the caller may not open: reference to source type."""
        sources = {reference.text: reference.source for reference in named}
        if not sources:
            return {}
        rows = await self.db.fetch(STATEMENTS.open_references, list(sources), self.rule[0])
        opened = {row["reference"] for row in rows}
        return {text: source for text, source in sources.items() if text not in opened}

    async def without_withheld(self, texts: list[str]) -> list[str]:
        """These texts as the caller may see them: captures that he may not open are named by their source type only."""
        named = [found for text in texts for *_, found in references.find(text)]
        labels = await self.withheld(named)
        return [withhold(text, labels) for text in texts] if labels else texts


class Sights:
    """Opens sights. Every one demands the fence, read from the log's leader, of both projections it depends on."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._rights = Watch(nc, pool, brain, ACCESS)
        self._watches = (self._rights, Watch(nc, pool, brain, PAGES))

    @asynccontextmanager
    async def of(self, asked: Search | FindPage | ReadPage | FindContested) -> AsyncIterator[Sight]:
        """The sight of who asks, at or after the position asked for.

        Raises `Unavailable` where the index does not get there in time, or does not yet know the asker's rights. The
        asker's own last write is waited for as well; without it the sight is `behind`. Someone who is not active, or
        whose token is dead, has a sight that nothing is granted to.
        """
        asker = asked.asker
        await self.demand(asked.position)
        if not await self._rights.reached(asked.rights, PATIENCE):
            raise Unavailable("the index does not yet know what you may see")
        behind = asked.own > asked.position and not await self._reached(asked.own, PATIENCE)
        async with transaction(self._pool, self._brain, readonly=True) as db:
            caller = await lookup.caller_for(db, self._brain, asker.principal, asker.token)
            if caller is None:
                yield Sight(db, self._brain, ([], "", None), behind)
                return
            domains = _domains(caller, asked)
            yield Sight(db, self._brain, (sorted(caller.subjects), caller.tier.value, domains), behind)

    async def demand(self, position: int) -> None:
        """Wait, two seconds at most, until the index has reached the fence and `position`."""
        deadline = time.monotonic() + PATIENCE
        demanded = max(await fence(self._nc, self._brain), position)
        if not await self._reached(demanded, max(0.0, deadline - time.monotonic())):
            raise Unavailable("the index has not yet read what this answer must take into account")

    async def _reached(self, position: int, seconds: float) -> bool:
        """Whether both projections reach `position` in so many seconds."""
        return all(await asyncio.gather(*(watch.reached(position, seconds) for watch in self._watches)))


def _domains(caller: Caller, asked: Search | FindPage | ReadPage | FindContested) -> list[str] | None:
    """Those that the token admits, and of these the ones that are asked for; None: any."""
    wanted = frozenset(asked.domains) if isinstance(asked, Search | FindContested) and asked.domains else None
    if wanted is None or caller.domains is None:
        either = wanted if caller.domains is None else caller.domains
        return None if either is None else sorted(either)
    return sorted(wanted & caller.domains)
