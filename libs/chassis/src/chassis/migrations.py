"""Migrations: ordered files, each applied once in a transaction, and never edited after that."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from chassis import sql
from chassis.postgres import Connection
from chassis.settings import Secret

STATEMENTS = sql.load("chassis", "migrations.sql")
_NAME = re.compile(r"\d{4}_(?:pre_|post_)?[a-z0-9_]+\.sql")
_LOCK = 0x6272_6169_6E  # one migrator at a time in one database; any fixed number does


class BadMigration(Exception):
    """A folder of migrations breaks the order, or a file differs from what was applied."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its name, its text, and the SHA-256 of the text in hex."""

    name: str
    text: str
    digest: str


def read_folder(folder: Path) -> list[Migration]:
    """The migrations of `folder` in order. Raises `BadMigration` for a bad name, or a number used twice or left out."""
    found = []
    for number, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        if not _NAME.fullmatch(path.name):
            raise BadMigration(f"{path}: name it NNNN_verb_noun.sql")
        if int(path.name[:4]) != number:
            raise BadMigration(f"{path}: number {number:04d} is expected here")
        text = path.read_text(encoding="utf-8")
        found.append(Migration(path.name, text, hashlib.sha256(text.encode()).hexdigest()))
    return found


@dataclass(frozen=True, slots=True)
class Source:
    """Migrations of one package for one schema. `words` replace `{writer}`, `{reader}` and `{schema}` in the text.

    A library's tables live in the schema of each service that uses them; the words say who writes and reads there.
    """

    name: str
    folder: Path
    words: Mapping[str, str]

    def fill(self, text: str) -> str:
        """The text with its words put in."""
        for word, meaning in self.words.items():
            text = text.replace("{" + word + "}", meaning)
        return text


async def migrate(dsn: Secret, schema: str, sources: Sequence[Source]) -> list[str]:
    """Apply to `schema` what `sources` have beyond its record, in their order, as the role of `dsn`.

    Returns the names applied, `source/file`. The schema exists. All is one transaction. Raises `BadMigration` when a
    file fails, or when an applied one is gone or has changed: add a new one instead.
    """
    if not re.fullmatch(r"[a-z_]+", schema):
        raise BadMigration(f"{schema} is not the name of a schema")
    connection = await asyncpg.connect(dsn.reveal(), timeout=10, server_settings={"search_path": f"{schema}, public"})
    try:
        async with connection.transaction():
            await connection.execute(STATEMENTS.lock, _LOCK)
            await connection.execute(STATEMENTS.create_record)
            return [name for source in sources for name in await _apply(connection, schema, source)]
    finally:
        await connection.close()


async def _apply(connection: Connection, schema: str, source: Source) -> list[str]:
    wanted = read_folder(source.folder)
    rows = await connection.fetch(STATEMENTS.list_applied, source.name)
    applied: dict[str, str] = {row["name"]: row["digest"] for row in rows}
    _compare(schema, wanted, applied)
    new = [migration for migration in wanted if migration.name not in applied]
    for migration in new:
        try:
            await connection.execute(source.fill(migration.text))
        except asyncpg.PostgresError as error:
            raise BadMigration(f"{schema}: {source.folder / migration.name}: {error}") from error
        await connection.execute(STATEMENTS.record_applied, source.name, migration.name, migration.digest)
    return [f"{source.name}/{migration.name}" for migration in new]


def _compare(schema: str, wanted: list[Migration], applied: dict[str, str]) -> None:
    digests = {migration.name: migration.digest for migration in wanted}
    for name, digest in applied.items():
        if name not in digests:
            raise BadMigration(f"{schema}: {name} was applied and its file is gone; bring it back")
        if digests[name] != digest:
            raise BadMigration(f"{schema}: {name} has changed since it was applied; write a new migration instead")
