from collections.abc import Callable
from time import perf_counter

import pytest

from corpus.chunks import Chunk, chunk, context
from corpus.page import compose
from corpus.statements import statements, withhold

SIZE = 100_000
HOSTILE = {
    "brackets": "[" * SIZE,
    "notes": "[^" * (SIZE // 2),
    "dots": "." * SIZE,
    "initials": "A. " * (SIZE // 3),
    "quotes": ">" * SIZE,
    "quoted lines": "> a\n" * (SIZE // 4),
    "deep list": "".join("  " * depth + "- a\n" for depth in range(300)),
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * (SIZE // 6),
    "definitions": "[^1]: capture:a/b\n" * (SIZE // 18),
    "headings": "# a\n" * (SIZE // 4),
    "ticks": "`" * SIZE,
    "stars": "* " * (SIZE // 2),
    "blank": " " * SIZE,
    "lines": "\n" * SIZE,
    "one word": "x" * SIZE,
    "stops and quotes": '."' * (SIZE // 2),
    "schemes": "capture:" * (SIZE // 8),
    "references": "capture:a/b " * (SIZE // 12),
    "angles": "<" * SIZE,
}
WORK: dict[str, Callable[[str], object]] = {
    "chunk": chunk,
    "statements": statements,
    "withhold": lambda text: withhold(text, {"capture:a/b": "a"}),
    "context": lambda text: context("t", Chunk((), 0, len(text), text)),
    "compose": lambda text: compose(text.encode(), {"type": "topic", "access": "public", "title": "T"}),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_text_costs_bounded_time(work: str, shape: str) -> None:
    started = perf_counter()
    WORK[work](HOSTILE[shape])
    assert perf_counter() - started < 15


def test_ten_megabytes_of_prose_are_chunked() -> None:
    found = chunk("Hei verden. " * 850_000)
    assert sum(len(c.body.split()) for c in found) == 1_700_000
