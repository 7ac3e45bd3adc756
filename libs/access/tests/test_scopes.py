import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.scopes import Category, Exact, Prefix, parse_scope, written
from contracts.errors import Refused


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("**", Prefix("")),
        ("topics/pricing/**", Prefix("topics/pricing/")),
        ("topics/pricing.md", Exact("topics/pricing.md")),
        ("a-b/c1.md", Exact("a-b/c1.md")),
        ("category:commercial", Category("commercial")),
        ("category:økonomi og drift", Category("økonomi og drift")),
    ],
)
def test_a_scope_is_one_page_a_prefix_or_a_category(text: str, scope: object) -> None:
    assert parse_scope(text) == scope


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "topics/*",
        "topics/**/x.md",
        "topics/pricing",
        "topics**",
        "/topics/**",
        "Topics/**",
        "topics//**",
        "../secrets.md",
        "topics/-a.md",
        "topics/a--b.md",
        "tоpics/a.md",  # noqa: RUF001 - a Cyrillic o on purpose
        "topics/a.md\n",
        "category:",
        "category: x",
        "category:a/b",
        "category:a*",
        "category:a\x00b",
        "category:" + "x" * 65,
        "a/" * 8 + "b.md",
        "a" * 260 + ".md",
        "topics/**,category:x",
    ],
)
def test_anything_else_is_refused_and_never_repaired(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_scope(text)
    assert refused.value.code == "scope_malformed"
    if text:
        assert text not in refused.value.what


@given(st.text(max_size=40))
def test_what_is_accepted_reads_back_as_it_was_written(text: str) -> None:
    try:
        scope = parse_scope(text)
    except Refused:
        return
    assert written(scope) == text
