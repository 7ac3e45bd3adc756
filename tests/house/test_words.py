"""What no file of the repository may hold: a machine's path, a registry's host, a secret, a promise for code."""

import re
from pathlib import Path

import pytest

from house.repository import ROOT, files

CODE = {".py", ".sql", ".sh", ".toml", ".yaml", ".yml", ".conf", ".js", ".css", ".html"}
TEXT = CODE | {".md", ".in", ".lock", ".env", ""}
HOUSE = Path(__file__).parent

MACHINE = re.compile("|".join([r"(?<![\w.])/(?:home|Users)/\w+", r"(?<![\w.])/root/", r"(?<![\w./])/work" + "/"]))
REGISTRY = re.compile(
    "|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", r"ghcr\.io", r"quay\.io", "docker" + r"\.io"])
)
PROMISE = re.compile(
    "|".join(["TO" + "DO", "FIX" + "ME", r"\bXX" + r"X\b", "NotImplemented" + "Error", "(?i:not " + "implemented)"])
)
SECRET = re.compile(
    r"""(?ix)
    (?:password|passwd|secret|token|api_?key) ["']? \s* [:=] \s* ["']? [a-z0-9+/_-]{8,} ["']? \s* $
    | ://[a-z0-9_]+:(?![{$<]) [^@\s"'{}$/]{4,} @
    """
)


def _texts(suffixes: set[str], *, tests: bool = True) -> list[tuple[Path, str]]:
    """Files of the repository that a person writes, with their text."""
    found = []
    for path in files():
        inside = path.relative_to(ROOT)
        if path.suffix in suffixes and path.parent != HOUSE and (tests or "tests" not in inside.parts):
            try:
                found.append((inside, path.read_text(encoding="utf-8")))
            except UnicodeDecodeError:
                continue
    return found


def _hits(pattern: re.Pattern[str], texts: list[tuple[Path, str]]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_file_names_a_path_of_a_machine() -> None:
    assert _hits(MACHINE, _texts(TEXT)) == []


def test_no_file_names_the_host_of_a_registry() -> None:
    assert _hits(REGISTRY, _texts(TEXT)) == []


def test_no_code_is_a_promise() -> None:
    assert _hits(PROMISE, _texts(CODE)) == []


def test_no_secret_stands_in_what_is_deployed() -> None:
    assert _hits(SECRET, _texts(TEXT, tests=False)) == []


@pytest.mark.parametrize(
    "line",
    [
        "POSTGRES_" + "PASSWORD: correcthorse",
        "postgres" + "://brain:hunter22@db/brain",
        "api_" + "key = 'abcdefgh12345678'",
    ],
)
def test_a_secret_would_be_seen(line: str) -> None:
    assert SECRET.search(line)
