import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.sentences import sentence_ends
from corpus.statements import coverage, footnotes, statements, withhold

PAGE = """# Pricing

Managers approve up to 12%.[^1] Above that, Dr. Berg decides. Ask first!

## Rules

- One rule[^2]
  - nested rule
- [ ] a task

| name | value |
|---|---|
| ceiling | 12[^1] |
| floor | 2 |

> Quoted claim. Second claim.[^miss]

```
code is no claim. [^1]: capture:not/this
```

[^1]: capture:gdrive/2026-01-15-northwind-msa
[^2]: Told in capture:slack/C1/p2, and in
    capture:gdrive/Some%20File.
"""
MSA = "capture:gdrive/2026-01-15-northwind-msa"


def test_sentences_points_and_rows_are_statements_with_their_sources() -> None:
    found = statements(PAGE)
    assert [(s.text, s.heading[-1], s.sources) for s in found] == [
        ("Managers approve up to 12%.[^1]", "Pricing", (MSA,)),
        ("Above that, Dr. Berg decides.", "Pricing", ()),
        ("Ask first!", "Pricing", ()),
        ("One rule[^2]", "Rules", ("capture:slack/C1/p2", "capture:gdrive/Some%20File")),
        ("nested rule", "Rules", ()),
        ("a task", "Rules", ()),
        ("| ceiling | 12[^1] |", "Rules", (MSA,)),
        ("| floor | 2 |", "Rules", ()),
        ("Quoted claim.", "Rules", ()),
        ("Second claim.[^miss]", "Rules", ()),
    ]
    assert all(PAGE[s.start : s.end] == s.text for s in found)
    assert coverage(found) == (3, 10)


def test_footnotes_are_read_outside_code() -> None:
    assert footnotes(PAGE) == {
        "1": MSA,
        "2": "Told in capture:slack/C1/p2, and in capture:gdrive/Some%20File.",
    }


def test_a_withheld_footnote_keeps_only_the_type_of_its_source() -> None:
    seen = withhold(PAGE, {MSA: "gdrive", "capture:slack/C1/p2": "slack"})
    assert "[^1]: withheld (gdrive)\n[^2]: withheld (slack), capture:gdrive/Some%20File\n" in seen
    assert "northwind" not in seen
    assert "Told in" not in seen
    assert seen.startswith(PAGE.partition("[^1]: capture:gdrive")[0])


def test_every_paragraph_of_a_withheld_footnote_goes() -> None:
    text = "Claim.[^a]\n\n[^a]: capture:hr/1\nlazy secret\n\n    indented secret\n\n\n    more secret\n\nOpen.\n"
    assert withhold(text, {"capture:hr/1": "hr"}) == "Claim.[^a]\n\n[^a]: withheld (hr)\n\nOpen.\n"


def test_a_withheld_reference_is_hidden_wherever_and_however_it_is_spelt() -> None:
    hidden = {"capture:gdrive/p%C3%A5%20tur": "gdrive"}
    text = "See capture:gdrive/på%20tur. Or (capture:gdrive/p%c3%a5%20tur)\n\n    capture:gdrive/p%C3%A5%20tur\n"
    assert withhold(text, hidden) == "See withheld (gdrive). Or (withheld (gdrive))\n\n    withheld (gdrive)\n"


def test_withholding_nothing_changes_nothing() -> None:
    assert withhold(PAGE, {}) == PAGE


@given(st.lists(st.sampled_from(PAGE.split("\n")), max_size=15).map("\n".join))
def test_no_withheld_reference_is_left_in_any_arrangement(text: str) -> None:
    seen = withhold(text, {MSA: "gdrive"})
    assert "northwind" not in seen
    assert withhold(seen, {MSA: "gdrive"}) == seen


@given(st.text(max_size=200))
def test_statements_of_any_text_are_slices_of_it_in_order(text: str) -> None:
    found = statements(text)
    assert all(text[s.start : s.end] == s.text for s in found)
    assert [s.start for s in found] == sorted(s.start for s in found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two. Three.", 3),
        ("It costs 12.5 kroner, e.g. On Mondays. Done.", 2),
        ("Møtet er kl. 10 og gjelder bl.a. Oslo, jf. Avtalen. Neste er 3. mars.", 2),
        ("Ring J. K. Berg. Han svarer.", 2),
        ("See item No. 4. It says No. Then stop.", 3),
        ('He said "Stop." Then he left.', 2),
        ("Really?! Yes… Perhaps. no capital after", 3),
        ("Run `a. B` now. Then rest.", 2),
        ("Fact one.[^1] Fact two.[^2][^3] Fact three.", 3),
        ("It runs 24/7 etc. The rest does not.", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, count: int) -> None:
    assert len(sentence_ends(text)) + 1 == count
