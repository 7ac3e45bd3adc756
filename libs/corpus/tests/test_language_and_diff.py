import random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.diff import Hunk, line_diff
from corpus.language import detect

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", " "]), max_size=12).map("\n".join)


def applied(old: str, hunks: list[Hunk]) -> str:
    lines = old.split("\n")
    for hunk in reversed(hunks):
        assert tuple(lines[hunk.old_start : hunk.old_start + len(hunk.old)]) == hunk.old
        lines[hunk.old_start : hunk.old_start + len(hunk.old)] = hunk.new
    return "\n".join(lines)


@given(TEXTS, TEXTS)
def test_the_hunks_turn_the_old_text_into_the_new(old: str, new: str) -> None:
    hunks = line_diff(old, new)
    assert applied(old, hunks) == new
    assert bool(hunks) == (old != new)


def test_a_changed_line_is_one_hunk() -> None:
    assert line_diff("a\nb\nc", "a\nB\nc") == [Hunk(1, 1, ("b",), ("B",))]


@pytest.mark.parametrize("kinds", [1, 2, 150, 5000])
def test_repetitive_texts_cost_bounded_time(kinds: int) -> None:
    chance = random.Random(kinds)
    old, new = ("\n".join(f"line {chance.randrange(kinds)}" for _ in range(8_000)) for _ in range(2))
    started = perf_counter()
    assert applied(old, line_diff(old, new)) == new
    assert perf_counter() - started < 20


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The account managers may approve up to 12 percent without escalation.", "english"),
        ("Kundeansvarlige kan godkjenne inntil 12 prosent uten å eskalere det.", "norwegian"),
        ("Dette er ikkje noko vi treng å gjere med ein gong.", "norwegian"),
        ("", "english"),
        ("12 % 34", "english"),
    ],
)
def test_the_language_is_told_by_function_words(text: str, language: str) -> None:
    assert detect(text) == language
