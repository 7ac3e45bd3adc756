"""The database: a pool that looks into one schema, and transactions that belong to one brain."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import UUID

import asyncpg

from chassis.settings import Secret

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Pooled: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"


GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
    TimeoutError,
)
"""What a query raises while the database is not there: stopped, starting again, or out of connections.

The internal error is how a connection that broke in mid-answer shows when it is given back to its pool.
"""


class WrongBrain(Exception):
    """The database did not take over the brain of a transaction; nothing may be read or written in it."""


async def connect(
    dsn: Secret,
    schema: str,
    *,
    service: str,
    smallest: int = 1,
    largest: int = 8,
    statement_timeout_ms: int = 30_000,
    settings: dict[str, str] | None = None,
    init: Callable[[Connection], Coroutine[None, None, None]] | None = None,
) -> Pool:
    """A pool of `smallest` to `largest` connections whose unqualified names are those of `schema`.

    A statement is cut off after `statement_timeout_ms`, a transaction left idle after twice that. `settings` adds
    server settings for all connections of the pool; `init` runs once on each new one (codecs).
    """
    server_settings = {
        "search_path": f"{schema}, public",
        "statement_timeout": str(statement_timeout_ms),
        "idle_in_transaction_session_timeout": str(2 * statement_timeout_ms),
        "application_name": service,
        "timezone": "UTC",
        "jit": "off",
        **(settings or {}),
    }
    return await asyncpg.create_pool(
        dsn.reveal(),
        min_size=smallest,
        max_size=largest,
        init=init,
        server_settings=server_settings,
        timeout=10,
        command_timeout=statement_timeout_ms / 1000 + 5,
    )


@asynccontextmanager
async def transaction(pool: Pool, brain: UUID, *, readonly: bool = False) -> AsyncIterator[Pooled]:
    """One transaction on one brain: row level security lets through that brain's rows and no others.

    The setting is local to the transaction, so that a pooled connection never carries it on. Raises `WrongBrain`
    when the server reports another value than the one just set. A connection on which something was waited for in
    vain is dropped: taking back over it would be waited for in vain as well, and the server takes back by itself.
    """
    async with pool.acquire() as connection:
        late: TimeoutError | None = None
        try:
            async with connection.transaction(readonly=readonly):
                try:
                    taken = await connection.fetchval("select set_config('brain.id', $1, true)", str(brain))
                    if taken != str(brain):
                        raise WrongBrain(str(brain))
                    yield connection
                except TimeoutError as error:
                    late = error
                    connection.terminate()
                    raise
        except TimeoutError:
            connection.terminate()
            raise
        except asyncpg.InterfaceError:
            if late is None:
                raise
            raise late from None
