"""Key files that cannot be used are told by what is wrong and where, never by what they hold."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from eventlog.signing import BadSigningKey, Signer, Verifier


@pytest.mark.parametrize("load", [lambda path: Signer.load(path, "drift"), Verifier.load])
@pytest.mark.parametrize(
    ("content", "what"),
    [(None, "cannot be read"), (b"", "not whole"), (b"s3cret", "not whole"), (b'{"drift": "s3cret"}', "not whole")],
)
def test_a_key_file_that_is_none_is_refused_by_its_place(
    tmp_path: Path, load: Callable[[Path], object], content: bytes | None, what: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadSigningKey, match=what) as refused:
        load(path)
    assert refused.value.where == str(path)
    assert "s3cret" not in f"{refused.value} {refused.value.what} {refused.value.remedy}"
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
