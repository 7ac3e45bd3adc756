"""What is measured, and how it is shown."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: what it is, the two figures in words, the ratio or figure that is held, and the bound."""

    what: str
    ours: str
    beside: str
    value: float
    bound: float
    at_least: bool
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def cells(self) -> tuple[str, ...]:
        sign = "≥" if self.at_least else "≤"
        held = "yes" if self.holds else "NO"
        return (
            self.what,
            self.ours,
            self.beside,
            f"{self.value:.2f}{self.unit}",
            f"{sign} {self.bound:g}{self.unit}",
            held,
        )


HEAD = ("what", "ours", "beside it", "value", "held", "holds")


def p50(seconds: Sequence[float]) -> float:
    """The median, in milliseconds."""
    return statistics.median(seconds) * 1000


def show(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD), *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def write(path: Path, lines: Sequence[Line], notes: str) -> None:
    """Write the document that `make bench` leaves."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    text = f"""# Benchmarks

Written by `make bench`; not edited by hand. Each line compares two things that were measured in the same run, on the
same machine ({os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}); trust the ratios.

{show(lines)}

## How

{notes.strip()}
"""
    path.write_text(text)
