"""Seals every minute of the audit, one replica at a time, and checks what is sealed."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from chassis import log, sql
from chassis.postgres import GONE, Pool, Pooled, transaction
from contracts.gateway_audit import AuditProblem, Verified
from contracts.ids import BrainId
from gateway.audit.chain import START, Minute, Seal, problem, signed

SEALS = sql.load("gateway.audit", "seals.sql")
MOST_CHECKED = 50_000
"""Rows that are checked in one go, to the end of their minute."""
MOST_SEALS = 5_000
_PART = 1_000
_MINUTE = 60
_LOG = log.get(part="audit")


class Seals:
    """The chain of one brain. `clock` gives None where the database's clock counts, the one that replicas share."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        keys: tuple[Ed25519PrivateKey, Ed25519PublicKey],
        clock: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._key, self._public = keys
        self._clock = clock

    async def follow(self, now: Callable[[], datetime]) -> None:
        """Seal at the start and with every minute."""
        while True:
            try:
                await self.seal()
            except GONE as error:
                _LOG.warning("audit_not_sealed", error=type(error).__qualname__)
            await asyncio.sleep(_MINUTE - now().timestamp() % _MINUTE)

    async def seal(self) -> int:
        """Seal every minute that is over; how many, which is none while another replica is at it."""
        sealed = 0
        while await self._seal_next():
            sealed += 1
        return sealed

    async def _seal_next(self) -> bool:
        async with transaction(self._pool, self._brain) as db:
            if not await db.fetchval(SEALS.try_alone, self._brain):
                return False
            await db.execute(SEALS.still, self._brain)
            before = await db.fetchrow(SEALS.last_seal, self._brain)
            last, previous = (None, START) if before is None else (before["minute"], before["hash"])
            minute = await db.fetchval(SEALS.next_minute, self._brain, last, self._clock())
            if minute is None:
                return False
            found = await self._read(db, minute)
            hashed = found.hash(previous)
            bounds = (found.first, found.last, found.counted, previous)
            signature = self._key.sign(signed(hashed))
            await db.execute(SEALS.add_seal, self._brain, minute, *bounds, hashed, signature)
        _LOG.info("audit_sealed", minute=minute.isoformat(), rows=found.counted, hash=hashed.hex())
        return True

    async def verify(self, after: datetime | None = None) -> Verified:
        """Check the chain after the minute `after`, some of it at a time."""
        problems: list[AuditProblem] = []
        seals = rows = 0
        following = None
        async with transaction(self._pool, self._brain, readonly=True) as db:
            previous = await self._hash_before(db, after)
            last = after
            stretch = await db.fetch(SEALS.seals_after, self._brain, after, MOST_SEALS + 1)
            for stored in stretch:
                if rows >= MOST_CHECKED or seals == MOST_SEALS:
                    following = last
                    break
                seal = Seal(**stored)
                found = await self._read(db, seal.minute)
                wrong = problem(seal, found, previous, genuine=self._genuine(seal))
                if wrong is not None:
                    problems.append(AuditProblem(minute=seal.minute, what=wrong))
                seals, rows, previous, last = seals + 1, rows + found.counted, seal.hash, seal.minute
            if last is not None:
                added = await db.fetch(SEALS.unsealed_between, self._brain, after, last)
                problems += [AuditProblem(minute=each["minute"], what="row_added") for each in added]
            unsealed = 0 if following else await db.fetchval(SEALS.count_unsealed, self._brain, last)
        problems.sort(key=lambda each: each.minute)
        return Verified(
            seals=seals,
            rows=rows,
            unsealed=unsealed,
            head=previous.hex(),
            problems=tuple(problems),
            next=following,
        )

    async def _hash_before(self, db: Pooled, after: datetime | None) -> bytes:
        found: bytes | None = None
        if after is not None:
            found = await db.fetchval(SEALS.seal_before, self._brain, after)
        return found or START

    async def _read(self, db: Pooled, minute: datetime) -> Minute:
        found = Minute(minute)
        async for row in db.cursor(SEALS.rows_of_minute, self._brain, minute, prefetch=_PART):
            found.add(dict(row))
        return found

    def _genuine(self, seal: Seal) -> bool:
        try:
            self._public.verify(seal.signature, signed(seal.hash))
        except InvalidSignature:
            return False
        return True
