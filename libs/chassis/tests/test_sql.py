"""Named statements: one name each, none empty, none unknown."""

import pytest

from chassis import sql

TEXT = """-- What this file is for.

-- name: list_pages
-- why: the index serves it
select id from pages

-- name: drop_page
delete from pages where id = $1
"""


def test_statements_are_found_by_name() -> None:
    statements = sql.parse("x.sql", TEXT)
    assert list(statements) == ["list_pages", "drop_page"]
    assert statements.list_pages.endswith("select id from pages")
    assert statements["drop_page"] == "delete from pages where id = $1"


def test_an_unknown_name_says_which_file_lacks_it() -> None:
    with pytest.raises(sql.BadSql, match=r"x\.sql has no statement named list_page$"):
        sql.parse("x.sql", TEXT).list_page  # noqa: B018 - looking it up is the point


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("select 1\n-- name: a\nselect 2", "before its first"),
        ("-- name: a\nselect 1\n-- name: a\nselect 2", "twice"),
        ("-- name: a\n-- nothing\n-- name: b\nselect 2", "empty"),
        ("-- name: ListPages\nselect 1", "snake_case"),
    ],
)
def test_a_file_that_breaks_the_rules_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(sql.BadSql, match=complaint):
        sql.parse("x.sql", text)
