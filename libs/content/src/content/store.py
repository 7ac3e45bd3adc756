"""Put, get and erase: the only way into and out of the table of bodies."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import asyncpg
import msgspec
from asyncpg.pool import PoolConnectionProxy

from chassis import sql
from content import refusal, sealing
from content.bodies import Finding, Put
from content.errors import ContentClash, ContentMissing, ContentRefused, ContentTampered
from content.keyring import KeyRing, WrongKey
from content.sealing import Broken, Opened, Sealed
from contracts.content import ContentRef
from contracts.ids import BrainId, ContentId

STATEMENTS = sql.load("content", "queries.sql")

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
"""A connection inside a transaction whose brain is set."""

_T = TypeVar("_T")
_LARGE = 32 * 1024  # bytes; beyond this, scanning and ciphers would hold up the event loop by milliseconds


def scan(body: bytes) -> list[Finding]:
    """What the write path would refuse in `body`, in order."""
    matches = refusal.find(body)
    places = refusal.places(body, [match.start for match in matches])
    return [
        Finding(0, match.category, line, column, match.rule)
        for match, (line, column) in zip(matches, places, strict=True)
    ]


class ContentStore:
    """The bodies of a brain under its key ring. Every call runs in the caller's transaction."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring

    async def put(self, db: Connection, brain: BrainId, puts: Sequence[Put]) -> list[ContentRef]:
        """Store bodies and tell what facts call them, in order. What is stored already is left as it is.

        Raises `ContentRefused` when any of them holds what may not be stored: then nothing was written. Raises
        `ContentClash` when an id is taken by other bytes, `ContentMissing` when one was erased in this moment: then
        the transaction is to be rolled back. Needs read committed, so that a concurrent retry is seen.
        """
        distinct: dict[ContentId, bytes] = {}
        for put in puts:
            if distinct.setdefault(put.id, put.body) != put.body:
                raise ContentClash(put.id)
        size = sum(len(body) for body in distinct.values())
        await _apart(size, lambda: _refuse(puts))
        sealed = await _apart(
            size,
            lambda: {key: sealing.seal(self._ring, brain, key, body) for key, body in distinct.items()},
        )
        rows = await db.fetch(
            STATEMENTS.insert_bodies,
            brain,
            self._ring.version,
            list(distinct),
            [row.ciphertext for row, _ in sealed.values()],
            [row.nonce for row, _ in sealed.values()],
            [row.wrapped_key for row, _ in sealed.values()],
            [len(body) for body in distinct.values()],
        )
        refs = {key: ref for key, (_, ref) in sealed.items()}
        known = distinct.keys() - {ContentId(row["id"]) for row in rows}
        if known:
            refs |= await self._recognised(db, brain, {key: distinct[key] for key in known})
        return [refs[put.id] for put in puts]

    async def get(self, db: Connection, brain: BrainId, refs: Sequence[ContentRef]) -> dict[ContentId, bytes]:
        """The bytes behind `refs`, each checked against its commitment.

        Raises `ContentMissing` with every id that is not there, `ContentTampered` for one that is not what was
        committed to, and `keyring.UnknownKey` where its wrapping key is gone.
        """
        opened = await self._open(db, brain, [ref.id for ref in refs])
        missing = [ref.id for ref in refs if ref.id not in opened]
        if missing:
            raise ContentMissing(missing)
        for ref in refs:
            if sealing.commitment(*opened[ref.id]) != ref.commitment:
                raise ContentTampered(ref.id)
        return {key: body for key, (_, body) in opened.items()}

    async def erase(self, db: Connection, brain: BrainId, ids: Sequence[ContentId]) -> list[ContentId]:
        """Delete bodies with their salts; tells which were there. Their bytes leave the disk with the next vacuum."""
        rows = await db.fetch(STATEMENTS.delete_bodies, brain, list(ids))
        return [ContentId(row["id"]) for row in rows]

    async def rewrap(self, db: Connection, brain: BrainId, most: int) -> int:
        """Wrap the keys of up to `most` bodies of older versions under the current one; tells how many it found.

        Bodies are not touched. Once it tells 0, `KeyRing.retired` may destroy the older versions.
        """
        rows = await db.fetch(STATEMENTS.read_older_keys, brain, self._ring.version, most)
        wrapped = []
        for row in rows:
            place = sealing.bound_to(brain, ContentId(row["id"]))
            try:
                key = self._ring.unwrap(row["wrapped_key"], row["key_version"], place)
            except WrongKey:
                raise ContentTampered(row["id"]) from None
            wrapped.append(self._ring.wrap(key, place))
        await db.execute(STATEMENTS.rewrap_bodies, brain, self._ring.version, [row["id"] for row in rows], wrapped)
        return len(rows)

    async def _recognised(
        self, db: Connection, brain: BrainId, bodies: dict[ContentId, bytes]
    ) -> dict[ContentId, ContentRef]:
        opened = await self._open(db, brain, list(bodies))
        refs = {}
        for key, body in bodies.items():
            if key not in opened:
                raise ContentMissing([key])
            if opened[key].body != body:
                raise ContentClash(key)
            refs[key] = ContentRef(key, sealing.commitment(*opened[key]))
        return refs

    async def _open(self, db: Connection, brain: BrainId, ids: list[ContentId]) -> dict[ContentId, Opened]:
        rows = await db.fetch(STATEMENTS.read_bodies, brain, ids)
        stored = {
            ContentId(row["id"]): Sealed(row["ciphertext"], row["nonce"], row["key_version"], row["wrapped_key"])
            for row in rows
        }
        return await _apart(
            sum(len(sealed.ciphertext) for sealed in stored.values()),
            lambda: {key: _open_one(self._ring, brain, key, sealed) for key, sealed in stored.items()},
        )


def _refuse(puts: Sequence[Put]) -> None:
    findings = [
        msgspec.structs.replace(finding, index=index) for index, put in enumerate(puts) for finding in scan(put.body)
    ]
    if findings:
        raise ContentRefused(findings, [put.slot for put in puts])


def _open_one(ring: KeyRing, brain: BrainId, body_id: ContentId, sealed: Sealed) -> Opened:
    try:
        return sealing.unseal(ring, brain, body_id, sealed)
    except Broken:
        raise ContentTampered(body_id) from None


async def _apart(size: int, work: Callable[[], _T]) -> _T:
    """Run `work` here, or in a thread where it is large."""
    return await asyncio.to_thread(work) if size > _LARGE else work()
