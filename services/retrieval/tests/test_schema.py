"""The schema's walls: checked in the catalogue, not believed."""

import asyncpg
from servers import Database


async def test_it_migrates(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("postgres"))
    print(
        await connection.fetch(
            "select proname, pg_get_userbyid(proowner), proconfig from pg_proc where pronamespace = 'retrieval'::regnamespace"
        )
    )
    await connection.close()
