"""From a page to its passages and their facts, without any I/O."""

import base64
from uuid import UUID

import msgspec
import numpy as np
import pytest

from contracts.ids import ContentId
from corpus import page
from corpus.errors import Malformed
from embedder import passages, vectors
from embedder.passages import FACT_SIZE, Passage
from embedder.vectors import Memory

SECRET = b"k" * 32
BODY = ContentId(UUID(int=7))


def written(title: str, *sections: str) -> bytes:
    front = f"---\ntype: policy\ntitle: {title}\naccess: public\n---\n"
    return (front + "\n\n".join(sections)).encode()


TRAVEL = written("Travel", "# Travel\n\nBook early.", "## Trains\n\nTrains are preferred.", "## Flights\n\nAsk first.")


def test_spans_point_into_the_text_after_the_front_matter() -> None:
    text = page.parse(TRAVEL).text
    found = passages.passages_of(TRAVEL, SECRET, "m")
    assert [text[each.start : each.end].strip() for each in found] == [
        "Book early.",
        "Trains are preferred.",
        "Ask first.",
    ]
    assert found[1].text == "Travel\nTrains\nTrains are preferred."


def test_an_edited_section_changes_its_own_vector_key_only() -> None:
    edited = TRAVEL.replace(b"Ask first.", b"Ask your lead first.")
    before = {each.vector_key for each in passages.passages_of(TRAVEL, SECRET, "m")}
    after = {each.vector_key for each in passages.passages_of(edited, SECRET, "m")}
    assert len(after - before) == 1


def test_another_title_or_model_changes_every_vector_key_but_no_chunk_key() -> None:
    plain = passages.passages_of(TRAVEL, SECRET, "m")
    other_model = passages.passages_of(TRAVEL, SECRET, "n")
    other_title = passages.passages_of(TRAVEL.replace(b"title: Travel", b"title: Trips"), SECRET, "m")
    for other in (other_model, other_title):
        assert [each.key for each in other] == [each.key for each in plain]
        assert not {each.vector_key for each in other} & {each.vector_key for each in plain}


def test_keys_tell_nothing_without_the_brains_secret() -> None:
    mine = {each.key for each in passages.passages_of(TRAVEL, SECRET, "m")}
    theirs = {each.key for each in passages.passages_of(TRAVEL, b"o" * 32, "m")}
    assert not mine & theirs


def test_bytes_that_are_no_page_are_malformed() -> None:
    with pytest.raises(Malformed):
        passages.passages_of(b"no front matter", SECRET, "m")


def test_a_page_without_passages_is_one_fact_without_chunks() -> None:
    (fact,) = passages.facts(BODY, "m", 4, [], {}, computed=0)
    assert (fact.chunks, fact.n, fact.of) == ((), 1, 1)


def test_a_large_page_is_parted_below_the_size_of_a_message() -> None:
    many = [Passage(f"{number:064x}", f"{number:064x}", number, number + 1, "") for number in range(2000)]
    known = {each.vector_key: vectors.encode(np.ones(384, np.float32)) for each in many}
    parts = passages.facts(BODY, "m", 384, many, known, computed=2000)
    assert len(parts) > 1
    assert [(part.n, part.of) for part in parts] == [(place, len(parts)) for place in range(1, len(parts) + 1)]
    assert [chunk.start for part in parts for chunk in part.chunks] == list(range(2000))
    assert sum(part.computed for part in parts) == 2000
    assert max(len(msgspec.json.encode(part)) for part in parts) < FACT_SIZE + 10_000


def test_a_vector_travels_as_half_floats() -> None:
    vector = np.array([0.5, -0.25, 1 / 3, 0], np.float32)
    found = np.frombuffer(base64.b64decode(vectors.encode(vector)), "<f2")
    assert np.allclose(found, vector, atol=1e-3)


def test_the_memory_forgets_what_was_unused_for_longest() -> None:
    memory = Memory(most=2)
    memory.remember([("a", "1"), ("b", "2")])
    assert memory.get("a") == "1"
    memory.remember([("c", "3")])
    assert (memory.get("a"), memory.get("b"), memory.get("c"), len(memory)) == ("1", None, "3", 2)
