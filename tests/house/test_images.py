"""Images: each holds one service, its libraries and what they ask for, pinned and hashed, and runs without a right."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import render_locks
from house.repository import IMAGES, LIBRARIES, ROOT, SERVICES, files, sources, tool

MEMBERS = sorted([*(ROOT / "libs").iterdir(), *(ROOT / "services").iterdir(), ROOT / "cli"])
DOCKERFILES = {name: folder / "Dockerfile" for name, folder in IMAGES.items()}
each_image = pytest.mark.parametrize("name", IMAGES)
_PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^ ;\\]+)", re.MULTILINE | re.IGNORECASE)


def _member(name: str) -> str:
    return "cli" if name == "prepare" else name


def _pins(text: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Name to version and hashes."""
    found = {}
    for block in re.split(r"\n(?=\S)", text):
        if pin := _PIN.match(block):
            found[pin[1].lower()] = (pin[2], frozenset(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block)))
    return found


def _lock(folder: Path) -> dict[str, tuple[str, frozenset[str]]]:
    return _pins((folder / "requirements.lock").read_text(encoding="utf-8"))


def test_every_service_has_its_image_its_papers_and_its_manifest() -> None:
    missing = [
        str(path.relative_to(ROOT))
        for name in SERVICES
        for path in (
            *(ROOT / "services" / name / each for each in ("Dockerfile", "README.md", "pyproject.toml")),
            ROOT / "services" / name / "requirements.lock",
            ROOT / "deploy" / "k8s" / "base" / f"{name}.yaml",
        )
        if not path.is_file()
    ]
    assert missing == []


@each_image
def test_the_linter_has_nothing_to_say(name: str) -> None:
    ended = subprocess.run(
        [tool("hadolint"), "--no-color", str(DOCKERFILES[name])], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "")


@each_image
def test_an_image_holds_exactly_the_libraries_of_its_service(name: str) -> None:
    text = DOCKERFILES[name].read_text(encoding="utf-8")
    copied = set(re.findall(r"^COPY libs/([a-z]+) libs/\1$", text, re.MULTILINE))
    installed = set(re.findall(r"\./libs/([a-z]+)", text))
    wanted = set(LIBRARIES) if name == "prepare" else render_locks.libraries(name)  # every member brings migrations
    assert copied == installed == wanted


@each_image
def test_a_process_in_an_image_is_nobody_and_no_shell(name: str) -> None:
    lines = DOCKERFILES[name].read_text(encoding="utf-8").rpartition("FROM ")[2].splitlines()
    assert "USER 10001:10001" in lines
    assert [line for line in lines if line.startswith("ENTRYPOINT")] == [
        'ENTRYPOINT ["brain"]' if name == "prepare" else f'ENTRYPOINT ["python", "-m", "{name}"]'
    ]
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert not any(line.startswith(("RUN", "ADD")) for line in lines)


@each_image
def test_a_lock_pins_what_its_members_ask_for_and_what_the_root_lock_has(name: str) -> None:
    root, lock = _lock(ROOT), _lock(IMAGES[name])
    asked = {re.split(r"[\[=<> ;]", text)[0].lower() for text in render_locks.wanted(_member(name))}
    assert asked - set(lock) == set()
    assert {package: pin for package, pin in lock.items() if root.get(package) != pin} == {}
    assert all(hashes for _, hashes in lock.values())


@pytest.mark.parametrize("folder", [ROOT, *IMAGES.values()], ids=lambda folder: folder.name)
def test_a_lock_names_no_address_and_no_member(folder: Path) -> None:
    text = (folder / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert re.findall(r"^(?:brain-.*|-.*)$", text, re.MULTILINE) == []


@pytest.mark.parametrize("name", SERVICES)
def test_whatever_a_service_imports_is_in_its_image(name: str) -> None:
    libraries = render_locks.libraries(name)
    lock = set(_lock(IMAGES[name]))
    homes = {
        module: {distribution.lower() for distribution in names} for module, names in packages_distributions().items()
    }
    folders = [ROOT / "services" / name, *(ROOT / "libs" / library for library in libraries)]
    absent = set()
    for path in (path for folder in folders for path in sources(folder)):
        for module in _imported(path):
            inside = module in sys.stdlib_module_names or module in {name, *libraries}
            if not inside and not homes.get(module, {module}) & lock:
                absent.add(f"{path.relative_to(ROOT)}: {module}")
    assert absent == set()


@pytest.mark.parametrize("folder", MEMBERS, ids=lambda folder: folder.name)
def test_whatever_stands_beside_the_code_is_packed_with_it(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    patterns: dict[str, list[str]] = project["tool"]["setuptools"]["package-data"]
    packed = {
        path
        for package, globs in patterns.items()
        for glob in globs
        for path in (folder / "src" / ("" if package == "*" else package.replace(".", "/"))).glob(
            f"**/{glob}" if package == "*" else glob
        )
    }
    beside = {path for path in files() if path.is_relative_to(folder / "src") and path.suffix != ".py"}
    assert beside - packed == set()


def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
