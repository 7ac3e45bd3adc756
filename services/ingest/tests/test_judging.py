"""What becomes of one file, as a pure function of its bytes, what is known of it, and the terms."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given as worlds
from hypothesis import strategies as st

from contracts.captures import Acl
from contracts.enums import Access, Refusal
from contracts.ids import BrainId, PrincipalId
from corpus import page
from ingest.domain.importing import SEALED, File, Kept, Known, NotKept, Outcome, Terms, Unchanged, judge

TERMS = Terms(
    brain=BrainId(UUID(int=1)),
    by=PrincipalId(UUID(int=2)),
    source="notes",
    owner="alice",
    access=Access.DEPARTMENT,
    names=frozenset({"alice", "people-team"}),
    may_suggest=lambda _page: True,
    key=b"k" * 32,
)
TEXT = b"# Travel\n\nBook early.\n"


def kept(body: bytes, name: str = "travel.md", known: Known | None = None) -> Kept:
    outcome = judge(File(name, body), known, TERMS)
    assert isinstance(outcome, Kept), outcome
    return outcome


def refusal(body: bytes, name: str = "travel.md", terms: Terms = TERMS) -> NotKept:
    outcome = judge(File(name, body), None, terms)
    assert isinstance(outcome, NotKept), outcome
    return outcome


def known(outcome: Kept) -> Known:
    return Known(outcome.capture, TERMS.by, outcome.supersedes, Acl(everyone=True))


def front(outcome: Kept) -> page.Front:
    return page.parse(outcome.page).front


def test_a_new_file_becomes_a_capture_and_a_page_with_what_it_lacks() -> None:
    outcome = kept(TEXT, "HR/Travel Policy.md")
    assert (outcome.path, outcome.supersedes, outcome.recorded) == ("hr/travel-policy.md", None, False)
    assert outcome.reference == "capture:notes/HR/Travel%20Policy.md"
    said = front(outcome)
    assert (said.title, said.owner, said.access.value, said.type.value) == ("Travel", "alice", "department", "topic")
    assert said.sources == [outcome.reference]
    assert outcome.body == TEXT
    assert outcome.page.endswith(TEXT)


def test_what_a_file_says_of_itself_is_kept() -> None:
    body = b"---\ntitle: On the road\nowner: people-team\naccess: manager\ncountry: NO\n---\nText.\n"
    outcome = kept(body)
    said = front(outcome)
    assert (said.title, said.owner, said.access.value) == ("On the road", "people-team", "manager")
    assert page.parse(outcome.page).unknown == {"country": "NO"}


@pytest.mark.parametrize("owner", ["somebody-else", '["#team"]', "{a: b}", "''"])
def test_an_owner_who_is_nobody_here_is_kept_under_another_key(owner: str) -> None:
    outcome = kept(f"---\nowner: {owner}\n---\nText.\n".encode())
    assert front(outcome).owner == "alice"
    assert "imported-owner" in page.parse(outcome.page).unknown


def test_a_key_that_is_taken_is_not_overwritten_by_a_foreign_owner() -> None:
    outcome = kept(b"---\nimported-owner: earlier\nowner: stranger\n---\nText.\n")
    assert page.parse(outcome.page).unknown == {"imported-owner": "earlier", "imported-owner-2": "stranger"}


def test_the_same_bytes_again_are_unchanged() -> None:
    first = kept(TEXT)
    assert judge(File("travel.md", TEXT), known(first), TERMS) == Unchanged("travel.md", first.capture)


def test_other_bytes_supersede() -> None:
    first = kept(TEXT)
    second = kept(TEXT + b"\nAnd cheap.\n", known=known(first))
    assert second.supersedes == first.capture
    assert second.capture != first.capture
    assert second.reference == first.reference


def test_bytes_that_come_back_supersede_what_stood_between() -> None:
    first = kept(TEXT)
    second = kept(b"Other.\n", known=known(first))
    third = kept(TEXT, known=known(second))
    assert (third.supersedes, third.body) == (second.capture, first.body)
    assert third.capture != first.capture


def test_a_file_that_was_withdrawn_and_comes_back_is_a_new_capture() -> None:
    first = kept(TEXT)
    again = kept(TEXT, known=replace(known(first), withdrawn=True))
    assert again.supersedes == first.capture


def test_what_somebody_else_filed_is_unchanged_by_the_same_bytes_and_superseded_by_others() -> None:
    first = kept(TEXT)
    another = replace(TERMS, by=PrincipalId(UUID(int=3)))
    assert judge(File("travel.md", TEXT), known(first), another) == Unchanged("travel.md", first.capture)
    second = judge(File("travel.md", TEXT + b"\nAnd cheap.\n"), known(first), another)
    assert isinstance(second, Kept)
    assert second.supersedes == first.capture


def test_a_page_that_was_never_proposed_is_composed_again() -> None:
    first = kept(TEXT)
    again = kept(TEXT, known=replace(known(first), awaits=True))
    assert (again.capture, again.recorded, again.page) == (first.capture, True, first.page)


def test_an_export_comes_back_as_the_page_that_it_was() -> None:
    body = kept(b"---\ntags: [a, b]\n---\n# Travel\n\nBook early.\n").page
    system = {"id": "n_" + "a" * 32, "status": "live", "revision": 3, "verified": "2026-09-02", "position": 41}
    assert kept(page.project(page.parse(body), system)).page == body


BOMB = "a: &a [x, x, x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(9))


@pytest.mark.parametrize(
    ("body", "category", "line"),
    [
        (b"", Refusal.EMPTY, 0),
        (b" \n\t\n", Refusal.EMPTY, 0),
        (b"---\ntitle: Only this\n---\n\n", Refusal.EMPTY, 0),
        (b"one\ntwo \xff\n", Refusal.INVALID_UTF8, 2),
        ("# Tekst\n".encode("utf-16"), Refusal.INVALID_UTF8, 1),
        (b"one\ntwo\0\n", Refusal.UNREADABLE, 2),
        (b"x" * (256 * 1024 + 1), Refusal.TOO_LARGE, 0),
        (b"x" * (600 * 1024), Refusal.TOO_LARGE, 0),
        (f"---\n{BOMB}---\nText.\n".encode(), Refusal.FRONTMATTER, 3),
        (b"---\na: &x 1\nb: *x\n---\nText.\n", Refusal.FRONTMATTER, 3),
        (b"---\na: 1\na: 2\n---\nText.\n", Refusal.FRONTMATTER, 3),
        (b"---\na: !!python/object:os.system x\n---\nText.\n", Refusal.FRONTMATTER, 2),
        (b"---\na: [1, 2\n---\nText.\n", Refusal.FRONTMATTER, 3),
        (b"---\nbig: " + b"y" * 20000 + b"\n---\nText.\n", Refusal.FRONTMATTER, 1),
        (b"---\n" + b"a: " + b"[" * 5000 + b"\n---\nText.\n", Refusal.FRONTMATTER, 2),
    ],
)
def test_hostile_and_broken_files_are_refused_with_their_line(body: bytes, category: Refusal, line: int) -> None:
    outcome = refusal(body)
    assert (outcome.category, outcome.line) == (category, line)
    assert outcome.detail


@pytest.mark.parametrize(
    "name", ["тревел.md", "...md", "con.md", "a/" * 8 + "b.md", "x" * 65 + ".md", "../up.md", "日本語.md"]
)
def test_names_that_make_no_path_are_refused(name: str) -> None:
    assert refusal(TEXT, name).category is Refusal.PATH


def test_a_file_whose_path_another_proposes_too_is_refused_even_when_it_is_known() -> None:
    first = kept(TEXT)
    outcome = judge(File("travel.md", TEXT, collides=True), known(first), TERMS)
    assert isinstance(outcome, NotKept)
    assert (outcome.category, outcome.capture) == (Refusal.PATH_COLLISION, first.capture)


def test_a_page_that_the_person_may_not_suggest_is_refused() -> None:
    terms = replace(TERMS, may_suggest=lambda placed: placed.access is not Access.EXECUTIVE)
    assert refusal(b"---\naccess: executive\n---\nText.\n", terms=terms).category is Refusal.FORBIDDEN
    assert isinstance(judge(File("travel.md", TEXT), None, terms), Kept)


def test_a_file_that_would_seal_its_page_is_told_that_no_import_can() -> None:
    told = refusal(b"---\nsensitivity: sealed\n---\nText.\n")
    assert (told.category, told.detail) == (Refusal.FORBIDDEN, SEALED)
    assert kept(b"---\nsensitivity: restricted\n---\nText.\n").page


def test_the_ids_of_captures_confirm_no_guess_without_the_key() -> None:
    other = judge(File("travel.md", TEXT), None, replace(TERMS, key=b"o" * 32))
    assert other.capture != kept(TEXT).capture


@worlds(st.binary(max_size=400), st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_no_bytes_and_no_name_make_judging_fail(body: bytes, name: str) -> None:
    outcome: Outcome = judge(File(f"{name}.md", body), None, TERMS)
    assert isinstance(outcome, Kept | NotKept)
    if isinstance(outcome, Kept):
        assert page.parse(outcome.page).body == outcome.page
