"""Canonical page paths: checked strictly when given, proposed only by the importer."""

import re
import unicodedata
from collections.abc import Iterable

from corpus.errors import Malformed

MAX_LENGTH = 255
MAX_SEGMENT = 64
MAX_SEGMENTS = 8
SUFFIX = ".md"
RESERVED = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)})

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_FILE_SUFFIXES = (".html.md.erb", ".md.erb", ".mdx", ".md")
_UPPER_TO_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_OUTSIDE = re.compile(r"[^a-z0-9]+")


def check(path: str) -> str:
    """Return `path` unchanged, or refuse it; a given path is never repaired.

    Segments are 1-64 lower-case ASCII letters, digits and single inner hyphens; at most 8 of them and 255 characters,
    the last followed by `.md`, which does not count towards its 64. Positions in messages count from 1.
    """
    if not path:
        raise Malformed("path_empty", "The path is empty.", 1, 1)
    stem = path.removesuffix(SUFFIX)
    for position in range(min(len(stem), MAX_LENGTH + 1)):
        if not _fits(stem, position):
            raise _offending(path, position)
    if len(path) > MAX_LENGTH:
        raise Malformed("path_length", f"The path has more than {MAX_LENGTH} characters.", 1, MAX_LENGTH + 1)
    if stem == path or not stem:
        raise Malformed("path_suffix", f"The path does not end in a name followed by {SUFFIX}.", 1, len(path))
    _check_segments(stem.split("/"))
    return path


def _fits(stem: str, position: int) -> bool:
    character = stem[position]
    if character in _LETTERS:
        return True
    if character not in "-/" or position == 0 or position + 1 == len(stem):
        return False
    closes_segment = character == "-" and stem[position + 1] == "/"
    return stem[position - 1] in _LETTERS and not closes_segment


def _offending(path: str, position: int) -> Malformed:
    character = path[position]
    name = unicodedata.name(character, "unnamed")
    what = f"U+{ord(character):04X} at position {position + 1} is not allowed there in a path ({name})."
    return Malformed("path_character", what, 1, position + 1)


def _check_segments(segments: list[str]) -> None:
    if len(segments) > MAX_SEGMENTS:
        raise Malformed("path_depth", f"The path has {len(segments)} segments; at most {MAX_SEGMENTS} are allowed.")
    for number, segment in enumerate(segments, start=1):
        if len(segment) > MAX_SEGMENT:
            what = f"Segment {number} of the path has {len(segment)} characters; at most {MAX_SEGMENT} are allowed."
            raise Malformed("path_segment_length", what)
        if segment in RESERVED:
            raise Malformed("path_reserved", f"Segment {number} of the path is a reserved device name.")


def one_form(filename: str) -> str:
    """A file's name in Unicode's composed form (NFC): systems spell the same name in different code points."""
    return unicodedata.normalize("NFC", filename)


def plain(text: str) -> str:
    """The text without accents: what Unicode decomposes into a letter and combining marks keeps the letter.

    `å` and `é` become `a` and `e` however they are spelled. What Unicode does not decompose, `ø` or `æ`, stays.
    """
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def propose(filename: str) -> str:
    """The canonical path that the importer proposes for a file's relative name, the same for every spelling of it.

    Refused where a segment keeps no letter or digit, steps upwards, is reserved, or the outcome is too long or deep.
    """
    segments = [segment for segment in plain(filename).replace("\\", "/").split("/") if segment not in ("", ".")]
    if not segments:
        raise Malformed("path_empty", "The file name leaves nothing to make a path of.")
    segments[-1] = _without_suffix(segments[-1])
    proposed = []
    for number, segment in enumerate(segments, start=1):
        words = _OUTSIDE.sub("-", segment.translate(_UPPER_TO_LOWER)).strip("-")
        if not words:
            raise Malformed("path_empty", f"Segment {number} of the file name has no letter a-z and no digit.")
        proposed.append(words)
    return check("/".join(proposed) + SUFFIX)


def _without_suffix(name: str) -> str:
    lowered = name.translate(_UPPER_TO_LOWER)
    for suffix in _FILE_SUFFIXES:
        if lowered.endswith(suffix):
            return name[: -len(suffix)]
    return name


def propose_all(filenames: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Proposed path by file name, and the refusal's code by file name.

    Files that would share one path are all refused as `path_collision`: choosing between them is a person's work.
    """
    refused: dict[str, str] = {}
    claims: dict[str, list[str]] = {}
    for filename in dict.fromkeys(filenames):
        try:
            claims.setdefault(propose(filename), []).append(filename)
        except Malformed as malformed:
            refused[filename] = malformed.code
    accepted = {claimants[0]: path for path, claimants in claims.items() if len(claimants) == 1}
    for claimants in claims.values():
        if len(claimants) > 1:
            refused.update(dict.fromkeys(claimants, "path_collision"))
    return accepted, refused


def title_of(filename: str) -> str:
    """A readable title made of a file's name, for a page that has neither a title nor a heading."""
    name = _without_suffix(one_form(filename).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])
    words = " ".join("".join(c if c.isprintable() else " " for c in re.sub(r"[-_.\s]+", " ", name)).split())
    return (words[:1].upper() + words[1:])[:200] or "Untitled"
