import json
import re
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import paths
from corpus.errors import Malformed
from shared_data import archive

CANONICAL = re.compile(r"[a-z0-9]+(?:[-/][a-z0-9]+)*")
SEGMENT = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True).filter(
    lambda s: len(s) <= 64 and s not in paths.RESERVED
)
PATH = st.lists(SEGMENT, min_size=1, max_size=8).map(lambda s: "/".join(s) + ".md").filter(lambda p: len(p) <= 255)


@pytest.mark.parametrize(
    "path",
    ["a.md", "topics/pricing/ceiling.md", "1/2/3/4/5/6/7/8.md", "a" * 64 + ".md", "q3-2026.md", "md.md", "console.md"],
)
def test_a_canonical_path_is_returned_unchanged(path: str) -> None:
    assert paths.check(path) == path


@pytest.mark.parametrize(
    ("path", "code", "names"),
    [
        ("", "path_empty", ""),
        ("to\u0430st.md", "path_character", "U+0430 at position 3"),
        ("Topics/a.md", "path_character", "U+0054 at position 1"),
        ("a/b.MD", "path_character", "U+002E at position 4"),
        ("../secret.md", "path_character", "U+002E at position 1"),
        ("a/./b.md", "path_character", "U+002E at position 3"),
        ("/a.md", "path_character", "U+002F at position 1"),
        ("a//b.md", "path_character", "U+002F at position 3"),
        ("a/.md", "path_character", "U+002F at position 2"),
        ("a\\b.md", "path_character", "U+005C at position 2"),
        ("a--b.md", "path_character", "U+002D at position 3"),
        ("-a.md", "path_character", "U+002D at position 1"),
        ("a-/b.md", "path_character", "U+002D at position 2"),
        ("a/-b.md", "path_character", "U+002D at position 3"),
        ("a-.md", "path_character", "U+002D at position 2"),
        ("a\u200bb.md", "path_character", "U+200B at position 2"),
        ("a\u202egnp.md", "path_character", "U+202E at position 2"),
        ("a b.md", "path_character", "U+0020 at position 2"),
        ("a.md\n", "path_character", "U+002E at position 2"),
        ("a%2fb.md", "path_character", "U+0025 at position 2"),
        ("\ud800.md", "path_character", "U+D800 at position 1"),
        ("a.html.md", "path_character", "U+002E at position 2"),
        ("page", "path_suffix", ".md"),
        (".md", "path_suffix", ".md"),
        ("a" * 65 + ".md", "path_segment_length", "64"),
        ("1/2/3/4/5/6/7/8/9.md", "path_depth", "at most 8"),
        ("/".join(["a" * 50] * 6) + ".md", "path_length", "255"),
        ("con.md", "path_reserved", "device"),
        ("a/nul/b.md", "path_reserved", "device"),
        ("com1.md", "path_reserved", "device"),
    ],
)
def test_a_given_path_is_refused_and_the_first_offender_is_named(path: str, code: str, names: str) -> None:
    with pytest.raises(Malformed) as refused:
        paths.check(path)
    assert refused.value.code == code
    assert names in refused.value.what


def test_ten_megabytes_of_path_are_refused_at_once() -> None:
    with pytest.raises(Malformed, match="path_length"):
        paths.check("a" * 10_000_000)


@given(PATH)
def test_every_path_of_the_grammar_is_accepted_and_is_its_own_proposal(path: str) -> None:
    assert paths.check(path) == path
    assert paths.propose(path) == path


@given(st.text(max_size=80))
def test_whatever_is_proposed_is_canonical(filename: str) -> None:
    try:
        proposed = paths.propose(filename)
    except Malformed:
        return
    assert paths.check(proposed) == proposed


@given(st.text(max_size=40))
def test_no_text_outside_the_grammar_passes(text: str) -> None:
    try:
        path = paths.check(text)
    except Malformed:
        return
    assert set(path) <= set(string.ascii_lowercase + string.digits + "-/.")
    assert path == text


@pytest.mark.parametrize(
    ("filename", "path"),
    [
        ("source/manuals/programming-languages.html.md.erb", "source/manuals/programming-languages.md"),
        ("Handbook/Paid Time Off.mdx", "handbook/paid-time-off.md"),
        ("./a//README.MD", "a/readme.md"),
        ("notes.md.erb", "notes.md"),
        ("Sales_&_Marketing/Q3 (draft).md", "sales-marketing/q3-draft.md"),
        ("Ærlig talt.md", "rlig-talt.md"),
        ("plan.txt", "plan-txt.md"),
        ("windows\\style\\page.md", "windows/style/page.md"),
    ],
)
def test_the_importer_proposes_a_canonical_path(filename: str, path: str) -> None:
    assert paths.propose(filename) == path


@pytest.mark.parametrize("filename", ["", "日本語.md", "../up.md", "con.md", "a" * 70 + ".md", "/".join("abcdefghi")])
def test_a_file_name_that_leaves_no_path_is_refused(filename: str) -> None:
    with pytest.raises(Malformed):
        paths.propose(filename)


def test_two_files_with_one_proposed_path_are_both_refused() -> None:
    accepted, refused = paths.propose_all(["A b.md", "a-b.mdx", "c.md", "日本.md"])
    assert accepted == {"c.md": "c.md"}
    assert refused == {"A b.md": "path_collision", "a-b.mdx": "path_collision", "日本.md": "path_empty"}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("caf\u00e9.md", "cafe.md"),
        ("\u00e5.md", "a.md"),
        ("\u00c5pent m\u00f8te.md", "apent-m-te.md"),
        ("Ti\u1ebfng Vi\u1ec7t/\u0130stanbul.md", "tieng-viet/istanbul.md"),
        ("\u00c6rlig.md", "rlig.md"),
        ("\u212aelvin.md", "kelvin.md"),  # to Unicode, the sign is another spelling of the letter
    ],
)
def test_every_spelling_of_a_name_proposes_one_path(name: str, path: str) -> None:
    for spelled in (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
        assert paths.propose(spelled) == path


@given(st.text(max_size=40))
def test_no_spelling_of_any_name_proposes_another_path(name: str) -> None:
    def proposed(spelled: str) -> str:
        try:
            return paths.propose(spelled)
        except Malformed as refused:
            return refused.code

    composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    assert proposed(composed) == proposed(decomposed) == proposed(name)
    assert paths.title_of(composed) == paths.title_of(decomposed)


def test_two_spellings_of_one_name_in_one_folder_are_both_refused() -> None:
    accepted, refused = paths.propose_all(["caf\u00e9.md", "cafe\u0301.md", "tea.md"])
    assert accepted == {"tea.md": "tea.md"}
    assert refused == {"caf\u00e9.md": "path_collision", "cafe\u0301.md": "path_collision"}


@pytest.mark.parametrize(
    ("filename", "title"),
    [("docs/paid_time-off.md", "Paid time off"), ("INDEX.html.md.erb", "INDEX"), ("---.md", "Untitled")],
)
def test_a_file_name_makes_a_readable_title(filename: str, title: str) -> None:
    assert paths.title_of(filename) == title


def test_no_confusable_of_a_path_character_passes() -> None:
    lookalikes = json.loads((archive("unicode-paths") / "latin_confusables.json").read_text())
    tried = 0
    for plain, others in lookalikes.items():
        for other in others:
            if CANONICAL.fullmatch(f"a{other}b"):
                continue  # a look-alike made of path characters, such as 1 for l
            tried += 1
            with pytest.raises(Malformed):
                paths.check(f"a{other}b.md")
            assert plain != other
    assert tried > 500


def test_no_naughty_string_and_no_invisible_character_passes() -> None:
    folder = archive("unicode-paths")
    for naughty in json.loads((folder / "blns.json").read_text()):
        if naughty in paths.RESERVED or not CANONICAL.fullmatch(naughty) or len(naughty) > 64:
            with pytest.raises(Malformed):
                paths.check(f"{naughty}.md")
    for spans in json.loads((folder / "code_point_sets.json").read_text()).values():
        for span in spans:
            for point in {int(span["start"], 16), int(span["end"], 16)}:
                with pytest.raises(Malformed, match=f"U\\+{point:04X} at position 2"):
                    paths.check(f"a{chr(point)}b.md")


def test_forms_that_fold_or_normalise_to_a_path_are_not_repaired_into_one() -> None:
    folder = archive("unicode-paths")
    for line in (folder / "casefolding.jsonl").read_text().splitlines():
        with pytest.raises(Malformed):
            paths.check(json.loads(line)["char"] + ".md")
    for line in (folder / "normalization.jsonl").read_text().splitlines():
        source = json.loads(line)["source"]
        if not source.isascii():
            with pytest.raises(Malformed):
                paths.check(f"a{source}.md")
