"""What stands inside a brain that runs: its streams, tables and bodies, read with the keys of its own home."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import asyncpg
from nats.aio.client import Client

from brain.stack import programs
from chassis import nats, postgres, rpc
from content import sealing
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import approvals_messages as approvals
from contracts.content import ContentRef
from contracts.ids import BrainId, ContentId, PrincipalId, ProposalId
from contracts.retrieval_messages import VECTORS, AskVectors, Vectors
from contracts.topology import STREAMS
from eventlog import leader
from eventlog.follower import Connection
from houses import House

QUIET_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Inside:
    """A connection to the bus, and the database as its superuser sees it: every row of every brain."""

    house: House
    nc: Client
    db: Connection

    @property
    def brain(self) -> BrainId:
        return BrainId(self.house.home.papers().brain)

    async def position(self, stream: str = "EVT") -> int:
        """The last position of a stream, as its leader has it."""
        return (await leader.extent(self.nc, stream)).last

    async def messages(self, stream: str, after: int = 0) -> list[leader.Stored]:
        """Every stored message of a stream behind a position, in order."""
        found = []
        for position in range(after + 1, await self.position(stream) + 1):
            stored = await leader.at(self.nc, stream, position)
            if stored is not None:
                found.append(stored)
        return found

    async def settled(self, seconds: float = QUIET_SECONDS) -> dict[str, int]:
        """Wait until archive and every projection hold what their stream held at the call; those positions."""
        wanted = {stream.name: await self.position(stream.name) for stream in STREAMS}
        async with asyncio.timeout(seconds):
            for projection, stream in PROJECTIONS.items():
                while await self._checkpoint(projection) < wanted[stream]:  # noqa: ASYNC110 - another process moves it
                    await asyncio.sleep(0.1)
        return wanted

    async def _checkpoint(self, projection: str) -> int:
        schema = "archive" if projection.startswith("archive") else projection.partition("-")[0]
        found = await self.db.fetchval(
            f"select position from {schema}.checkpoints where brain = $1 and projection = $2",
            self.brain,
            projection,
        )
        return int(found or 0)

    async def rows(self, query: str, *values: object) -> list[asyncpg.Record]:
        """Rows of a query whose first parameter is the brain."""
        found: list[asyncpg.Record] = await self.db.fetch(query, self.brain, *values)
        return found

    async def body(self, ref: ContentRef) -> bytes:
        """The stored bytes behind a reference, checked against its commitment."""
        async with self.store("approvals") as (pool, store), postgres.transaction(pool, self.brain) as db:
            return (await store.get(db, self.brain, [ref]))[ref.id]

    async def bodies(self) -> list[bytes]:
        """Every body of the brain, decrypted."""
        ring = KeyRing.load(self.house.home.keyring)
        rows = await self.rows(
            "select id, ciphertext, nonce, key_version, wrapped_key from content.bodies where brain = $1"
        )
        return [
            sealing.unseal(
                ring,
                self.brain,
                ContentId(row["id"]),
                sealing.Sealed(row["ciphertext"], row["nonce"], row["key_version"], row["wrapped_key"]),
            ).body
            for row in rows
        ]

    @asynccontextmanager
    async def store(self, role: str) -> AsyncIterator[tuple[postgres.Pool, ContentStore]]:
        """The content store as one service's role reaches it."""
        dsn = programs.dsn(self.house.home, self.house.ports, role)
        pool = await postgres.connect(dsn, "content", service="test", largest=4)
        try:
            yield pool, ContentStore(KeyRing.load(self.house.home.keyring))
        finally:
            await pool.close()

    async def pages_of(self, proposal: str, by: str) -> tuple[approvals.ProposedPage, ...]:
        """The pages of a proposal, as somebody who may see it is told."""
        asked = approvals.AskProposal(by=await self.member(by), proposal=ProposalId(UUID(proposal)))
        return (await rpc.ask(self.nc, approvals.PROPOSAL, asked, approvals.ProposalView, seconds=20)).pages

    async def embedded(self, seconds: float = QUIET_SECONDS) -> None:
        """Wait until every page that was ever proposed can be found by meaning."""
        rows = await self.rows("select distinct body_id from approvals.drafts where brain = $1")
        asked = AskVectors(bodies=tuple(ContentId(row["body_id"]) for row in rows), wait=5.0)
        async with asyncio.timeout(seconds):
            while (await rpc.ask(self.nc, VECTORS, asked, Vectors, seconds=10)).missing:
                continue

    async def member(self, name: str) -> PrincipalId:
        """The id of an active member."""
        (row,) = await self.rows("select id from gateway.members where brain = $1 and name = $2 and active", name)
        return PrincipalId(row["id"])


PROJECTIONS = {
    "archive-EVT-v1": "EVT",
    "archive-CAP-v1": "CAP",
    "gateway-access-v1": "EVT",
    "approvals-access-v1": "EVT",
    "approvals-ledger-v1": "EVT",
    "ingest-captures-v1": "CAP",
    "ingest-access-v1": "EVT",
    "retrieval-access-v1": "EVT",
    "retrieval-pages-v1": "EVT",
    "retrieval-captures-v1": "CAP",
    "retrieval-vectors-v1": "CHK",
    "drift-freshness-v1": "EVT",
}
"""The projections of a brain, as its durables are called, and the stream that each reads."""


@asynccontextmanager
async def look(house: House) -> AsyncIterator[Inside]:
    """Look into a brain that runs."""
    client = await nats.connect(programs.bus(house.home, house.ports).url, "test")
    try:
        cluster = programs.cluster(house.home, house.ports)
        db = await asyncpg.connect(cluster.superuser(programs.DATABASE).reveal())
        try:
            yield Inside(house, client, db)
        finally:
            await db.close()
    finally:
        await client.close()
