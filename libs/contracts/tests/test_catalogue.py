"""The golden registry: shapes do not change behind the back of what is already in a log."""

import typing
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from contracts import codec, controls, subjects
from contracts.catalogue import BY_SHAPE, CATALOGUE, Entry, wire_type
from contracts.content import ContentRef
from contracts.envelope import Envelope
from generate import example_of, schema_of

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*/v*.json"))
ENTRIES = sorted(CATALOGUE.values(), key=lambda entry: entry.name)

NOT_CONTENT = {
    "commitment": "HMAC under a salt that is erased with the body",
    "digest": "hash of a random secret",
    "key": "HMAC under the brain's key",
    "vector_key": "HMAC under the brain's key",
    "vector": "numbers",
    "model": "the id of a model",
    "chunker": "a version",
    "recipe": "a version",
}
"""The only text fields that facts may have besides ids and enums."""


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_latest_shape_is_the_recorded_one(entry: Entry) -> None:
    recorded = ROOT / "schemas" / f"{entry.name}.v{entry.version}.schema.json"
    assert schema_of(entry) == recorded.read_text()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_example_ever_written_still_reads(example: Path) -> None:
    envelope = codec.decode_envelope(example.read_bytes())
    assert wire_type(type(codec.decode_fact(envelope))) == example.parent.name


def test_every_fact_has_an_example_of_each_version_and_no_file_beyond() -> None:
    wanted = {f"{entry.name}/v{n}" for entry in ENTRIES for n in range(1, entry.version + 1)}
    assert {f"{path.parent.name}/{path.stem}" for path in EXAMPLES} == wanted
    schemas = {path.name.removesuffix(".schema.json").replace(".v", "/v") for path in (ROOT / "schemas").iterdir()}
    assert schemas == wanted


def test_every_fact_has_a_control() -> None:
    assert {type(fact) for fact in controls.EXAMPLES} == set(BY_SHAPE)


@pytest.mark.parametrize("fact", controls.EXAMPLES, ids=lambda fact: wire_type(type(fact)))
def test_a_fact_survives_the_round_trip(fact: msgspec.Struct) -> None:
    assert codec.decode_fact(codec.decode_envelope(example_of(fact).encode())) == fact


def test_an_unknown_type_and_a_newer_version_are_told_apart() -> None:
    envelope = codec.decode_envelope(example_of(controls.EXAMPLES[0]).encode())
    with pytest.raises(codec.UnknownFact):
        codec.decode_fact(msgspec.structs.replace(envelope, type="page_sold"))
    with pytest.raises(codec.FromTheFuture):
        codec.decode_fact(msgspec.structs.replace(envelope, v=99))


def test_an_older_version_is_upcast_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CATALOGUE["member_left"]

    def member_left_v1_to_v2(older: dict[str, object]) -> dict[str, object]:
        return {"member": older["person"]}

    monkeypatch.setitem(CATALOGUE, "member_left", Entry(entry.name, entry.shape, entry.owners, (member_left_v1_to_v2,)))
    envelope = codec.decode_envelope(example_of(controls.EXAMPLES[2]).encode())
    older = msgspec.structs.replace(envelope, v=1, data=msgspec.Raw(f'{{"person": "{controls.ALICE}"}}'.encode()))
    assert codec.decode_fact(older) == controls.EXAMPLES[2]


def _texts(shape: object, name: str = "") -> typing.Iterator[str]:
    """The names of the plain text fields of a type, however deep."""
    if shape is str:
        yield name
    elif isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        for field in msgspec.structs.fields(shape):
            yield from _texts(field.type, field.encode_name)
    elif hasattr(shape, "__supertype__"):
        yield from _texts(shape.__supertype__, name)
    elif not isinstance(shape, type) or typing.get_args(shape):
        for part in typing.get_args(shape):
            yield from _texts(part, name)
    else:
        assert issubclass(shape, UUID | Enum | int | float | bool | datetime | date | type(None)), (name, shape)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_fact_has_no_field_that_could_hold_content(entry: Entry) -> None:
    assert set(_texts(entry.shape)) <= set(NOT_CONTENT)


def test_an_envelope_has_no_field_that_could_hold_content() -> None:
    others = {field.name for field in msgspec.structs.fields(Envelope)} - {"data"}
    assert others == {
        "id", "type", "v", "brain", "actor", "occurred_at", "correlation", "causation", "batch", "sig",
    }  # fmt: skip


def test_a_reference_says_nothing_of_its_body() -> None:
    assert [field.name for field in msgspec.structs.fields(ContentRef)] == ["id", "commitment"]


def test_a_subject_is_parsed_as_it_was_made() -> None:
    found = subjects.parse(subjects.page(controls.BRAIN, controls.PAGE))
    assert (found.family, found.brain, found.aggregate) == ("evt", controls.BRAIN, "page")
    assert found.id == str(controls.PAGE)


@pytest.mark.parametrize("subject", ["evt.x", "evt.x.page.y", "evt..page.1", "foo.b.c.d", "evt.a.b.c.d", ""])
def test_a_foreign_subject_is_refused(subject: str) -> None:
    with pytest.raises(ValueError, match=r"subject|badly formed"):
        subjects.parse(subject)
