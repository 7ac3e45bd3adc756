"""The database of a brain: roles with passwords, one database, its schemas, and every member's migrations."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import asyncpg

from brain.stack.members import EXTENSIONS, LOGIN_ROLES, SCHEMAS, SEARCH_OWNER, Schema
from chassis import sql
from chassis.migrations import migrate
from chassis.settings import Secret

STATEMENTS = sql.load("brain.stack", "setup.sql")
_BUILT_IN = {"backup": "pg_read_all_data", "monitor": "pg_monitor"}
_CONNECTIONS = 24


class Server(Protocol):
    """A PostgreSQL to set up: our own cluster, or one that somebody else runs."""

    def superuser(self, database: str = "postgres") -> Secret:
        """The address of `database` for a role that may make roles and databases."""


async def roles(server: Server, passwords: Mapping[str, Secret]) -> None:
    """Make the roles that are missing and set every password anew. `passwords` has one for each login role."""
    connection = await asyncpg.connect(server.superuser().reveal())
    try:
        for role in LOGIN_ROLES:
            if not await connection.fetchval(STATEMENTS.role_exists, role):
                await connection.execute(
                    STATEMENTS.create_login_role.format(name=_identifier(role), connections=_CONNECTIONS)
                )
                if role in _BUILT_IN:
                    granted = _identifier(_BUILT_IN[role])
                    await connection.execute(STATEMENTS.grant_pg_role.format(granted=granted, name=_identifier(role)))
            literal = _literal(passwords[role].reveal())
            await connection.execute(STATEMENTS.set_password.format(name=_identifier(role), password=literal))
        if not await connection.fetchval(STATEMENTS.role_exists, SEARCH_OWNER):
            await connection.execute(STATEMENTS.create_owner_role.format(name=_identifier(SEARCH_OWNER)))
            owner, migrator = _identifier(SEARCH_OWNER), _identifier("migrator")
            await connection.execute(STATEMENTS.grant_pg_role.format(granted=owner, name=migrator))
    finally:
        await connection.close()


async def database(server: Server, name: str) -> None:
    """Make the database `name` with its extensions and empty schemas; nothing where it is there."""
    connection = await asyncpg.connect(server.superuser().reveal())
    try:
        if not await connection.fetchval(STATEMENTS.database_exists, name):
            await connection.execute(STATEMENTS.create_database.format(name=_identifier(name)))
    finally:
        await connection.close()
    await open_database(server, name)
    connection = await asyncpg.connect(server.superuser(name).reveal())
    try:
        await connection.execute(STATEMENTS.close_public)
        for extension in EXTENSIONS:
            await connection.execute(STATEMENTS.create_extension.format(name=_identifier(extension)))
        for schema in SCHEMAS:
            await connection.execute(STATEMENTS.create_schema.format(name=_identifier(schema.name)))
            for role in schema.roles:
                names = {"name": _identifier(schema.name), "role": _identifier(role)}
                await connection.execute(STATEMENTS.let_look.format(**names))
                if role == SEARCH_OWNER:  # the owner of a function needs this to be given it
                    await connection.execute(STATEMENTS.let_create.format(**names))
    finally:
        await connection.close()


async def open_database(server: Server, name: str) -> None:
    """Let exactly the login roles connect to the database `name`. A copy of a database starts without that."""
    connection = await asyncpg.connect(server.superuser().reveal())
    try:
        await connection.execute(STATEMENTS.close_database.format(name=_identifier(name)))
        for role in LOGIN_ROLES:
            names = {"name": _identifier(name), "role": _identifier(role)}
            await connection.execute(STATEMENTS.let_connect.format(**names))
    finally:
        await connection.close()


async def schemas(migrator: Secret, wanted: Sequence[Schema] = SCHEMAS) -> dict[str, list[str]]:
    """Apply the migrations of `wanted` as the migrator; the names applied, by schema."""
    applied: dict[str, list[str]] = {}
    for schema in wanted:
        applied[schema.name] = await migrate(migrator, schema.name, schema.sources)
    return applied


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
