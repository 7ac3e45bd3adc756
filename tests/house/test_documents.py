"""The documents: they are there, and name every fact, service, durable, target and variable that there is."""

import re
import tomllib
from pathlib import Path

import pytest

from contracts.catalogue import CATALOGUE
from contracts.topology import DURABLES, STREAMS
from house.repository import DURING_A_JOB, LIBRARIES, ROOT, SERVICES, settings, variables

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "SECURITY.md")
OF_THE_CONSOLE = {"BRAIN_HOME", "BRAIN_PORT"}
MEMBERS = [
    *(ROOT / "services" / name for name in SERVICES),
    *(ROOT / "libs" / name for name in LIBRARIES),
    ROOT / "cli",
    ROOT / "deploy",
]
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _text(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def _missing(words: set[str], text: str) -> list[str]:
    return sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))


def _all() -> list[Path]:
    return [*(ROOT / name for name in DOCUMENTS), *(folder / "README.md" for folder in MEMBERS)]


def test_every_document_is_there() -> None:
    assert [str(path.relative_to(ROOT)) for path in _all() if not path.is_file()] == []
    assert sorted((ROOT / "docs" / "decisions").glob("[0-9][0-9][0-9][0-9]-*.md"))


def test_the_readme_names_the_two_commands_and_what_to_set() -> None:
    assert _missing({"make up", "make test"}, _text("README.md")) == []
    assert _missing({"docker-compose.yml", "deploy/README.md"}, _text("README.md", "ARCHITECTURE.md")) == []


def test_the_architecture_names_every_service_library_stream_and_durable() -> None:
    wanted = {*SERVICES, *LIBRARIES, *(each.name for each in STREAMS), *(each.name for each in DURABLES)}
    assert _missing(wanted, _text("ARCHITECTURE.md")) == []


def test_every_fact_is_explained() -> None:
    assert _missing(set(CATALOGUE), _text("ARCHITECTURE.md", "GLOSSARY.md")) == []


def test_every_target_of_the_makefile_is_mentioned() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", _text("Makefile"), re.MULTILINE)
    assert targets
    assert _missing({f"make {target}" for target in targets}, _text("README.md", "CONTRIBUTING.md")) == []


def test_every_environment_variable_is_mentioned() -> None:
    shapes = [*(settings(name) for name in SERVICES), *(shape for shapes in DURING_A_JOB.values() for shape in shapes)]
    wanted = OF_THE_CONSOLE.union(*(variables(shape) for shape in shapes))
    folders = [f"services/{name}/README.md" for name in SERVICES]
    assert _missing(wanted, _text("README.md", "ARCHITECTURE.md", "deploy/README.md", *folders)) == []


@pytest.mark.parametrize("path", _all(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_leads_nowhere_that_is_not_there_and_its_python_compiles(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = [target for target in _LINK.findall(text) if "://" not in target and not target.startswith("mailto:")]
    assert [target for target in targets if not (path.parent / target).exists()] == []
    for block in _PYTHON.findall(text):
        compile(block, str(path), "exec")


def test_every_command_of_the_console_is_mentioned() -> None:
    console = _text("cli/src/brain/main.py").partition("COMMANDS = {")[2].partition("}")[0]
    commands = re.findall(r'^\s+"([a-z-]+)":', console, re.MULTILINE)
    assert commands
    assert (
        _missing({f"brain {command}" for command in commands}, _text("README.md", "cli/README.md", "deploy/README.md"))
        == []
    )


def test_versions_in_the_documents_are_those_of_the_project() -> None:
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    lowest = project["requires-python"].split(",")[0].removeprefix(">=")
    assert f"Python {lowest}" in _text("README.md")
