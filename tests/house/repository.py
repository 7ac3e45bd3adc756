"""What this repository consists of: its members, its files, its tools. Only house tests read it."""

import importlib
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

import msgspec
import yaml

from brain.deployment import opening, prepare
from brain.stack import members

ROOT = Path(__file__).resolve().parents[2]
SERVICES = members.SERVICES
LIBRARIES = tuple(sorted(folder.name for folder in (ROOT / "libs").iterdir() if folder.is_dir()))
IMAGES = {**{name: ROOT / "services" / name for name in SERVICES}, "prepare": ROOT / "deploy" / "prepare"}
"""The folder of each image's Dockerfile and lock."""

DURING_A_JOB = {"prepare": (prepare.Settings, opening.Settings)}

Environment = dict[str, str]


def tool(name: str) -> str:
    """A program of the virtual environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


@cache
def files() -> tuple[Path, ...]:
    """Every file of the repository: those that git tracks, and those that it would."""
    argv = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    named = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(path for path in (ROOT / name for name in named if name) if path.is_file())


def sources(folder: Path) -> list[Path]:
    """The Python files of a member."""
    return sorted((folder / "src").rglob("*.py"))


def documents(path: Path) -> list[dict[str, object]]:
    """The YAML documents of a file."""
    return [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]


def settings(service: str) -> type[msgspec.Struct]:
    """The shape that a service reads its environment into."""
    shape: type[msgspec.Struct] = importlib.import_module(f"{service}.settings").Settings
    return shape


def variables(shape: type[msgspec.Struct]) -> dict[str, bool]:
    """The environment variables of a shape, and whether each is required."""
    return {field.name.upper(): field.required for field in msgspec.structs.fields(shape)}


def of_image(name: str) -> Environment:
    """What the Dockerfile of an image sets for the process, but for Python's own."""
    text = (IMAGES[name] / "Dockerfile").read_text(encoding="utf-8").rpartition("FROM ")[2]
    block = text.partition("ENV ")[2].partition("COPY")[0].replace("\\\n", " ")
    pairs = (word.split("=", 1) for word in block.split())
    return {key: value for key, value in pairs if key != "PATH" and not key.startswith("PYTHON")}


def wrong_settings(shape: type[msgspec.Struct], given: Environment) -> list[str]:
    """What is wrong with an environment: variables that nobody reads, and required ones that are not there."""
    known = variables(shape)
    names = {name.removesuffix("_FILE") for name in given}
    unknown = [f"unknown {name}" for name in sorted(names - set(known))]
    return unknown + [f"missing {name}" for name, required in known.items() if required and name not in names]


def papers_used(given: Environment) -> set[str]:
    """The files below /run/brain that an environment names."""
    return {value.removeprefix("/run/brain/") for value in given.values() if value.startswith("/run/brain/")}
