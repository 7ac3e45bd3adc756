import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest

from chassis import postgres
from content.bodies import Put, Slot
from content.errors import ContentClash, ContentMissing, ContentRefused, ContentTampered
from content.keyring import KeyRing, UnknownKey
from content.store import STATEMENTS, ContentStore, scan
from contracts.content import ContentRef
from contracts.enums import Refusal
from contracts.ids import BrainId, ContentId
from servers import Database

Acting = Callable[[str, BrainId], AbstractAsyncContextManager[postgres.Pooled]]

WRITERS = ("gateway", "ingest", "approvals", "drift")
READERS = ("embedder", "retrieval_project", "retrieval_serve", "archive")
CARD = b"4111 1111 1111 1111"


def body(text: bytes, slot: Slot = Slot.PAGE) -> Put:
    return Put(ContentId(uuid4()), text, slot)


@pytest.fixture
async def admin(database: Database) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(database.dsn("postgres"))
    yield connection
    await connection.close()


async def test_what_is_put_is_got_back_by_reference(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    puts = [body(b""), body("Blåbær\n".encode()), body(bytes(range(256)) * 1000)]
    async with acting("ingest", brain) as db:
        refs = await store.put(db, brain, puts)
        assert await store.get(db, brain, refs) == {put.id: put.body for put in puts}
    assert [ref.id for ref in refs] == [put.id for put in puts]


@pytest.mark.parametrize("text", [b"short", b"long " * 50_000])
async def test_two_hundred_and_fifty_bodies_go_in_one_call(
    store: ContentStore, acting: Acting, brain: BrainId, text: bytes
) -> None:
    puts = [body(text[: len(text) // 50] + str(number).encode()) for number in range(250)]
    async with acting("approvals", brain) as db:
        refs = await store.put(db, brain, puts)
        assert len(await store.get(db, brain, refs)) == 250


async def test_a_retry_stores_once_and_names_the_same(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    put = body(b"said twice")
    async with acting("gateway", brain) as db:
        first = await store.put(db, brain, [put, put])
        again = await store.put(db, brain, [put])
        assert first == [*again, *again]
        assert await db.fetchval("select count(*) from bodies") == 1


async def test_an_id_is_never_given_to_other_bytes(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    put = body(b"one thing")
    other = Put(put.id, b"another thing", Slot.PAGE)
    async with acting("gateway", brain) as db:
        await store.put(db, brain, [put])
        with pytest.raises(ContentClash):
            await store.put(db, brain, [other])
        with pytest.raises(ContentClash):
            await store.put(db, brain, [body(b"x"), other, put])


async def test_equal_bodies_have_unlike_commitments_and_ciphertexts(
    store: ContentStore, acting: Acting, brain: BrainId
) -> None:
    async with acting("ingest", brain) as db:
        refs = await store.put(db, brain, [body(b"the same"), body(b"the same")])
        stored = await db.fetch("select ciphertext from bodies")
    assert len({ref.commitment for ref in refs}) == 2
    assert len({row["ciphertext"] for row in stored}) == 2


async def test_one_refused_body_keeps_the_whole_batch_out(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    puts = [body(b"fine"), body("Tittel\nBlå: ".encode() + CARD, Slot.TITLE)]
    async with acting("ingest", brain) as db:
        with pytest.raises(ContentRefused) as refused:
            await store.put(db, brain, puts)
        assert await db.fetchval("select count(*) from bodies") == 0
    [finding] = refused.value.findings
    assert (finding.index, finding.category, finding.line, finding.column) == (1, Refusal.PAYMENT_CARD, 2, 6)
    assert refused.value.code == "payment_card"
    assert refused.value.where == "title, line 2, column 6"


async def test_a_page_is_refused_for_what_its_frontmatter_says_once_it_is_decoded(
    store: ContentStore, acting: Acting, brain: BrainId
) -> None:
    page = b'---\ntype: note\ntitle: "Card \\u0034111 1111 1111 1111"\n---\nText.\n'
    async with acting("ingest", brain) as db:
        with pytest.raises(ContentRefused) as refused:
            await store.put(db, brain, [body(page, Slot.PAGE)])
        assert await db.fetchval("select count(*) from bodies") == 0
    assert refused.value.where == "page, line 3, column 8"


def test_a_refusal_never_shows_what_it_found() -> None:
    secret = b"Sommer2026!fjord"
    refused = ContentRefused(scan(b"passord: " + secret), [Slot.NOTE])
    again = pickle.loads(pickle.dumps(refused))
    for shown in (refused, again):
        told = f"{shown!r} {shown} {shown.what} {shown.where} {shown.remedy} {shown.findings}"
        assert secret.decode() not in told
        assert shown.code == "credential"


async def test_what_is_not_there_is_named_and_never_empty(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    lost = [ContentRef(ContentId(uuid4()), "00" * 32) for _ in range(2)]
    async with acting("drift", brain) as db:
        refs = await store.put(db, brain, [body(b"here")])
        with pytest.raises(ContentMissing) as missing:
            await store.get(db, brain, [*refs, *lost])
    assert missing.value.ids == [ref.id for ref in lost]


async def test_another_commitment_is_tampering(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    async with acting("gateway", brain) as db:
        [ref] = await store.put(db, brain, [body(b"as committed")])
        with pytest.raises(ContentTampered):
            await store.get(db, brain, [ContentRef(ref.id, "00" * 32)])


@pytest.mark.parametrize("column", ["ciphertext", "nonce", "wrapped_key"])
async def test_a_changed_row_does_not_open(
    store: ContentStore, acting: Acting, brain: BrainId, admin: "asyncpg.Connection[asyncpg.Record]", column: str
) -> None:
    async with acting("gateway", brain) as db:
        refs = await store.put(db, brain, [body(b"as it was")])
    await admin.execute(f"update content.bodies set {column} = set_byte({column}, 3, 1 # get_byte({column}, 3))")
    async with acting("gateway", brain) as db:
        with pytest.raises(ContentTampered):
            await store.get(db, brain, refs)


async def test_a_row_does_not_open_in_the_place_of_another(
    store: ContentStore, acting: Acting, brain: BrainId, admin: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    async with acting("gateway", brain) as db:
        one, two = await store.put(db, brain, [body(b"yes"), body(b"no")])
    await admin.execute("delete from content.bodies where id = $1", one.id)
    await admin.execute("update content.bodies set id = $1 where id = $2", one.id, two.id)
    async with acting("gateway", brain) as db:
        with pytest.raises(ContentTampered):
            await store.get(db, brain, [ContentRef(one.id, two.commitment)])


async def test_the_table_shows_neither_the_bytes_nor_a_way_to_confirm_a_guess(
    store: ContentStore, acting: Acting, brain: BrainId
) -> None:
    async with acting("gateway", brain) as db:
        [ref] = await store.put(db, brain, [body(b"canary-text-of-a-body")])
        [row] = await db.fetch("select * from bodies")
    told = b"".join(cell for cell in row.values() if isinstance(cell, bytes))
    assert b"canary" not in told
    assert ref.commitment not in told.hex()
    assert set(row.keys()) == {"brain", "id", "ciphertext", "nonce", "key_version", "wrapped_key", "size", "created_at"}


async def test_an_erased_body_is_gone_and_only_that(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    async with acting("approvals", brain) as db:
        gone, kept = await store.put(db, brain, [body(b"about a person"), body(b"about a rule")])
        assert await store.erase(db, brain, [gone.id, ContentId(uuid4())]) == [gone.id]
        with pytest.raises(ContentMissing):
            await store.get(db, brain, [gone])
        assert await store.get(db, brain, [kept]) == {kept.id: b"about a rule"}


async def test_a_new_wrapping_key_takes_over_all_bodies_and_the_old_one_can_go(
    ring: KeyRing, tmp_path: Path, acting: Acting, brain: BrainId
) -> None:
    path = tmp_path / "keyring.json"
    async with acting("approvals", brain) as db:
        refs = await ContentStore(ring).put(db, brain, [body(b"one"), body(b"two"), body(b"three")])
        rotated = ContentStore(ring.rotated(path))
        assert [await rotated.rewrap(db, brain, 2) for _ in range(3)] == [2, 1, 0]
        after = ContentStore(KeyRing.load(path).retired(path))
        assert len(await after.get(db, brain, refs)) == 3
        with pytest.raises(UnknownKey):
            await ContentStore(ring).get(db, brain, refs)


async def test_another_brain_sees_nothing(store: ContentStore, acting: Acting, brain: BrainId) -> None:
    other = BrainId(uuid4())
    async with acting("gateway", brain) as db:
        refs = await store.put(db, brain, [body(b"ours")])
    async with acting("gateway", other) as db:
        with pytest.raises(ContentMissing):
            await store.get(db, brain, refs)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await store.put(db, brain, [body(b"theirs, under our name")])


async def test_without_a_brain_the_table_is_empty(store: ContentStore, acting: Acting, database: Database) -> None:
    brain = BrainId(UUID(int=7))
    async with acting("gateway", brain) as db:
        await store.put(db, brain, [body(b"ours")])
    connection = await asyncpg.connect(database.dsn("migrator"))
    assert await connection.fetchval("select count(*) from content.bodies") == 0
    await connection.close()


@pytest.mark.parametrize("role", [*WRITERS, *READERS])
async def test_each_role_may_do_what_its_service_does_and_no_more(database: Database, role: str) -> None:
    connection = await asyncpg.connect(database.dsn(role))
    allowed = {
        right
        for right in ("select", "insert", "update", "delete", "truncate")
        if await connection.fetchval("select has_table_privilege('content.bodies', $1)", right)
    }
    await connection.close()
    expected = {"select"} | ({"insert"} if role in WRITERS else set()) | ({"delete"} if role == "approvals" else set())
    assert allowed == expected


async def test_every_statement_prepares_on_the_migrated_table(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("approvals"))
    for statement in STATEMENTS.values():
        await connection.prepare(statement)
    await connection.close()
