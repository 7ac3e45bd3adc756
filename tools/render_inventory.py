"""Writes the tables of ARCHITECTURE.md from the code.

`--check` writes nothing and fails where the document differs from what the code says.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from contracts import topology
from contracts.catalogue import CATALOGUE
from contracts.ids import SERVICES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- inventory -->", "<!-- end of inventory -->"
_REQUESTS = ("gateway", "ingest", "embedder", "approvals", "retrieval")


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split()).split(". ")[0].rstrip(".").replace("|", "\\|")


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _facts() -> str:
    rows = [
        (f"`{entry.name}`", str(entry.version), ", ".join(sorted(entry.owners)), _first_sentence(entry.shape.__doc__))
        for entry in CATALOGUE.values()
    ]
    return _table("Facts", ("type", "version", "said by", "what happened"), rows)


def _streams() -> str:
    rows = [
        (f"`{stream.name}`", ", ".join(f"`{subject}`" for subject in stream.subjects), stream.why)
        for stream in topology.STREAMS
    ]
    return _table("Streams", ("stream", "subjects", "what for"), rows)


def _durables() -> str:
    rows = [
        (f"`{durable.name}`", durable.stream, durable.owner, "in order" if durable.ordered else "each by itself")
        for durable in topology.DURABLES
    ]
    return _table("Durables", ("durable", "stream", "read by", "acknowledged"), rows)


def _requests() -> str:
    rows = []
    for service in _REQUESTS:
        module = importlib.import_module(f"contracts.{service}_messages")
        subjects = [value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)]
        rows += [(f"`{subject}`", service) for subject in subjects if subject.startswith(("cmd.", "ask."))]
    return _table("Commands and queries", ("subject", "served by"), rows)


def _settings() -> str:
    rows = []
    for service in SERVICES:
        shape = importlib.import_module(f"{service}.settings").Settings
        for field in msgspec.structs.fields(shape):
            optional = field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT
            rows.append((service, f"`{field.name.upper()}`", "optional" if optional else "needed"))
    return _table("Settings", ("service", "variable", ""), rows)


def inventory() -> str:
    """All tables, as they stand between the two marks of the document."""
    tables = (_facts, _streams, _durables, _requests, _settings)
    return "\n".join(table() for table in tables)


def rendered(document: str) -> str:
    """The document with its tables replaced. Raises `ValueError` where it has no place for them."""
    head, _, rest = document.partition(BEGIN)
    _, mark, tail = rest.partition(END)
    if not mark:
        raise ValueError(f"{PAGE.name} has no {BEGIN} … {END}")
    return f"{head}{BEGIN}\n\n{inventory()}\n{END}{tail}"


def main() -> int:
    """Write, or with `--check` compare."""
    document = PAGE.read_text()
    wanted = rendered(document)
    if "--check" in sys.argv:
        if wanted != document:
            print(f"{PAGE.name} differs from the code: run make generate")
            return 1
        return 0
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
