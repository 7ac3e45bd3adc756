"""A folder of Markdown on this machine, as an import sends it: its files in parts, and what is not worth sending."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from contracts.enums import Refusal
from contracts.errors import Refused
from contracts.ingest_messages import ImportFile, RefusedFile
from corpus import paths
from corpus.page import MAX_PAGE_BYTES

SUFFIXES = (".md", ".mdx", ".md.erb")
"""Endings of Markdown files; `.html.md.erb` has the last of them."""
MOST_CHARACTERS = 480_000
"""Characters of one part as JSON: a message on the bus has at most 512 KB (domain rule)."""
MOST_FILES = 250
"""Files in one part: as many facts as the log takes at a time."""
_AROUND = 40  # characters of JSON around a file's name and bytes


@dataclass(slots=True)
class Folder:
    """What was found. `names`: every Markdown file, refused ones among them. `skipped`: whatever is none."""

    names: list[str] = field(default_factory=list)
    refused: list[RefusedFile] = field(default_factory=list)
    skipped: int = 0
    readable: dict[str, Path] = field(default_factory=dict)


def look(root: Path) -> Folder:
    """Find the Markdown files under `root`; folders whose name begins with a dot, and links out of it, are passed by.

    Raises `no_such_folder`, `not_a_folder`, and `unreadable_folder` where a part of it cannot be listed: files are
    known to be gone only after a complete look.
    """
    _check_folder(root)
    root = root.resolve()
    found = Folder()
    for place, folders, files in os.walk(root, onerror=_unreadable):
        linked = [name for name in folders if (Path(place) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in linked)
        found.skipped += len(linked)
        for name in sorted(files):
            _take(found, root, Path(place) / name)
    return found


def colliding(folder: Folder) -> frozenset[str]:
    """Files that would get the same page path as another one of the folder, a refused one perhaps."""
    _, refused = paths.propose_all(folder.names)
    return frozenset(name for name, code in refused.items() if code == "path_collision")


def parts(folder: Folder) -> Iterator[list[ImportFile]]:
    """The files in parts, each small enough to be sent. A file that cannot be read goes to `folder.refused`."""
    part: list[ImportFile] = []
    size = 0
    for name, path in folder.readable.items():
        body = _read(folder, name, path)
        if body is None:
            continue
        adds = 4 * len(body) // 3 + 2 * len(msgspec.json.encode(name)) + _AROUND  # a colliding name is sent twice
        if part and (size + adds > MOST_CHARACTERS or len(part) == MOST_FILES):
            yield part
            part, size = [], 0
        part.append(ImportFile(path=name, text=body))
        size += adds
    if part:
        yield part


def slug(root: Path) -> str:
    """What a source is called after its folder: lower-case letters, digits and single hyphens, at most 64."""
    name = paths.plain(root.resolve().name).lower()
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name).split()
    return "-".join(words)[:64].strip("-") or "folder"


def _check_folder(root: Path) -> None:
    try:
        mode = root.stat().st_mode
    except PermissionError:
        what, remedy = "The folder cannot be opened.", "Make it readable, or import another folder."
        raise Refused("unreadable_folder", what, str(root), remedy) from None
    except OSError:
        what = "There is no such folder."
        raise Refused("no_such_folder", what, str(root), "Name the folder to import.") from None
    if not stat.S_ISDIR(mode):
        what = "This is a file; an import takes a folder of Markdown files."
        raise Refused("not_a_folder", what, str(root), "Name the folder that holds it.")


def _take(found: Folder, root: Path, path: Path) -> None:
    name = path.relative_to(root).as_posix()
    if not name.lower().endswith(SUFFIXES) or not _inside(root, path):
        found.skipped += 1
        return
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode("utf-8", "backslashreplace").decode()
        found.refused.append(_refusal(shown, Refusal.PATH, "The name of the file is not UTF-8."))
        return
    found.names.append(name)
    size = path.stat().st_size
    if size > MAX_PAGE_BYTES:
        what = f"The file is larger than {MAX_PAGE_BYTES // 1024} KB."
        found.refused.append(_refusal(name, Refusal.TOO_LARGE, what))
        return
    found.readable[name] = path


def _inside(root: Path, path: Path) -> bool:
    """Whether this is a regular file of the folder; a link counts where it leads to one."""
    try:
        return path.resolve(strict=True).is_relative_to(root) and stat.S_ISREG(path.stat().st_mode)
    except (OSError, RuntimeError):  # links in a circle: the second one until Python 3.12
        return False


def _read(folder: Folder, name: str, path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_PAGE_BYTES + 1)
    except OSError as error:
        folder.refused.append(_refusal(name, Refusal.UNREADABLE, f"The file cannot be read: {error.strerror}."))
        return None
    if len(body) > MAX_PAGE_BYTES:
        folder.refused.append(_refusal(name, Refusal.TOO_LARGE, "The file has grown while it was read."))
        return None
    return body


def _refusal(name: str, category: Refusal, what: str) -> RefusedFile:
    return RefusedFile(file=name, category=category, line=0, detail=what)


def _unreadable(error: OSError) -> None:
    raise Refused(
        "unreadable_folder",
        "A folder cannot be listed, so the import would be incomplete.",
        str(error.filename),
        "Make it readable, or import another folder.",
    )


def ordered(refused: Sequence[RefusedFile]) -> list[RefusedFile]:
    """Refusals by file name."""
    return sorted(refused, key=lambda one: one.file)
