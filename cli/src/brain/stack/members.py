"""Who there is: the six services, the roles they log in with, and the schemas whose migrations belong to whom."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from chassis.migrations import Source

SERVICES = ("gateway", "ingest", "embedder", "drift", "approvals", "retrieval")
"""In the order of their health ports."""

SIGNERS = (*SERVICES, "operator")
"""Who signs facts: each service, and the operator at the console."""

SERVES_HTTP = {"gateway": 0, "approvals": 1}
"""Services that people reach, and the offset of their port from the brain's first one."""

LOGIN_ROLES = (
    "migrator",
    "gateway",
    "ingest",
    "embedder",
    "drift",
    "approvals",
    "archive",
    "retrieval_project",
    "retrieval_serve",
    "backup",
    "monitor",
)
"""Roles with a password of their own. `migrator` owns every schema; the others get what migrations grant them."""

SEARCH_OWNER = "retrieval_search"
"""Owns the search functions and cannot log in."""

EXTENSIONS = ("vector",)
"""Installed in `public` by the superuser. Never intarray: it shadows the array operators that our indexes serve."""


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema, the folders (`package/folder`) of its migrations in order, and the roles that may look into it.

    `writer` projects into the tables that libraries bring; `reader` reads them.
    """

    name: str
    folders: tuple[str, ...]
    writer: str
    reader: str
    others: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role that may look into the schema, once each."""
        return tuple(dict.fromkeys((self.writer, self.reader, *self.others)))

    @property
    def sources(self) -> list[Source]:
        """Its migrations: those of libraries first, then its own. A folder that is not there has none."""
        words = {"schema": self.name, "writer": self.writer, "reader": self.reader}
        found = []
        for name in self.folders:
            package, _, folder = name.partition("/")
            path = Path(str(files(package))) / folder
            if path.is_dir():
                found.append(Source(name, path, words))
        return found


_SPEAKERS = ("gateway", "ingest", "embedder", "drift", "approvals", "retrieval_project", "retrieval_serve", "archive")
_LEDGER = "eventlog/migrations"
_ACCESS = "access/migrations"

SCHEMAS = (
    Schema("content", ("content/migrations",), "approvals", "embedder", _SPEAKERS),
    Schema("archive", (_LEDGER, "eventlog/archive_migrations"), "archive", "monitor", _SPEAKERS),
    Schema("gateway", (_LEDGER, _ACCESS, "gateway/migrations"), "gateway", "gateway"),
    Schema("ingest", (_LEDGER, _ACCESS, "ingest/migrations"), "ingest", "ingest"),
    Schema("drift", (_LEDGER, "drift/migrations"), "drift", "drift"),
    Schema("approvals", (_LEDGER, _ACCESS, "approvals/migrations"), "approvals", "approvals"),
    Schema(
        "retrieval",
        (_LEDGER, _ACCESS, "retrieval/migrations"),
        "retrieval_project",
        "retrieval_serve",
        (SEARCH_OWNER,),
    ),
)
"""In the order in which they are migrated. Whoever may look into a schema still needs a grant on each table of it."""

ROLE_OF = {
    "gateway": "gateway",
    "ingest": "ingest",
    "embedder": "embedder",
    "drift": "drift",
    "approvals": "approvals",
    "retrieval": "retrieval_project",
}
"""The role behind a service's POSTGRES_DSN."""

SECOND_ROLES = {
    "approvals": {"ARCHIVE_DSN": "archive"},
    "retrieval": {"SERVE_DSN": "retrieval_serve"},
}
"""Further addresses for services that are more than one role in the database."""
