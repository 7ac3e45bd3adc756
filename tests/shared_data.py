"""Test data that nobody here wrote, unpacked once from its archives into the cache.

The archives stand outside the repository, in `../shared/data` or where BRAIN_SHARED_DATA says. Where they are absent
the test that wants one is skipped by name, or fails where BRAIN_REQUIRE_SHARED_DATA is set, as a release's checks do.
"""

import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent


def archive(name: str) -> Path:
    """The folder that the archive `name` unpacks to, such as `handbooks` or `unicode-paths`."""
    folder = Path(os.environ.get("BRAIN_SHARED_DATA") or _ROOT.parent / "shared" / "data")
    packed = folder / f"{name}.tar.xz"
    if not packed.is_file():
        _absent(f"TEST DATA ABSENT: {packed} (set BRAIN_SHARED_DATA to the folder of the archives)")
    stamp = packed.stat()
    cache = _ROOT / ".cache" / "shared-data"
    unpacked = cache / f"{name}-{stamp.st_size}-{int(stamp.st_mtime)}"
    if not unpacked.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _unpack(packed, unpacked)
    return unpacked / name


def _absent(reason: str) -> None:
    if os.environ.get("BRAIN_REQUIRE_SHARED_DATA"):
        pytest.fail(reason)
    print(reason, file=sys.__stderr__)
    pytest.skip(reason)


def _unpack(packed: Path, unpacked: Path) -> None:
    """Unpack beside the target and move it there whole: another process may be doing the same."""
    partial = Path(tempfile.mkdtemp(dir=unpacked.parent))
    with tarfile.open(packed) as archived:
        archived.extractall(partial, filter="data")
    try:
        partial.rename(unpacked)
    except OSError:
        shutil.rmtree(partial)
        if not unpacked.is_dir():
            raise
