from datetime import date
from decimal import Decimal

import pytest

from corpus import page
from corpus.errors import Malformed
from corpus.page import Access, ChangePolicy, Criticality, Knowledge, PageType, Reach, Verb

FULL = b"""---
type: data_source
title: Discount ceiling
summary: Up to 12 % alone.
owner: alice
change_policy: owner
access: restricted
sensitivity: restricted
category: commercial
domain: pricing
criticality: bedrock
as_of: 2026-09-02
review_after: P2W
knowledge: unresolved
attributes: {country: NO, version: 1.10, ceiling: 12}
relations: [{verb: is_part_of, to: n_2ab, knowledge: verified}, {verb: depends on, to: topics/a.md}]
figures:
  - {name: ceiling, value: 12.50, unit: "%", as_of: 2026-09-02, source: "capture:gdrive/msa"}
sources: [capture:gdrive/msa]
country: NO
release: 1.10
flag: true
day: 2026-01-01
count: 12
nothing:
---

Text.
"""


def fault(body: bytes | str) -> Malformed:
    with pytest.raises(Malformed) as refused:
        page.parse(body if isinstance(body, bytes) else body.encode())
    return refused.value


def with_front(lines: str) -> str:
    return f"---\ntype: topic\ntitle: A\naccess: public\n{lines}\n---\nText.\n"


def test_every_authored_key_is_read_into_its_type() -> None:
    front = page.parse(FULL).front
    assert front.type is PageType.DATA_SOURCE
    assert front.type.label == "data source"
    assert (front.access, front.sensitivity) == (Access.RESTRICTED, Reach.NAMED_ONLY)
    assert (front.change_policy, front.criticality) == (ChangePolicy.OWNER, Criticality.BEDROCK)
    assert (front.as_of, front.review_days, front.knowledge) == (date(2026, 9, 2), 14, Knowledge.UNRESOLVED)
    assert [relation.verb for relation in front.relations] == [Verb.IS_PART_OF, Verb.DEPENDS_ON]
    assert front.relations[1].knowledge is None
    assert (front.figures[0].value, front.figures[0].number) == ("12.50", Decimal("12.50"))
    assert front.attributes == {"country": "NO", "version": "1.10", "ceiling": 12}


def test_unknown_keys_are_kept_as_they_are_written() -> None:
    unknown = page.parse(FULL).unknown
    assert unknown == {
        "country": "NO", "release": "1.10", "flag": "true", "day": "2026-01-01", "count": 12, "nothing": None,
    }  # fmt: skip


def test_the_body_starts_after_the_closing_fence() -> None:
    parsed = page.parse(FULL)
    assert parsed.text == "\nText.\n"
    assert FULL.decode().split("\n")[parsed.body_line :][0] == "Text."


def test_defaults_stand_where_a_key_is_absent() -> None:
    front = page.parse(with_front("").replace("\n\n", "\n").encode()).front
    assert (front.owner, front.knowledge, front.id, front.sensitivity) == (None, None, None, Reach.ORDINARY)
    assert front.review_days == 90


def test_a_page_may_name_its_own_id_and_no_other_system_key() -> None:
    assert page.parse(with_front("id: n_2ab").encode()).front.id == "n_2ab"
    for key in ("status", "revision", "verified", "approved_by", "position"):
        assert fault(with_front(f"{key}: live")).code == "system_key"


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ("access: everyone", "frontmatter_duplicate_key", 5),
        ("owner: [a, b]", "invalid_key", 5),
        ("sensitivity: secret", "invalid_key", 5),
        ("summary: " + "x" * 301, "invalid_key", 5),
        ("review_after: 12 months", "invalid_duration", 5),
        ("review_after: P0D", "invalid_duration", 5),
        ("as_of: yesterday", "invalid_key", 5),
        ("sources: [gdrive]", "invalid_reference", 5),
        ("relations:\n- {verb: owns, to: n_1}\n- {verb: eats, to: n_1}", "invalid_key", 7),
        ("relations: [{verb: owns, to: n_1, since: 2}]", "invalid_key", 5),
        ("relations: [{verb: owns, to: Topics/a.md}]", "path_character", 5),
        ("figures: [{name: a}]", "invalid_key", 5),
        ("id: not an id", "invalid_id", 5),
        ('owner: "a\\u202Eb"', "invalid_text", 5),
        ("a: &x 1\nb: *x", "frontmatter_alias", 6),
        ("a: !!python/object/apply:os.system [ls]", "frontmatter_tag", 5),
        ("a: !!binary aGk=", "frontmatter_tag", 5),
        ("a: !!int x", "frontmatter_tag", 5),
        ("a: {b: 1, b: 2}", "frontmatter_duplicate_key", 5),
        ("[a]: b", "frontmatter_key", 5),
        ("a: [", "frontmatter_syntax", 6),
        ("a: b: c", "frontmatter_syntax", 5),
        ('a: "\\UFFFFFFFF"', "frontmatter_syntax", None),
        ('a: "\\uD800"', "frontmatter_character", 5),
        ('a: {"b\\0": 1}', "frontmatter_character", 5),
        ("a: \x07", "frontmatter_character", 5),
        ("a: " + "[" * 200 + "]" * 200, "frontmatter_too_deep", 5),
        ("a: " + "x" * 17_000, "frontmatter_too_large", 1),
    ],
)
def test_a_wrong_key_is_refused_at_its_line(lines: str, code: str, line: int | None) -> None:
    found = fault(with_front(lines))
    assert (found.code, found.line) == (code, line)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "frontmatter_missing"),
        ("# Only Markdown\n", "frontmatter_missing"),
        ("---\ntype: topic\n", "frontmatter_missing"),
        ("---\n---\n", "type_missing"),
        ("---\ntype: topic\naccess: public\n---\n", "title_missing"),
        ("---\ntype: topic\ntitle: A\n---\n", "access_missing"),
        ("---\n- a\n---\n", "frontmatter_not_a_mapping"),
        ("---\n{type: topic}\n---\n", "frontmatter_in_braces"),
        ("---\ntype: topic\ntitle:\naccess: public\n---\n", "invalid_key"),
    ],
)
def test_a_page_without_its_required_front_is_refused(body: str, code: str) -> None:
    assert fault(body).code == code


def test_a_refusal_never_quotes_the_page() -> None:
    for lines in ("sensitivity: hunter2", "hunter2: &hunter2 1\nb: *hunter2", "owner: [hunter2]", "a: !hunter2 x"):
        assert "hunter2" not in str(fault(with_front(lines)))


def test_an_expanding_yaml_bomb_is_refused() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert fault(with_front(bomb)).code == "frontmatter_alias"


def test_bytes_that_are_no_page_are_refused_with_their_place() -> None:
    assert fault(b"---\ntitle: \xff\n---\n").code == "not_utf8"
    nul = fault(b"---\na: b\0\n---\n")
    assert (nul.code, nul.line, nul.column) == ("nul_character", 2, 5)
    assert fault(with_front("") + "x" * page.MAX_PAGE_BYTES).code == "page_too_large"
    assert fault(b"x" * 10_000_000).code == "page_too_large"


def test_a_byte_order_mark_and_foreign_line_ends_are_normalised_once() -> None:
    once = page.normalise(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert once == b"a\nb\nc\n"
    assert page.normalise(once) == once
    assert page.parse(b"\xef\xbb\xbf" + FULL.replace(b"\n", b"\r\n")).body == FULL


def test_words_that_yaml_would_change_keep_their_spelling() -> None:
    unknown = page.parse(with_front("a: NO\nb: 010\nc: 12:30\nd: 1_000\ne: 0x1F\n<<: x\n1: y").encode()).unknown
    assert unknown == {"a": "NO", "b": "010", "c": "12:30", "d": "1_000", "e": "0x1F", "<<": "x", "1": "y"}


def test_a_title_of_digits_is_text() -> None:
    assert page.parse(b"---\ntype: topic\ntitle: 2026\naccess: hr\n---\n").front.title == "2026"


@pytest.mark.parametrize(("duration", "days"), [("P90D", 90), ("P3M", 90), ("P1Y2W", 379), ("P12W", 84)])
def test_a_duration_counts_in_days(duration: str, days: int) -> None:
    assert page.days(duration) == days


def test_the_summary_is_the_first_paragraph_where_none_is_written() -> None:
    lead = "Account *managers* may [approve](x.md) it."
    body = f"---\ntype: topic\ntitle: A\naccess: public\n---\n# A\n\n{lead}\n\nMore.\n"
    assert page.summary(page.parse(body.encode())) == "Account managers may approve it."
    assert page.summary(page.parse(FULL)) == "Up to 12 % alone."
    long = page.summary(page.parse(body.replace(lead, "word " * 90).encode()))
    assert len(long) <= 300
    assert long.endswith("word…")
