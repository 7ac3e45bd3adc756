"""Three public handbooks, as their organizations wrote them."""

from collections import Counter
from pathlib import Path

import pytest

from corpus import chunks, language, page, paths, statements
from shared_data import archive

DEFAULTS = {"type": "topic", "owner": "alice", "access": "department", "sources": ["capture:git/handbook"]}


def files(handbook: str) -> list[Path]:
    return sorted(path for path in (archive("handbooks") / handbook / "pages").rglob("*") if path.is_file())


@pytest.mark.parametrize(("handbook", "count"), [("gds-way", 66), ("sourcegraph", 887), ("variant-no", 16)])
def test_every_page_of_a_handbook_composes_parses_and_is_chunked_whole(handbook: str, count: int) -> None:
    found = files(handbook)
    assert len(found) == count
    for path in found:
        raw = page.normalise(path.read_bytes())
        parsed = page.parse(page.compose(raw, {**DEFAULTS, "title": paths.title_of(path.name)}))
        assert raw.endswith(parsed.text.encode())
        assert page.compose(parsed.body, DEFAULTS) == parsed.body
        exported = page.project(parsed, {"id": "n_1", "status": "live", "position": 1})
        assert page.compose(exported, DEFAULTS) == parsed.body
        passages = chunks.chunk(parsed.text)
        assert all(chunks.words(passage.body) <= chunks.MAX_WORDS for passage in passages)
        claims = statements.statements(parsed.text)
        assert all(parsed.text[claim.start : claim.end] == claim.text for claim in claims)
        assert bool(passages) >= bool(claims)


def test_only_paths_that_are_too_deep_are_not_proposed() -> None:
    for handbook, deep in (("gds-way", 0), ("sourcegraph", 1), ("variant-no", 0)):
        folder = archive("handbooks") / handbook / "pages"
        _, refused = paths.propose_all(str(path.relative_to(folder)) for path in files(handbook))
        assert Counter(refused.values()) == Counter({"path_depth": deep} if deep else {})


def test_languages_are_told_apart_on_whole_pages() -> None:
    english = Counter(language.detect(path.read_text()) for path in files("gds-way"))
    norwegian = Counter(language.detect(path.read_text()) for path in files("variant-no"))
    assert english["english"] == 66
    assert norwegian["norwegian"] >= 13
