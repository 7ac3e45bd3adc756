"""docs/frontmatter.md says of every key what the page format takes, and its example is a page."""

import enum
import re

import pytest

from corpus import page
from corpus.vocabulary import Access, ChangePolicy, Criticality, Knowledge, PageType, Reach, Verb
from house.repository import ROOT

DOCUMENT = (ROOT / "docs" / "frontmatter.md").read_text(encoding="utf-8")
EXAMPLE = DOCUMENT.partition("```\n")[2].partition("```\n")[0]
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCUMENT, re.MULTILINE))


def test_every_authored_key_stands_in_the_document_and_in_its_example() -> None:
    assert tuple(ROWS) == page.AUTHORED_KEYS
    left_out = {key for key in page.AUTHORED_KEYS if f"\n{key}: " not in EXAMPLE}
    assert left_out == {"change_policy", "domain"}


def test_the_example_is_a_page() -> None:
    front = page.parse(EXAMPLE.encode()).front
    assert (front.title, front.sensitivity, front.review_days) == ("Salary bands", Reach.NAMED_ONLY, 365)
    assert (len(front.relations), len(front.figures), len(front.sources)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("type", PageType),
        ("change_policy", ChangePolicy),
        ("access", Access),
        ("sensitivity", Reach),
        ("criticality", Criticality),
        ("knowledge", Knowledge),
    ],
)
def test_a_key_of_a_closed_set_is_told_with_all_its_words(key: str, words: type[enum.StrEnum]) -> None:
    assert [word for word in words if f"`{word}`" not in ROWS[key]] == []


def test_every_verb_and_every_fact_of_the_brain_is_named() -> None:
    assert [word for word in (*Verb, *page.SYSTEM_KEYS) if f"`{word}`" not in " ".join(DOCUMENT.split())] == []


def test_the_defaults_that_are_told_are_those_of_a_page_that_says_nothing() -> None:
    front = page.parse(b"---\ntype: topic\ntitle: A\naccess: public\n---\nText.\n").front
    for key in ("change_policy", "sensitivity", "criticality"):
        assert ROWS[key].endswith(f"| `{getattr(front, key)}`")
    assert f"`P{front.review_days}D`" in ROWS["review_after"]
