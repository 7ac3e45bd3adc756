"""The second copy: every ledger stream, in order, hash-chained, in Postgres.

A command is acknowledged once its facts are here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client

from contracts.ids import BrainId
from eventlog.follower import Connection, Follower, Pool
from eventlog.leader import Stored
from eventlog.wait import Watch

GENESIS = bytes(32)
"""What the first row of a chain is chained to."""


def archive_name(stream: str) -> str:
    """The durable and checkpoint of a stream's archive."""
    return f"archive-{stream}-v1"


def chain(previous: bytes, stream: str, stored: Stored) -> bytes:
    """SHA-256 over the hash before and everything that was stored: stream, position, subject, headers and bytes."""
    digest = hashlib.sha256(previous)
    headers = msgspec.json.encode(sorted(stored.headers.items()))
    for part in (stream.encode(), str(stored.position).encode(), stored.subject.encode(), headers, stored.body):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


class Archiver(Follower):
    """Copies one brain's messages of one ledger stream, as the archive role. See `Follower` for `run`, `trouble`."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId, stream: str) -> None:
        super().__init__(nc, pool, brain, archive_name(stream), stream, self._copy)

    async def _copy(self, db: Connection, messages: Sequence[Stored]) -> None:
        epoch = self._checkpoint.epoch
        head = await db.fetchval(
            "select hash from facts where brain = $1 and stream = $2 and epoch = $3 order by position desc limit 1",
            self._brain,
            self.stream,
            epoch,
        )
        previous, rows = GENESIS if head is None else bytes(head), []
        for stored in messages:
            if stored.subject.split(".", 2)[1] != str(self._brain):
                continue
            hashed = chain(previous, self.stream, stored)
            rows.append(
                (
                    self._brain,
                    self.stream,
                    epoch,
                    stored.position,
                    stored.id,
                    stored.subject,
                    msgspec.json.encode(stored.headers).decode(),
                    stored.body,
                    stored.time,
                    previous,
                    hashed,
                )
            )
            previous = hashed
        await db.executemany(
            "insert into facts (brain, stream, epoch, position, fact_id, subject, headers, body, stored_at,"
            " previous_hash, hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            rows,
        )


class Archived:
    """Tells when the archive has a position. The pool's role may select `archive.checkpoints`."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId) -> None:
        self._watches = {
            stream: Watch(nc, pool, brain, archive_name(stream), table="archive.checkpoints")
            for stream in ("EVT", "CAP")
        }

    async def wait(self, stream: str, position: int, timeout: float = 2.0) -> bool:
        """Whether `position` is archived within `timeout` seconds (two fsynced copies on two stores)."""
        return await self._watches[stream].reached(position, timeout)


@dataclass(frozen=True, slots=True)
class Broken:
    """Where the archive's chain does not hold, or the stream and the archive differ."""

    stream: str
    position: int
    what: str


async def rows_of(db: Connection, brain: BrainId, stream: str, after: int, limit: int) -> list[tuple[Stored, bytes]]:
    """Archived messages behind a position, with their hashes, in order."""
    rows = await db.fetch(
        "select position, subject, headers, body, stored_at, hash from archive.facts"
        " where brain = $1 and stream = $2 and position > $3 order by position limit $4",
        brain,
        stream,
        after,
        limit,
    )
    return [
        (
            Stored(
                row["subject"],
                row["position"],
                row["stored_at"],
                msgspec.json.decode(row["headers"], type=dict[str, str]),
                bytes(row["body"]),
            ),
            bytes(row["hash"]),
        )
        for row in rows
    ]
