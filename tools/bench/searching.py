"""Search over MCP, beside the same statement sent through asyncpg."""

import statistics
import time
from uuid import uuid4

import httpx2
from pgvector.asyncpg import register_vector

from access import lookup
from bench.table import Line
from bench.world import brain_id, bus, pool, principal, token
from chassis import postgres, rpc, sql
from contracts.embedder_messages import EMBED, Embed, Embedded
from houses import House
from retrieval.domain.texts import clean_query, title_key
from retrieval.projections.pages import CROSSOVER
from retrieval.projections.vectors import vector
from retrieval.reads.search import CANDIDATES, POSTINGS

QUERIES = (
    "how do we review each other's code",
    "where is source code stored",
    "who is told when there is an incident",
    "naming things",
    "passwords and credentials",
    "what to write in a pull request",
    "supported programming languages",
    "how to run a retrospective",
)
ROUNDS = 15
STATEMENTS = sql.load("retrieval.reads", "search.sql")


async def searching(house: House) -> Line:
    """The medians of the same queries both ways; the time that embedding the query takes is taken off ours."""
    secret = token(house, "brain:read")
    url = f"http://127.0.0.1:{house.ports.gateway}/api/mcp"
    over, bare = [], []
    async with (
        bus(house) as client,
        httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http,
        pool(house, "retrieval_serve", "retrieval", plan_cache_mode="force_custom_plan") as db,
    ):
        alice = await principal(house, "alice")
        for round_ in range(ROUNDS + 1):
            for query in QUERIES:
                embedding = time.perf_counter()
                question = await rpc.ask(client, EMBED, Embed(query=query), Embedded, seconds=10)
                embedding = time.perf_counter() - embedding
                call = {
                    "jsonrpc": "2.0",
                    "id": uuid4().hex,
                    "method": "tools/call",
                    "params": {"name": "search", "arguments": {"query": query}},
                }
                began = time.perf_counter()
                answer = await http.post(url, json=call)
                took = time.perf_counter() - began
                if answer.status_code != 200 or not answer.json()["result"]["structuredContent"]["hits"]:  # noqa: PLR2004
                    raise SystemExit(f"search over MCP did not answer: {answer.status_code}")
                async with postgres.transaction(db, brain_id(house), readonly=True) as connection:
                    caller = await lookup.caller_for(connection, brain_id(house), alice, None)
                    if caller is None:
                        raise SystemExit("alice is nobody here")
                    await register_vector(connection)  # type: ignore[arg-type] # a pooled connection is one
                    text = clean_query(query)
                    before = time.perf_counter()
                    await connection.fetch(
                        STATEMENTS.search,
                        text,
                        title_key(text),
                        vector(question.vector),
                        question.model,
                        10,
                        CANDIDATES,
                        POSTINGS,
                        CROSSOVER,
                        list(caller.subjects),
                        caller.tier.value,
                        None,
                    )
                    alone = time.perf_counter() - before
                if round_:
                    over.append(max(took - embedding, 0.0))
                    bare.append(alone)
    ours, beside = statistics.median(over) * 1000, statistics.median(bare) * 1000
    return Line(
        "search over MCP without embedding the query, p50",
        f"{ours:.1f} ms",
        f"the statement through asyncpg: {beside:.1f} ms",
        ours / beside,
        2.5,
        at_least=False,
    )
