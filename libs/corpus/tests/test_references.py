import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import Malformed
from corpus.references import Reference, capture_reference, find, parse_reference

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)


@given(NAMES, NAMES)
def test_a_reference_gives_back_its_source_and_id(source: str, external_id: str) -> None:
    text = capture_reference(source, external_id)
    assert parse_reference(text) == Reference(source, external_id)
    assert Reference(source, external_id).text == text


@given(NAMES, NAMES)
def test_a_reference_is_found_whole_in_prose(source: str, external_id: str) -> None:
    text = capture_reference(source, external_id)
    prose = f"It says so ({text}), and {text}. So there."
    assert [prose[start:end] for start, end, _ in find(prose)] == [text, text]


@pytest.mark.parametrize(
    ("source", "external_id", "text"),
    [
        ("gdrive", "2026-01-15-northwind-msa", "capture:gdrive/2026-01-15-northwind-msa"),
        ("slack", "C1/p 2", "capture:slack/C1/p%202"),
        ("a/b", "på~", "capture:a%2Fb/p%C3%A5%7E"),
        ("crm", "Acme Inc.", "capture:crm/Acme%20Inc%2E"),
    ],
)
def test_what_is_not_plain_is_percent_encoded(source: str, external_id: str, text: str) -> None:
    assert capture_reference(source, external_id) == text


@pytest.mark.parametrize(
    "text",
    ["", "capture:", "capture:a", "capture:a/", "capture:/b", "http://a/b", "capture:a/b c", "capture:a/%ff",
     "capture:a/%00", " capture:a/b"],
)  # fmt: skip
def test_what_is_no_reference_is_none(text: str) -> None:
    assert parse_reference(text) is None


@pytest.mark.parametrize(("source", "external_id"), [("", "a"), ("a", ""), ("a", "\0"), ("a", "\ud800")])
def test_a_reference_needs_both_parts(source: str, external_id: str) -> None:
    with pytest.raises(Malformed, match="invalid_reference"):
        capture_reference(source, external_id)
