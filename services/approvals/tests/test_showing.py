"""Text as a reviewer sees it."""

import re
from html import unescape

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from approvals.web import showing


@pytest.mark.parametrize(
    "character", ["\u202e", "\u200b", "\u00ad", "\u2066", "\ufeff", "\u00a0", "\u3164", "\x1b", "\r"]
)
def test_what_hides_is_written_as_its_code_point(character: str) -> None:
    shown = str(showing.visible(f"a{character}b"))
    assert character not in shown
    assert f"U+{ord(character):04X}" in shown


@pytest.mark.parametrize("text", ["Rømmegrøt", "naïve café", "a\tb", "12 %", "日本語"])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert str(showing.visible(text)) == text


@for_all(st.text())
def test_nothing_is_lost_and_nothing_becomes_markup(text: str) -> None:
    shown = str(showing.visible(text))
    tags = re.findall(r"<[^>]*>", shown)
    assert all(tag == "</span>" or tag.startswith('<span class="hidden" title="') for tag in tags)
    told = unescape(re.sub(r"<span[^>]*>U\+([0-9A-F]+)</span>", lambda found: chr(int(found[1], 16)), shown))
    assert len(told) == len(text) or not text.isprintable()


lines = st.lists(st.sampled_from(["one", "two", "three", "four", ""]), max_size=30)


@for_all(lines, lines)
def test_a_comparison_tells_both_texts_but_for_what_it_leaves_out(old: list[str], new: list[str]) -> None:
    shown = showing.comparison("\n".join(old), "\n".join(new))
    if "\n".join(old) == "\n".join(new):
        assert shown == []
        return
    before, after = "\n".join(old).split("\n"), "\n".join(new).split("\n")
    for line in shown:
        if line.before is not None:
            assert before[line.before - 1] == str(line.text)
        if line.after is not None:
            assert after[line.after - 1] == str(line.text)
    left_out = sum(int(str(line.text).split()[0]) for line in shown if line.kind == "skip")
    assert sum(line.kind in {"same", "gone"} for line in shown) + left_out == len(before)
    assert sum(line.kind in {"same", "new"} for line in shown) + left_out == len(after)


def test_long_unchanged_stretches_are_counted() -> None:
    old = [f"line {n}" for n in range(40)]
    new = [*old[:20], "changed", *old[21:]]
    shown = showing.comparison("\n".join(old), "\n".join(new))
    assert [line.kind for line in shown] == ["skip", *["same"] * 3, "gone", "new", *["same"] * 3, "skip"]
    assert [str(line.text) for line in shown if line.kind == "skip"] == ["17 unchanged lines", "16 unchanged lines"]
