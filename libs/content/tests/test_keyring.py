import json
import os
import stat
from pathlib import Path

import pytest

from content.keyring import BadKeyRing, KeyRing, UnknownKey, WrongKey

WHOLE = {"id": "ab12", "secret": "QUFB" * 10 + "QUE=", "wrapping": {"1": "QkJC" * 10 + "QkI="}}


def written(path: Path, ring: object) -> Path:
    path.write_text(json.dumps(ring))
    path.chmod(0o600)
    return path


def test_a_ring_reads_back_as_it_was_made(tmp_path: Path) -> None:
    path = tmp_path / "keyring.json"
    made = KeyRing.create(path)
    read = KeyRing.load(path)
    assert (read.id, read.version, read.chunk_key) == (made.id, 1, made.chunk_key)
    assert read.unwrap(made.wrap(b"k" * 32, b"here"), 1, b"here") == b"k" * 32


def test_only_its_owner_can_read_a_ring(tmp_path: Path) -> None:
    path = tmp_path / "keyring.json"
    KeyRing.create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_ring_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keyring.json"
    KeyRing.create(path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        KeyRing.create(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_ring_that_others_can_read_is_not_used(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keyring.json"
    KeyRing.create(path)
    path.chmod(mode)
    with pytest.raises(BadKeyRing, match="600"):
        KeyRing.load(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can own a file that another process reads")
@pytest.mark.parametrize(("mode", "read"), [(0o440, True), (0o444, False), (0o460, False), (0o640, False)])
def test_a_ring_that_a_cluster_mounts_may_be_read_by_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, read: bool
) -> None:
    path = tmp_path / "keyring.json"
    KeyRing.create(path)
    path.chmod(mode)
    with pytest.raises(BadKeyRing, match="600"):
        KeyRing.load(path)  # as root itself, to whom the file belongs
    monkeypatch.setattr(os, "geteuid", lambda: 10_001)
    if read:
        assert KeyRing.load(path).version == 1
    else:
        with pytest.raises(BadKeyRing, match="600"):
            KeyRing.load(path)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {**WHOLE, "id": ""},
        {**WHOLE, "secret": ""},
        {**WHOLE, "secret": "QUFB"},
        {**WHOLE, "secret": "not base64!"},
        {**WHOLE, "secret": "A" * 43 + "="},
        {**WHOLE, "wrapping": {}},
        {**WHOLE, "wrapping": {"1": ""}},
        {**WHOLE, "wrapping": {"0": WHOLE["wrapping"]}},
        {**WHOLE, "wrapping": {"first": WHOLE["secret"]}},
        {**WHOLE, "more": 1},
        [],
    ],
)
def test_a_ring_that_is_not_whole_fails_loudly(tmp_path: Path, broken: object) -> None:
    with pytest.raises(BadKeyRing) as failed:
        KeyRing.load(written(tmp_path / "keyring.json", broken))
    assert "QUFB" not in str(failed.value)


def test_a_ring_that_is_not_there_fails_loudly(tmp_path: Path) -> None:
    with pytest.raises(BadKeyRing):
        KeyRing.load(tmp_path / "keyring.json")


def test_a_whole_ring_of_another_making_is_read(tmp_path: Path) -> None:
    assert KeyRing.load(written(tmp_path / "keyring.json", WHOLE)).id == "ab12"


def test_a_wrapped_key_opens_only_where_it_belongs(tmp_path: Path) -> None:
    ring = KeyRing.create(tmp_path / "one")
    wrapped = ring.wrap(b"k" * 32, b"here")
    with pytest.raises(WrongKey):
        ring.unwrap(wrapped, 1, b"there")
    with pytest.raises(WrongKey):
        KeyRing.create(tmp_path / "two").unwrap(wrapped, 1, b"here")
    with pytest.raises(WrongKey):
        ring.unwrap(b"", 1, b"here")
    with pytest.raises(UnknownKey):
        ring.unwrap(wrapped, 2, b"here")


def test_purposes_have_unrelated_keys(tmp_path: Path) -> None:
    ring = KeyRing.create(tmp_path / "one")
    other = KeyRing.create(tmp_path / "two")
    keys = {ring.chunk_key, ring.derive("a"), ring.derive("b"), other.derive("a"), other.chunk_key}
    assert len(keys) == 5
    assert ring.derive("a") == ring.derive("a")


def test_a_turned_ring_keeps_what_was_derived_from_it(tmp_path: Path) -> None:
    path = tmp_path / "keyring.json"
    ring = KeyRing.create(path)
    turned = ring.rotated(path)
    assert (turned.version, turned.chunk_key, turned.derive("a")) == (2, ring.chunk_key, ring.derive("a"))
    assert KeyRing.load(path).version == 2
    assert turned.unwrap(ring.wrap(b"k" * 32, b"here"), 1, b"here") == b"k" * 32


def test_a_ring_shows_no_key(tmp_path: Path) -> None:
    path = tmp_path / "keyring.json"
    ring = KeyRing.create(path)
    assert json.loads(path.read_text())["secret"] not in repr(ring)
    assert repr(ring) == f"KeyRing({ring.id!r}, version=1)"
