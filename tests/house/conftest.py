"""A brain that is deployed nowhere: its papers, and a migrated database that tests only look at."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio

from brain.deployment import secrets
from brain.stack import setup
from servers import TEMPLATE, Database, Postgres


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `brain secrets` makes."""
    folder = tmp_path_factory.mktemp("papers") / "papers"
    place = secrets.Place("postgres:5432", "nats:4222", "https://brain.example.com", "https://brain.example.com")
    secrets.write(folder, place, UUID("5b6f3c1e-6c1b-4c9e-9c39-6b4b8a1f2d10"))
    return folder


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def migrated(postgres_server: Postgres) -> AsyncIterator[Database]:
    """A migrated database for all house tests; whoever changes rows in it rolls back."""
    name = "house"
    admin = await asyncpg.connect(postgres_server.dsn("postgres", "postgres"))
    try:
        await admin.execute(f"create database {name} template {TEMPLATE} owner migrator")
        await setup.open_database(postgres_server.cluster, name)
        yield Database(postgres_server, name)
        await admin.execute(f"drop database {name} with (force)")
    finally:
        await admin.close()
