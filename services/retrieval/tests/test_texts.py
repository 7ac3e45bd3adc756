"""Queries, titles, trust and pages as rows: no I/O."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.enums import Knowledge
from contracts.errors import Refused
from retrieval.domain import trust
from retrieval.domain.pages import index
from retrieval.domain.texts import clean_query, spoken_path, title_key

NOW = datetime(2026, 9, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "code"),
    [("", "query_too_short"), ("a", "query_too_short"), (" \u202e\u200b\x00a ", "query_too_short"),
     ("x" * 100_000, "query_too_long")],
    ids=["empty", "one", "invisible", "huge"],
)  # fmt: skip
def test_a_query_of_unfit_length_is_refused(query: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        clean_query(query)
    assert refused.value.code == code


def test_what_cannot_be_seen_is_no_part_of_a_query() -> None:
    assert clean_query("\ufeffdis\u202ecount\x00\x1b \n\tceiling\ud800") == "dis count ceiling"


def test_titles_are_compared_folded_and_on_one_line() -> None:
    assert title_key(" Straße  \nÆØÅ ") == title_key("STRASSE æøå")
    assert spoken_path("topics/pricing/discount-ceiling.md") == "topics pricing discount ceiling"


@pytest.mark.parametrize(
    ("knowledge", "age", "label"),
    [
        (Knowledge.VERIFIED, 89, "canon_verified"),
        (Knowledge.VERIFIED, 90, "canon_stale"),
        (Knowledge.HYPOTHESIS, 0, "canon_stale"),
        (Knowledge.UNRESOLVED, 0, "canon_stale"),
    ],
)
def test_trust_is_worked_out_when_read(knowledge: Knowledge, age: int, label: str) -> None:
    assert trust.trust(knowledge, NOW - timedelta(days=age), 90, NOW) == label
    assert trust.trust(knowledge, None, 90, NOW) == "canon_stale"


def test_an_answer_has_the_weakest_label_of_what_it_cites() -> None:
    assert trust.weakest(["canon_verified", "canon_stale"]) == "canon_stale"
    assert trust.weakest(["canon_verified"]) == "canon_verified"
    assert trust.weakest([]) == "no_coverage"


def page(title: str, text: str) -> bytes:
    return f"---\ntype: topic\ntitle: {title}\naccess: public\n---\n{text}".encode()


def test_passages_that_say_the_same_are_told_apart_and_keep_their_fingerprint_across_an_edit() -> None:
    before = index(page("T", "## A\n\nsame\n\n## A\n\nsame\n\n## B\n\nother\n"), "a/t.md", b"k" * 32)
    after = index(page("T", "## A\n\nsame\n\n## A\n\nsame\n\n## B\n\nchanged\n"), "a/t.md", b"k" * 32)
    assert [(row.copy, row.body) for row in before.passages] == [(0, "same"), (1, "same"), (0, "other")]
    kept = {(row.fingerprint, row.copy) for row in before.passages} & {
        (row.fingerprint, row.copy) for row in after.passages
    }
    assert len(kept) == 2
    renamed = index(page("U", "## B\n\nother\n"), "a/t.md", b"k" * 32)
    assert renamed.passages[0].key == before.passages[2].key
    assert renamed.passages[0].fingerprint != before.passages[2].fingerprint


def test_a_page_without_text_is_still_one_passage() -> None:
    (passage,) = index(page("Only a title", ""), "a/t.md", b"k" * 32).passages
    assert (passage.body, passage.said) == ("Only a title", "Only a title\nOnly a title")
