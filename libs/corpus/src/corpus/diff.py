"""What changed between two texts, by lines."""

from collections import Counter
from difflib import SequenceMatcher

import msgspec

# Equal pairs of lines that are compared at most; above it (hundreds of copies of one line) the answer is one hunk.
_MAX_PAIRS = 500_000


class Hunk(msgspec.Struct, frozen=True):
    """Lines `old` were replaced by lines `new`; either may be empty. Starts count lines from 0."""

    old_start: int
    new_start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def line_diff(old: str, new: str) -> list[Hunk]:
    """The changes that turn `old` into `new`, in order; texts that are equal have none."""
    before, after = old.split("\n"), new.split("\n")
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    tail = next((n for n in range(shorter - head) if before[-1 - n] != after[-1 - n]), shorter - head)
    mine, theirs = before[head : len(before) - tail], after[head : len(after) - tail]
    return [
        Hunk(head + a, head + c, tuple(mine[a:b]), tuple(theirs[c:d]))
        for kind, a, b, c, d in _opcodes(mine, theirs)
        if kind != "equal"
    ]


def _opcodes(mine: list[str], theirs: list[str]) -> list[tuple[str, int, int, int, int]]:
    if not mine and not theirs:
        return []
    counts = Counter(line for line in theirs if line.strip())
    if sum(counts[line] for line in mine) > _MAX_PAIRS:
        return [("replace", 0, len(mine), 0, len(theirs))]
    return list(SequenceMatcher(_is_blank, mine, theirs, autojunk=False).get_opcodes())


def _is_blank(line: str) -> bool:
    return not line.strip()
