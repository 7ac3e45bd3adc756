"""How a decision about access becomes facts: on what was folded, with its gates, acknowledged after the archive."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import msgspec
from nats.aio.client import Client

from access import lookup
from chassis import rpc
from chassis.postgres import Pool, Pooled, transaction
from contracts import subjects
from contracts.enums import Gate
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId, CommandId, PrincipalId, derived
from eventlog import fence
from eventlog.archive import Archived
from eventlog.log import Append, EventLog
from eventlog.transact import transact
from gateway.domain.gates import gated, narrows
from gateway.domain.standing import Said

PATIENCE = 2.0
"""Seconds that a request waits for this service's own projection."""


class Projected(Protocol):
    """The access projection, in this process or another."""

    async def reached(self, position: int, timeout: float) -> bool:
        """Whether it reaches the position within `timeout` seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """What a decision says: facts with their histories, whose change it is, and whether anyone's sight narrows."""

    facts: Sequence[tuple[str, msgspec.Struct]]
    cause: UUID
    narrowing: bool = False


@dataclass(frozen=True, slots=True)
class Landed:
    """Where a decision stands in the log, and whether its second copy is durable."""

    position: int
    archived: bool


class AccessLedger:
    """Appends decisions on the access histories, one gate for all of them, so that they follow each other."""

    def __init__(
        self, nc: Client, pool: Pool, brain: BrainId, log: EventLog, projected: Projected, archived: Archived
    ) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain
        self._log = log
        self._projected = projected
        self._archived = archived
        self._one_at_a_time = asyncio.Lock()

    def change(self, said: Sequence[Said], cause: UUID | None = None, *, narrowing: bool | None = None) -> Change:
        """What was decided about principals, each fact on the history of whose it is.

        `cause`: whose change it is, of the first of them where nobody is named. `narrowing`: whether sight narrows,
        where the facts alone do not tell.
        """
        facts = [(subjects.access(self._brain, whose), fact) for whose, fact in said]
        if narrowing is None:
            narrowing = any(narrows(fact) for _, fact in said)
        return Change(facts, cause or next((whose for whose, _ in said), self._brain), narrowing)

    async def decide(
        self, command: CommandId, actor: PrincipalId, decision: Callable[[Pooled], Awaitable[Change]]
    ) -> Landed:
        """Append what `decision` makes of the rows it reads, and wait until the archive and this service have it.

        Where nothing had to be said, the position is that of the last change of access. Raises what the decision
        raises, once it stands on everything that the log has, and `Unavailable`.
        """
        gate = subjects.gate(self._brain, Gate.ACCESS)
        stood = 0

        async def load() -> Append | None:
            nonlocal stood
            async with transaction(self._pool, self._brain) as db:
                stood = (await lookup.positions(db, [gate]))[gate]  # first: rows read later may only be newer
                change = await decision(db)
                if not change.facts:
                    return None
                facts = gated(self._brain, change.facts, change.cause, narrowing=change.narrowing)
                expected = await lookup.positions(db, {subject for subject, _ in facts})
            return Append(command, actor, self._correlation(), facts, {**expected, gate: stood})

        async def say() -> int:
            return await transact(load, lambda append: append, self._log, catch_up=self._catch_up) or stood

        async with self._one_at_a_time:  # all of them expect the same gate, so they would only conflict
            try:
                position = await say()
            except Refused:
                await self._catch_up(0)
                position = await say()
            await self._projected.reached(position, PATIENCE)
        return Landed(position, await self._archived.wait("EVT", position))

    async def _catch_up(self, last: int) -> None:
        moved = await fence.gate(self._nc, self._brain, Gate.ACCESS)
        if not await self._projected.reached(max(last, moved), PATIENCE):
            raise Unavailable("the access projection is behind")

    def _correlation(self) -> UUID:
        request = rpc.current().request
        try:
            return UUID(request)
        except ValueError:
            return derived(self._brain, "request", request)
