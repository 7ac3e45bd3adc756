"""Named SQL: every statement prepares on a migrated database as the role that runs it, and is run somewhere."""

import re
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from chassis import sql
from house.repository import ROOT, SERVICES, sources
from servers import Database

SUPERUSER = "postgres"
TEMPLATES = {"brain/stack/setup.sql", "retrieval/rebuild.sql", "chassis/migrations.sql"}
"""Names are put into these, or they make what they speak of: they run wherever a database is set up."""


REFERENCE = "access/predicate.sql"
"""Held equal to the pure rule by a property test; what runs is retrieval's function, whose words are the same."""


@dataclass(frozen=True, slots=True)
class Where:
    """The schema that a file's unqualified names are looked up in, and the role that runs it."""

    schema: str
    role: str


ELSEWHERE = {
    "content/queries.sql": (Where("content", "approvals"),),
    "access/lookup.sql": (Where("gateway", "gateway"), Where("approvals", "approvals")),
    "access/projection.sql": (
        Where("gateway", "gateway"),
        Where("approvals", "approvals"),
        Where("retrieval", "retrieval_project"),
    ),
    "access/predicate.sql": (Where("retrieval", "retrieval_search"),),
    "retrieval/checksum.sql": (Where("retrieval", "migrator"),),
}


def _member_of(path: Path) -> Path:
    return next(parent.parent for parent in path.parents if parent.name == "src")


def _files() -> dict[str, Path]:
    """Every file of named statements, by package and name."""
    found = {}
    for folder in (*(ROOT / "libs").iterdir(), *(ROOT / "services").iterdir(), ROOT / "cli"):
        for path in sorted((folder / "src").rglob("*.sql")):
            if not path.parent.name.endswith("migrations"):
                found[str(path.relative_to(folder / "src"))] = path
    return found


def _places(name: str) -> tuple[Where, ...]:
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    service, *folders = name.split("/")
    assert service in SERVICES, f"{name}: say in this test which role runs it"
    if service == "retrieval":
        return (Where(service, "retrieval_serve" if folders[0] == "reads" else "retrieval_project"),)
    return (Where(service, service),)


FILES = _files()


def _statements(name: str) -> sql.Statements:
    return sql.parse(name, FILES[name].read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(set(FILES) - TEMPLATES))
async def test_every_statement_prepares(name: str, migrated: Database) -> None:
    broken = {}
    for where in _places(name):
        connection = await asyncpg.connect(
            migrated.dsn(SUPERUSER),
            server_settings={"search_path": f"{where.schema}, public", "brain.id": str(UUID(int=1))},
        )
        try:
            await connection.execute(f'set role "{where.role}"')
            for title, statement in _statements(name).items():
                try:
                    await connection.execute(_explained(statement))
                except asyncpg.PostgresError as error:
                    broken[f"{where.schema} as {where.role}: {title}"] = str(error)
        finally:
            await connection.close()
    assert broken == {}


def _explained(statement: str) -> str:
    """Parse, plan and check every right, without running: utility statements are only parsed."""
    text = statement.rstrip().removesuffix(";")
    first = next(line for line in text.splitlines() if not line.lstrip().startswith("--")).split()[0].lower()
    if first in {"select", "insert", "update", "delete", "with", "merge", "values"}:
        return f"explain (generic_plan) {text}"
    return f"do $check$ begin if false then execute {_quoted(text)}; end if; end $check$"


def _quoted(text: str) -> str:
    return "$text$" + text + "$text$"


@pytest.mark.parametrize("name", sorted(set(FILES) - {REFERENCE}))
def test_every_statement_is_run_somewhere(name: str) -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources(_member_of(FILES[name])))
    loaded = re.findall(rf'^([A-Z_]+) = sql\.load\("([a-z_.]+)", "{FILES[name].name}"\)', code, re.MULTILINE)
    package = name.rpartition("/")[0].replace("/", ".")
    names = {variable for variable, where in loaded if where == package}
    assert names, f"{name} is never loaded"
    unused = [
        title
        for title in _statements(name)
        if not any(re.search(rf"\b{variable}\.{title}\b", code) for variable in names)
        and not re.search(rf"""["']{title}["']""", code)
    ]
    assert unused == []


def test_the_rule_that_is_proven_is_the_rule_that_runs() -> None:
    """Retrieval's function may ask for more (that a page is live), never for less."""
    text = _statements(REFERENCE)["visible_pages"]
    for parameter, argument in (("$1::uuid[]", "subjects"), ("$2::text", "tier"), ("$3::text[]", "domains")):
        text = text.replace(parameter, argument)
    rule = _words(text[text.index("from grants") : text.index("group by")])
    folder = ROOT / "services" / "retrieval" / "src" / "retrieval" / "migrations"
    migrations = _words("\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.sql"))))
    runs = migrations.rpartition("function visible_pages(subjects")[2].partition("end;")[0]
    joined, _, conditions = rule.partition(" where ")
    assert [part for part in (joined, *conditions.split(" and ")) if part not in runs] == []


def _words(text: str) -> str:
    return " ".join(re.sub(r"--.*", "", text).split())
