"""Named statements live in `.sql` files beside the code that runs them."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

_SECTION = re.compile(r"^--\s*name:\s*(\S+)\s*$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class BadSql(Exception):
    """A `.sql` file breaks the rules of naming, or a statement is asked for that it does not have."""


class Statements(Mapping[str, str]):
    """The statements of one file, as attributes or by key. An unknown name raises `BadSql`."""

    def __init__(self, source: str, statements: Mapping[str, str]) -> None:
        self._source = source
        self._statements = dict(statements)

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise BadSql(f"{self._source} has no statement named {name}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)


def load(package: str, name: str) -> Statements:
    """Read the file `name` of `package` (a dotted name). Raises `BadSql` where it is not a list of named statements."""
    return parse(f"{package}/{name}", files(package).joinpath(name).read_text(encoding="utf-8"))


def parse(source: str, text: str) -> Statements:
    """Split a file at its `-- name: x` lines. What stands before the first may only be comment.

    Raises `BadSql` for a name that is not snake_case or comes twice, and for an empty statement.
    """
    parts = _SECTION.split(text)
    if any(line.strip() and not line.lstrip().startswith("--") for line in parts[0].splitlines()):
        raise BadSql(f"{source} has text before its first named statement")
    statements: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        statement = body.strip()
        if not _NAME.fullmatch(name):
            raise BadSql(f"{source}: {name} is not a snake_case name")
        if name in statements:
            raise BadSql(f"{source}: {name} is there twice")
        if not any(line.strip() and not line.lstrip().startswith("--") for line in statement.splitlines()):
            raise BadSql(f"{source}: {name} is empty")
        statements[name] = statement
    return Statements(source, statements)
