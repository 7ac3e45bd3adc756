from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import page
from corpus.errors import Malformed

DEFAULTS = {
    "type": "topic",
    "title": "From the file name",
    "owner": "alice",
    "access": "department",
    "sources": ["capture:git/a"],
}
SYSTEM = {
    "id": "n_2ab",
    "status": "live",
    "revision": 3,
    "verified": datetime(2026, 9, 2, tzinfo=UTC),
    "approved_by": ["bob"],
    "position": 17,
}
FILE = """---
# kept comment
layout: core
title: "Style guides"   # as is
owner: ["#team"]
type: weird
status: draft
review_in: 12 months

tags:
  - a
  - b
---

# Another heading
Text.
"""


def test_a_bare_file_gets_the_missing_keys_in_our_order() -> None:
    composed = page.compose(b"# Paid *time* off\n\nText.\n", DEFAULTS).decode()
    assert composed == (
        "---\ntype: topic\ntitle: Paid time off\nowner: alice\naccess: department\n"
        'sources: ["capture:git/a"]\n---\n# Paid *time* off\n\nText.\n'
    )


def test_a_file_without_a_heading_takes_the_default_title() -> None:
    assert page.parse(page.compose(b"Text.\n", DEFAULTS)).front.title == "From the file name"


def test_the_files_own_lines_stay_and_clashing_keys_are_set_aside() -> None:
    composed = page.compose(FILE.encode(), DEFAULTS).decode()
    assert composed == FILE.replace("status: draft\n", "").replace("owner: [", "imported-owner: [").replace(
        "type: weird", "imported-type: weird"
    ).replace("  - b\n", '  - b\ntype: topic\nowner: alice\naccess: department\nsources: ["capture:git/a"]\n')
    parsed = page.parse(composed.encode())
    assert parsed.front.title == "Style guides"
    assert parsed.unknown["imported-owner"] == ["#team"]
    assert parsed.unknown["tags"] == ["a", "b"]


def test_a_key_already_set_aside_is_not_overwritten() -> None:
    parsed = page.parse(page.compose(b"---\nimported-owner: x\nowner: [y]\n---\n", DEFAULTS))
    assert parsed.unknown == {"imported-owner": "x", "imported-owner-2": ["y"]}


def test_composing_again_changes_nothing() -> None:
    once = page.compose(FILE.encode(), DEFAULTS)
    assert page.compose(once, {**DEFAULTS, "title": "Other"}) == once


def test_an_indented_block_and_crlf_are_composed_too() -> None:
    parsed = page.parse(page.compose(b"---\r\n  layout: x\r\n  order: 2\r\n---\r\nA\r\n", DEFAULTS))
    assert parsed.unknown == {"layout": "x", "order": 2}
    assert parsed.text == "A\n"


@pytest.mark.parametrize("body", [b"---\n\nSome prose.\n\n---\n\nMore.\n", b"---\nNo end\n", b"", b"---\n- a\n---\n"])
def test_a_rule_at_the_top_is_no_frontmatter(body: bytes) -> None:
    assert page.parse(page.compose(body, DEFAULTS)).text.encode() == body


def test_a_file_whose_frontmatter_is_not_yaml_is_refused() -> None:
    with pytest.raises(Malformed, match="frontmatter_syntax"):
        page.compose(b"---\ntitle: {{ page.title\n---\n", DEFAULTS)


def test_defaults_that_are_not_ours_are_refused() -> None:
    with pytest.raises(Malformed, match="invalid_key"):
        page.compose(b"Text.\n", {**DEFAULTS, "access": "everyone"})


def test_an_export_shows_the_facts_and_imports_as_it_was() -> None:
    authored = page.compose(FILE.encode(), DEFAULTS)
    exported = page.project(page.parse(authored), SYSTEM)
    assert b"id: n_2ab\nstatus: live\nrevision: 3\nverified: 2026-09-02T00:00:00+00:00\n" in exported
    assert page.strip(exported) == authored
    assert page.compose(exported, {**DEFAULTS, "category": "new"}) == authored


def test_an_export_overrides_an_id_that_the_author_wrote() -> None:
    written = page.parse(b"---\nid: n_1\ntype: topic\ntitle: A\naccess: hr\n---\n")
    assert page.project(written, SYSTEM).count(b"id: n_2ab") == 1
    assert b"n_1" not in page.project(written, SYSTEM)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=60)


@given(body=TEXT, value=TEXT, headed=st.booleans())
def test_any_text_and_any_unknown_value_survive_a_round_trip(body: str, value: str, headed: bool) -> None:
    defaults = {**DEFAULTS, "attributes": {"note": value, "count": 3, "none": None, "list": [value]}}
    raw = (f"---\nlayout: x\n---\n{body}" if headed else f"\n{body}").encode()
    parsed = page.parse(page.compose(raw, defaults))
    assert parsed.front.attributes == defaults["attributes"]
    assert parsed.text == (body if headed else f"\n{body}")
    exported = page.project(parsed, SYSTEM)
    assert page.strip(exported) == parsed.body
    assert page.compose(exported, {}) == parsed.body


@given(st.binary(max_size=200))
def test_whatever_composes_also_parses(raw: bytes) -> None:
    for body in (raw, b"---\n" + raw + b"\n---\n"):
        try:
            composed = page.compose(body, DEFAULTS)
        except Malformed:
            continue
        assert page.parse(composed).body == composed


ACCESS, REACH = "public, department, project, manager, hr, executive, restricted", "ordinary, restricted, sealed"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("access: exectuive", ACCESS),
        ("Access: executive", ACCESS),
        ("access:", ACCESS),
        ("sensitivity: Restricted", REACH),
        ("SENSITIVITY: sealed", REACH),
    ],
)
def test_a_file_whose_word_on_who_may_see_it_is_not_understood_is_refused_with_the_words_there_are(
    line: str, words: str
) -> None:
    with pytest.raises(Malformed) as told:
        page.compose(f"---\ntitle: A\n{line}\n---\nText.\n".encode(), DEFAULTS)
    assert (told.value.code, told.value.line) == ("sight_unclear", 3)
    assert told.value.what.endswith(f"one of {words}.")
    assert "exectuive" not in told.value.what
