"""The rules of who may import whom: that they are written down for everybody, and kept."""

import subprocess
import tomllib

import msgspec

from contracts.catalogue import CATALOGUE
from house.repository import LIBRARIES, ROOT, SERVICES, tool

CONTRACTS = ROOT / "libs" / "contracts"


class Rule(msgspec.Struct, kw_only=True):
    name: str
    type: str
    modules: list[str] = []
    source_modules: list[str] = []
    forbidden_modules: list[str] = []


def _rules() -> list[Rule]:
    written = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return msgspec.convert(written["contracts"], list[Rule])


def test_every_import_keeps_to_the_rules() -> None:
    argv = [tool("lint-imports"), "--config", "pyproject.toml", "--cache-dir", ".cache/imports"]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_services_are_independent_of_each_other_and_libraries_of_services() -> None:
    independent = [set(rule.modules) for rule in _rules() if rule.type == "independence"]
    assert set(SERVICES) in independent
    forbidden = [rule for rule in _rules() if rule.type == "forbidden" and set(rule.forbidden_modules) == set(SERVICES)]
    assert any({*LIBRARIES, "brain"} <= set(rule.source_modules) for rule in forbidden)


def test_a_domain_does_no_input_or_output() -> None:
    (rule,) = (rule for rule in _rules() if rule.source_modules == ["*.domain"])
    wanted = {"eventlog", "nats", "faststream", "litestar", "asyncpg", "asyncio", "time", "random", "os", "logging"}
    assert wanted <= set(rule.forbidden_modules)


def test_every_schema_and_example_has_its_fact_and_every_fact_has_both() -> None:
    wanted = {(entry.name, version) for entry in CATALOGUE.values() for version in range(1, entry.version + 1)}
    schemas = {
        (name, int(version))
        for path in (CONTRACTS / "schemas").glob("*.schema.json")
        for name, _, version in [path.name.removesuffix(".schema.json").rpartition(".v")]
    }
    examples = {
        (path.parent.name, int(path.stem.removeprefix("v"))) for path in (CONTRACTS / "examples").glob("*/v*.json")
    }
    assert schemas == wanted
    assert examples == wanted
