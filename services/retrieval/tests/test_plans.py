"""The plans of both arms, on a brain of a size where they matter."""

import re
from uuid import UUID, uuid4

import asyncpg

from servers import Database

PAGES, PASSAGES = 200, 10


async def filled(database: Database) -> tuple[asyncpg.Connection, UUID, UUID]:
    """Two thousand passages of synthetic words and vectors, one reader of everything."""
    brain, reader = uuid4(), uuid4()
    admin = await asyncpg.connect(database.dsn("postgres"), server_settings={"search_path": "retrieval, public"})
    await admin.execute("select set_config('brain.id', $1, false)", str(brain))
    await admin.execute(
        """
        insert into grants (brain, id, subject, scope_kind, scope_value, permission, source_seq)
        values ($1, gen_random_uuid(), $2, 'prefix', '', 'read', 1)
        """,
        brain,
        reader,
    )
    await admin.execute(
        """
        insert into pages (brain, page, live, path, title, title_key, words, type, owner, access, reach, knowledge,
                           revision, body, commitment, digest, approver, approved_at, review_days, passages, position,
                           source_seq)
        select $1, gen_random_uuid(), true, 'p/' || n || '.md', 'P', 'p', array[]::text[], 'topic', $2, 'public',
               'ordinary', 'verified', 1, gen_random_uuid(), '', '', $2, now(), 90, $3, n, n
        from generate_series(1, $4::integer) n
        """,
        brain,
        reader,
        PASSAGES,
        PAGES,
    )
    await admin.execute(
        """
        insert into chunks (brain, page, number, ordinal, key, fingerprint, copy, heading, body, starts, ends, language,
                            words, length, vector_key, model, embedding, near)
        select $1, p.page, p.number, n, '', n::text, 0, array[]::text[], 'text', 0, 4, 'english', ''::tsvector, 20,
               'v', 'm',
               array(select (random() - 0.5 + 0 * p.number * n * k)::real from generate_series(1, 384) k)::vector, true
        from pages p, generate_series(1, $2::integer) n
        """,
        brain,
        PASSAGES,
    )
    await admin.execute(
        "insert into terms (brain, word, chunks) select $1, 'english:w' || n, 20 from generate_series(1, 2000) n", brain
    )
    await admin.execute(
        """
        insert into postings (brain, chunk, term, number, frequency, length)
        select $1, c.chunk, t.term, c.number, 1, 20
        from chunks c
        cross join generate_series(0, 19) k
        join terms t on t.brain = $1 and t.word = 'english:w' || (1 + (c.chunk * 20 + k) % 2000)
        """,
        brain,
    )
    await admin.execute(
        "insert into sizes (brain, chunks, words) select $1, count(*), 20 * count(*) from chunks", brain
    )
    await admin.execute("analyze")
    return admin, brain, reader


async def plan_of(admin: asyncpg.Connection, function: str, types: str, arguments: str) -> str:
    """The plan of a function's own statement, as the role that it runs as and with its settings."""
    row = await admin.fetchrow(
        "select pg_get_function_sqlbody(oid) as body, proconfig, proargnames from pg_proc where oid = $1::regprocedure",
        f"{function}({types})",
    )
    assert row is not None
    statement = row["body"].removeprefix("BEGIN ATOMIC").removesuffix("END").strip().rstrip(";")
    for number, name in enumerate(row["proargnames"][: types.count(",") + 1], start=1):
        statement = re.sub(rf"\b{function}\.{name}\b", f"${number}", statement)
    async with admin.transaction():
        for setting in row["proconfig"]:
            name, _, value = setting.partition("=")
            if name != "search_path":
                await admin.execute("select set_config($1, $2, true)", name, value)
        await admin.execute("set local role retrieval_search")
        await admin.execute(f"prepare arm ({types}) as {statement}")
        rows = await admin.fetch(f"explain (analyze, costs off, timing off) execute arm ({arguments})")
        await admin.execute("deallocate arm")
    return "\n".join(row["QUERY PLAN"] for row in rows)


async def test_each_arm_uses_its_index_and_a_narrow_caller_is_not_starved(database: Database) -> None:
    admin, brain, reader = await filled(database)
    rule = f"array['{reader}']::uuid[], 'admin', null"
    query = "(select array_agg(0.1 * n) from generate_series(1, 384) n)::vector::halfvec"
    vector = await admin.fetchval(f"select {query}::text")
    words = await plan_of(
        admin, "words_arm", "text[], bigint, uuid[], text, text[]", f"array['english:w1', 'english:w77'], 60000, {rule}"
    )
    assert "Index Only Scan using postings_by_term" in words or "Index Scan using postings_by_term" in words
    assert "Seq Scan on postings" not in words
    vectors = "halfvec, text, integer, uuid[], text, text[]"
    near = await plan_of(admin, "vectors_near", vectors, f"'{vector}', 'm', 50, {rule}")
    assert "Index Scan using chunks_by_embedding" in near
    exact = await plan_of(admin, "vectors_exact", vectors, f"'{vector}', 'm', 50, {rule}")
    assert "chunks_by_embedding" not in exact
    narrow = uuid4()
    await admin.execute(
        """
        insert into grants (brain, id, subject, scope_kind, scope_value, permission, source_seq)
        select $1, gen_random_uuid(), $2, 'exact', 'p/' || n || '.md', 'read', 1 from generate_series(1, 8) n
        """,
        brain,
        narrow,
    )
    asked = "(array_fill(0.5::real, array[384])::vector::halfvec, 'm', 50, array[$1::uuid], 'admin', null)"
    walked = {row["chunk"] for row in await admin.fetch(f"select chunk from vectors_near{asked}", narrow)}
    compared = {row["chunk"] for row in await admin.fetch(f"select chunk from vectors_exact{asked}", narrow)}
    assert len(compared) == 50
    assert len(walked & compared) >= 45
    await admin.close()
