import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import chunks
from corpus.chunks import Chunk, chunk, chunk_key, context, vector_key, words
from corpus.outline import outline, sections

KEY = b"k" * 32
LINES = st.sampled_from(
    ["# One", "## Two", "### Three", "Setext", "===", "---", "", "", "plain words here. And more of them.",
     "- point", "  - nested", "1. first", "> quoted", "> # no heading", "```", "# in a fence?", "    code", "<div>",
     "| a | b |", "|---|---|", "| 1 | 2 |", "[^1]: capture:a/b", "[ref]: http://example.org", "\ttab",
     "word " * 130, "- " + "long " * 150, "| " + "cell " * 90 + "| x |", "x" * 2500, "Æøå æøå. Ny setning."]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


def outside_headings(text: str) -> set[int]:
    parsed = outline(text)
    inside = [range(parsed.starts[part.first], parsed.starts[part.end]) for part in sections(parsed)]
    return {offset for span in inside for offset in span if not text[offset].isspace()}


@given(TEXTS)
def test_every_word_outside_headings_is_in_exactly_one_chunk(text: str) -> None:
    covered = [offset for c in chunk(text) for offset in range(c.start, c.end) if not text[offset].isspace()]
    assert len(covered) == len(set(covered))
    assert set(covered) == outside_headings(text)


@given(TEXTS)
def test_chunks_are_short_ordered_and_say_what_their_span_says(text: str) -> None:
    found = chunk(text)
    assert [c.start for c in found] == sorted(c.start for c in found)
    for c in found:
        assert c.body.strip()
        assert c.body.endswith(text[c.start : c.end])
        assert words(c.body) <= chunks.MAX_WORDS


@given(st.text(max_size=300))
def test_any_text_at_all_is_chunked_without_loss(text: str) -> None:
    covered = {offset for c in chunk(text) for offset in range(c.start, c.end) if not text[offset].isspace()}
    assert covered == outside_headings(text)


def test_sections_follow_headings_and_keep_the_path_above_them() -> None:
    found = chunk("Lead.\n\n# A\n\none\n\n## B `x`\n\ntwo\n\nC\n-\n\nthree\n\n# D\n\nfour\n")
    assert [(c.heading, c.body) for c in found] == [
        ((), "Lead."), (("A",), "one"), (("A", "B x"), "two"), (("A", "C"), "three"), (("D",), "four"),
    ]  # fmt: skip


def test_a_heading_in_a_fence_a_quote_or_a_list_opens_no_section() -> None:
    found = chunk("# A\n\n```\n# not\n```\n\n> # nor this\n\n- # nor that\n")
    assert [c.heading for c in found] == [("A",)]


def test_a_long_section_is_cut_between_paragraphs() -> None:
    paragraphs = [f"p{n} " + "word " * 79 for n in range(5)]
    found = chunk("# A\n\n" + "\n\n".join(paragraphs))
    assert [c.body.count("p") for c in found] == [2, 2, 1]
    assert all(c.heading == ("A",) for c in found)


def test_a_short_remnant_stays_with_what_it_continues() -> None:
    found = chunk("one " * 100 + "\n\n" + "two " * 95 + "\n\nthe end of it all\n\nand more words to come here now")
    assert len(found) == 1


def test_a_cut_table_repeats_its_header() -> None:
    rows = "".join(f"| row{n} | {'cell ' * 18}|\n" for n in range(30))
    found = chunk(f"| name | what |\n|---|---|\n{rows}")
    assert len(found) > 2
    assert all(c.body.startswith("| name | what |\n|---|---|\n| row") for c in found)


def test_a_long_list_is_cut_at_its_points() -> None:
    found = chunk("".join(f"- point{n} {'word ' * 30}\n" for n in range(20)))
    assert len(found) > 2
    assert all(c.body.startswith("- point") for c in found)


def test_the_same_prose_under_the_same_headings_has_the_same_key_wherever_it_stands() -> None:
    first = chunk("# A\n\nSame.\n")[0]
    moved = chunk("# Z\n\nNew.\n\n# A\n\nSame.\n")[1]
    assert first.start != moved.start
    assert chunk_key(KEY, first) == chunk_key(KEY, moved)


def test_a_key_tells_brains_headings_and_bodies_apart() -> None:
    passages = [
        Chunk(("a", "b"), 0, 1, "c"),
        Chunk(("a",), 0, 1, "b"),
        Chunk(("a b",), 0, 1, "c"),
        Chunk((), 0, 1, "c"),
    ]
    keys = {chunk_key(key, passage) for key in (KEY, b"other") for passage in passages}
    assert len(keys) == 8
    assert all(len(key) == 64 for key in keys)


def test_a_chunk_key_is_pinned() -> None:
    passage = Chunk(("A", "B"), 0, 4, "body")
    assert chunk_key(KEY, passage) == "bf2926a68c5ac5de1c78604e5419c597363d8c1ea215402e8151554c0c710935"
    assert (
        vector_key(KEY, chunk_key(KEY, passage), "T", "m")
        == "cac29268c070dbb8a272264b39a4bf36cccd3e153e598101ac9bfaf8cdacd5b3"
    )


def test_a_vector_key_depends_on_title_and_model() -> None:
    keys = {vector_key(KEY, "c", title, model) for title in ("a", "b") for model in ("m", "n")}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("title", "heading", "body", "embedded"),
    [
        ("T", ("A", "B"), "Said.[^1]\n\n[^1]: capture:x/y", "T\nA > B\nSaid."),
        ("T", ("T", "B"), "Said.", "T\nB\nSaid."),
        ("T", (), "`[^a-z]` stays? no.", "T\n`` stays? no."),
    ],
)
def test_what_is_embedded_is_title_headings_and_prose(
    title: str, heading: tuple[str, ...], body: str, embedded: str
) -> None:
    assert context(title, Chunk(heading, 0, len(body), body)) == embedded
