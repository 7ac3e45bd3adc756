"""Rules about the repository itself that a reader relies on."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = sorted([*(ROOT / "libs").iterdir(), *(ROOT / "services").iterdir(), ROOT / "cli"])
SOURCES = sorted(path for member in MEMBERS for path in (member / "src").rglob("*.py"))
BANNED = {"data", "info", "manager", "handler", "processor", "helper", "helpers", "util", "utils"}
BANNED |= {"base", "common", "misc", "do", "perform", "item", "obj"}
OURS = {"data", "base", "manager"}  # a fact's payload, the revision that a proposal stands on, a role and a tier
LONGEST, LONGEST_AGGREGATE = 300, 330  # lines; a screen and a half is what good looks like, this is where it hurts


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_no_identifier_is_a_word_that_says_nothing() -> None:
    found = {
        f"{names(path)}: {identifier}"
        for path in SOURCES
        for identifier in identifiers(ast.parse(path.read_text()))
        if identifier.lower() in BANNED - OURS
    }
    assert found == set()


def test_no_module_is_named_after_nothing() -> None:
    assert [names(path) for path in SOURCES if path.stem in BANNED] == []


def test_files_stay_readable() -> None:
    long = {}
    for path in SOURCES:
        lines = len(path.read_text().splitlines())
        if lines > (LONGEST_AGGREGATE if path.parent.name == "domain" else LONGEST):
            long[names(path)] = lines
    assert long == {}


def test_every_ignored_rule_has_a_reason() -> None:
    bare = re.compile(r"#\s*(noqa|type:\s*ignore)(:?\s*[A-Z0-9, ]+|\[[a-z-, ]+\])?\s*$")
    found = [
        f"{names(path)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []


def test_nothing_is_left_to_do_in_the_code() -> None:
    unfinished = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError|not implemented", re.IGNORECASE)
    assert [names(path) for path in SOURCES if unfinished.search(path.read_text())] == []


@pytest.mark.parametrize("member", MEMBERS, ids=names)
def test_a_member_pins_what_everybody_pins(member: Path) -> None:
    pins = dict(
        line.split("==")
        for line in (ROOT / "requirements.in").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )
    project = tomllib.loads((member / "pyproject.toml").read_text())["project"]
    differing = {}
    for requirement in project.get("dependencies", ()):
        name, _, version = requirement.partition("==")
        wanted = {key.split("[")[0]: pin for key, pin in pins.items()}.get(name.split("[")[0])
        if wanted is not None and version != wanted:
            differing[name] = (version, wanted)
    assert differing == {}


@pytest.mark.parametrize("member", MEMBERS, ids=names)
def test_a_member_says_what_it_is(member: Path) -> None:
    assert len((member / "README.md").read_text().split()) > 40


def test_requirements_are_hashed_and_name_no_place() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert not [line for line in lines if "://" in line or line.startswith("--index")]
    requirements = [number for number, line in enumerate(lines) if re.match(r"[a-z0-9]", line)]
    assert all("--hash=sha256:" in lines[number + 1] for number in requirements)


def test_every_target_of_the_makefile_says_what_it_is_for() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    assert targets == set(re.findall(r"^([a-z-]+):.*## \w", text, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == targets
