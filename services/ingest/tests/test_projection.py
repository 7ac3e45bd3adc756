"""What ingest remembers: the same rows however often, and in whatever pieces, its facts are played."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest

from chassis import postgres
from chassis.postgres import Pool
from chassis.settings import Secret
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import codec, subjects
from contracts.captures import Acl, CaptureAclChanged, CaptureRecorded, CaptureRefused, CaptureWithdrawn
from contracts.catalogue import wire_type
from contracts.content import ContentRef
from contracts.enums import AuthorKind, Refusal, Region
from contracts.envelope import Recorded
from contracts.ids import BrainId, CaptureId, ContentId, FactId, PrincipalId
from eventlog.projector import Projection
from ingest import projection
from ingest.bodies import descriptor
from ingest.projection import Descriptor
from servers import Database

pytestmark = pytest.mark.service

ALICE = PrincipalId(UUID(int=3))
NOW = datetime(2026, 9, 2, tzinfo=UTC)
Facts = list[Recorded[msgspec.Struct]]


class Play:
    """Facts of one brain, and the rows that playing them leaves."""

    def __init__(self, pool: Pool, store: ContentStore) -> None:
        self.pool = pool
        self.store = store
        self.brain = BrainId(uuid4())
        self.models = (projection.captures(store), projection.access(store))

    async def record(
        self, position: int, number: int, name: str, supersedes: int | None = None
    ) -> Recorded[msgspec.Struct]:
        capture = CaptureId(UUID(int=number))
        named = descriptor(capture, Descriptor("notes", name, f"capture:notes/{name}"))
        async with postgres.transaction(self.pool, self.brain) as db:
            (ref,) = await self.store.put(db, self.brain, [named])
        fact = CaptureRecorded(
            capture=capture,
            body=ContentRef(ContentId(uuid4()), "0" * 64),
            descriptor=ref,
            acl=Acl(everyone=True),
            author=AuthorKind.PERSON,
            occurred_at=NOW,
            region=Region.LOCAL,
            supersedes=None if supersedes is None else CaptureId(UUID(int=supersedes)),
        )
        return self.fact(position, subjects.capture_recording(self.brain, capture), fact)

    def fact(self, position: int, subject: str, fact: msgspec.Struct) -> Recorded[msgspec.Struct]:
        envelope = codec.seal(
            fact, id=FactId(uuid4()), brain=self.brain, actor=ALICE, occurred_at=NOW, correlation=uuid4()
        )
        return Recorded(position, subject, envelope, fact)

    def sight(self, position: int, fact: CaptureWithdrawn | CaptureAclChanged) -> Recorded[msgspec.Struct]:
        return self.fact(position, subjects.capture_sight(self.brain, fact.capture), fact)

    async def apply(self, facts: Sequence[Recorded[msgspec.Struct]]) -> None:
        for model in self.models:
            heard = [one for one in facts if _hears(model, one)]
            if heard:
                async with postgres.transaction(self.pool, self.brain) as db:
                    await model.apply(db, heard)

    async def rows(self) -> list[list[tuple[object, ...]]]:
        async with postgres.transaction(self.pool, self.brain) as db:
            return [
                [tuple(row) for row in await db.fetch(f"select * from {table} order by 1, 2, 3")]
                for table in ("captures", "refusals", "sights", "histories")
            ]

    async def forget(self) -> None:
        async with postgres.transaction(self.pool, self.brain) as db:
            for table in ("captures", "refusals", "sights", "histories"):
                await db.execute(f"delete from {table}")


def _hears(model: Projection, one: Recorded[msgspec.Struct]) -> bool:
    return one.subject[:3] == model.stream.lower() and wire_type(type(one.fact)) in model.hears


@pytest.fixture
async def play(database: Database, tmp_path: Path) -> AsyncIterator[Play]:
    migrator = await postgres.connect(Secret(database.dsn("migrator")), "ingest", service="test")
    await migrator.execute("grant delete on captures, refusals, sights, histories to ingest")
    await migrator.close()
    pool = await postgres.connect(Secret(database.dsn("ingest")), "ingest", service="test")
    yield Play(pool, ContentStore(KeyRing.create(tmp_path / "ring.json")))
    await pool.close()


async def story(play: Play) -> Facts:
    """Two files; one is edited, changes whom it admits and is withdrawn; a third was refused."""
    edited = CaptureId(UUID(int=13))
    refused = CaptureId(UUID(int=14))
    return [
        await play.record(1, 11, "a.md"),
        await play.record(2, 12, "b.md"),
        await play.record(3, 13, "a.md", supersedes=11),
        play.fact(
            4,
            subjects.capture_recording(play.brain, refused),
            CaptureRefused(capture=refused, category=Refusal.CREDENTIAL),
        ),
        play.sight(1, CaptureAclChanged(capture=edited, acl=Acl(principals=(ALICE,)))),
        play.sight(2, CaptureWithdrawn(capture=edited)),
    ]


async def test_the_latest_version_counts_and_what_was_refused_is_remembered(play: Play) -> None:
    await play.apply(await story(play))
    captures, refusals, sights, histories = await play.rows()
    assert [(row[2], row[3], row[4]) for row in captures] == [
        ("a.md", UUID(int=13), UUID(int=11)),
        ("b.md", UUID(int=12), None),
    ]
    assert [(row[1], row[2]) for row in refusals] == [(UUID(int=14), "credential")]
    assert [(row[1], row[2], row[3], row[4]) for row in sights] == [(UUID(int=13), True, False, [ALICE])]
    assert [row[2] for row in histories] == [2]


async def test_playing_twice_or_in_pieces_or_from_nothing_leaves_the_same_rows(play: Play) -> None:
    facts = await story(play)
    await play.apply(facts)
    rows = await play.rows()
    await play.apply(facts)
    assert await play.rows() == rows
    for cut in range(1, len(facts)):
        await play.forget()
        await play.apply(facts[:cut])
        await play.apply(facts)  # what a crash before the checkpoint leads to
        assert await play.rows() == rows
    await play.forget()
    for one in facts:
        await play.apply([one])
    assert await play.rows() == rows


async def test_older_news_never_overwrites_newer(play: Play) -> None:
    facts = await story(play)
    await play.apply(facts)
    rows = await play.rows()
    await play.apply([facts[0]])
    await play.apply([facts[4]])
    assert await play.rows() == rows
