"""Who there is: the six services, the roles they log in with, and the schemas whose migrations belong to whom."""

from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

SERVICES = ("gateway", "ingest", "embedder", "drift", "approvals", "retrieval")
"""In the order of their health ports."""

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
    """One schema, the package that holds its migrations, and the roles that may look into it."""

    name: str
    package: str
    readers: tuple[str, ...]

    @property
    def folder(self) -> Path | None:
        """Its migrations, or None while the package has none."""
        if find_spec(self.package) is None:
            return None
        folder = Path(str(files(self.package))) / "migrations"
        return folder if folder.is_dir() else None


_SPEAKERS = ("gateway", "ingest", "embedder", "drift", "approvals", "retrieval_project", "retrieval_serve", "archive")

SCHEMAS = (
    Schema("content", "content", _SPEAKERS),
    Schema("archive", "eventlog", ("archive", *(role for role in _SPEAKERS if role != "archive"))),
    Schema("gateway", "gateway", ("gateway",)),
    Schema("ingest", "ingest", ("ingest",)),
    Schema("drift", "drift", ("drift",)),
    Schema("approvals", "approvals", ("approvals",)),
    Schema("retrieval", "retrieval", ("retrieval_project", "retrieval_serve", SEARCH_OWNER)),
)
"""In the order in which they are migrated. Whoever may see a schema still needs a grant on each table of it."""

ROLE_OF = {
    "gateway": "gateway",
    "ingest": "ingest",
    "embedder": "embedder",
    "drift": "drift",
    "approvals": "approvals",
    "retrieval": "retrieval_serve",
}
"""The role behind a service's POSTGRES_DSN."""

SECOND_ROLES = {
    "approvals": {"ARCHIVE_DSN": "archive"},
    "retrieval": {"PROJECT_DSN": "retrieval_project"},
}
"""Further addresses for services that are more than one role in the database."""
