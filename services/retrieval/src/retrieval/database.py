"""The two pools: one projects, the other only answers."""

from pgvector.asyncpg import register_vector

from chassis import postgres
from chassis.postgres import Connection, Pool
from chassis.settings import Secret

SCHEMA = "retrieval"


async def projecting(dsn: Secret, schema: str = SCHEMA) -> Pool:
    """The pool of the four projections: each holds one connection as its guard and commits on another."""
    return await postgres.connect(
        dsn,
        schema,
        service="retrieval-project",
        largest=10,
        statement_timeout_ms=300_000,  # a build of 900 pages is one transaction
        init=_with_vectors,
    )


async def serving(dsn: Secret) -> Pool:
    """The pool of the reads. Each plan is made for its caller: a generic one is several times slower (measured)."""
    return await postgres.connect(
        dsn,
        SCHEMA,
        service="retrieval-serve",
        smallest=2,
        largest=12,
        statement_timeout_ms=10_000,
        settings={"plan_cache_mode": "force_custom_plan"},
        init=_with_vectors,
    )


async def _with_vectors(connection: Connection) -> None:
    await register_vector(connection)
