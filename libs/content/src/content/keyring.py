"""The key ring: one file, outside the database and its backups, without which no body can be read."""

import os
import secrets
import stat
from pathlib import Path
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contracts.errors import CannotStart

_KEY_BYTES = 32
_NONCE_BYTES = 12
_OTHERS = 0o077
_GROUP_MAY_READ = 0o440
_OWNER_ONLY = 0o600

_Version = Annotated[str, msgspec.Meta(pattern="^[1-9][0-9]{0,8}$")]


class BadKeyRing(CannotStart):
    """The key ring file is missing, readable by others, damaged, or holds a key that is too short."""

    def __init__(self, what: str, where: str = "", remedy: str = "Bring it back from its own backup.") -> None:
        super().__init__("bad_keyring", what, where, remedy)

    def __reduce__(self) -> tuple[type["BadKeyRing"], tuple[str, str, str]]:  # type: ignore[override]  # other arguments than those of Refused
        return (BadKeyRing, (self.what, self.where, self.remedy))


class UnknownKey(Exception):
    """A body is wrapped under a version that this ring does not hold: retired, or the ring is another brain's."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the key ring has no wrapping key {version}")
        self.version = version


class WrongKey(Exception):
    """A wrapped key does not open under its version: the row was changed, or belongs to another body."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    secret: bytes
    wrapping: dict[_Version, bytes]


class KeyRing:
    """The wrapping keys of one brain by version, and its secret, from which every other key is derived.

    `version` is the one that new bodies are wrapped under. Keys never show in a repr.
    """

    def __init__(self, id: str, secret: bytes, wrapping: dict[int, bytes]) -> None:  # noqa: A002 - the ring's own word
        """Take keys that are at hand. Raises `BadKeyRing` where one is not 32 bytes, or there is none."""
        if not id or not wrapping:
            raise BadKeyRing("A key ring needs an id and at least one wrapping key.")
        for name, key in [("secret", secret), *((f"wrapping key {version}", key) for version, key in wrapping.items())]:
            if len(key) != _KEY_BYTES or not any(key):
                raise BadKeyRing(f"The {name} of the key ring is not {_KEY_BYTES} random bytes.")
        self.id = id
        self.version = max(wrapping)
        self.chunk_key = _derive(secret, "chunk keys")
        self._secret = secret
        self._wrapping = dict(wrapping)
        self._ciphers = {version: AESGCM(_derive(key, "wrap a body's key")) for version, key in wrapping.items()}

    def __repr__(self) -> str:
        return f"KeyRing({self.id!r}, version={self.version})"

    @classmethod
    def create(cls, path: Path) -> "KeyRing":
        """Write a new ring to `path`, readable by its owner only. Raises `FileExistsError`: no ring is overwritten."""
        ring = cls(secrets.token_hex(8), secrets.token_bytes(_KEY_BYTES), {1: secrets.token_bytes(_KEY_BYTES)})
        ring._write(path)
        return ring

    @classmethod
    def load(cls, path: Path) -> "KeyRing":
        """Read the ring at `path`. Raises `BadKeyRing` where it is absent, open to others, or not whole.

        A ring that root owns may be readable by our group: so a cluster mounts a secret for a process that is not root.
        """
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                text = file.read()
        except OSError as error:
            raise BadKeyRing(f"The key ring cannot be read: {error.strerror}.", str(path)) from None
        mounted = status.st_uid == 0 and os.geteuid() != 0 and stat.S_IMODE(status.st_mode) == _GROUP_MAY_READ
        if status.st_mode & _OTHERS and not mounted:
            raise BadKeyRing("The key ring is open to other users of this machine.", str(path), "Set its mode to 600.")
        try:
            read = msgspec.json.decode(text, type=_File)
        except (msgspec.DecodeError, ValueError):
            raise BadKeyRing("The key ring is not whole.", str(path)) from None
        try:
            return cls(read.id, read.secret, {int(version): key for version, key in read.wrapping.items()})
        except BadKeyRing as bad:
            raise BadKeyRing(bad.what, str(path)) from None

    def rotated(self, path: Path) -> "KeyRing":
        """Replace the ring at `path` by one with a further wrapping key, which new bodies are wrapped under.

        Old bodies open as before. The old versions leave by `retired`, once nothing is wrapped under them.
        """
        fresh = KeyRing(self.id, self._secret, {**self._wrapping, self.version + 1: secrets.token_bytes(_KEY_BYTES)})
        fresh._replace(path)
        return fresh

    def retired(self, path: Path) -> "KeyRing":
        """Replace the ring at `path` by one with the current version only: what is wrapped under others is gone."""
        fresh = KeyRing(self.id, self._secret, {self.version: self._wrapping[self.version]})
        fresh._replace(path)
        return fresh

    def derive(self, purpose: str) -> bytes:
        """A key of 32 bytes for `purpose`; the same ring and words give the same key, other words an unrelated one."""
        return _derive(self._secret, f"purpose: {purpose}")

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        """`key` under the current version, openable only together with `bound_to` (nonce, ciphertext and tag)."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._ciphers[self.version].encrypt(nonce, key, bound_to)

    def unwrap(self, wrapped: bytes, version: int, bound_to: bytes) -> bytes:
        """The key that `wrap` took. Raises `UnknownKey` without that version, `WrongKey` where it does not open."""
        cipher = self._ciphers.get(version)
        if cipher is None:
            raise UnknownKey(version)
        try:
            return cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], bound_to)
        except (InvalidTag, ValueError):
            raise WrongKey(f"a key wrapped under version {version} does not open") from None

    def _write(self, path: Path) -> None:
        whole = _File(self.id, self._secret, {str(version): key for version, key in self._wrapping.items()})
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(whole))
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(path.parent)

    def _replace(self, path: Path) -> None:
        beside = path.with_name(f"{path.name}.new")
        beside.unlink(missing_ok=True)
        self._write(beside)
        beside.replace(path)
        _sync_folder(path.parent)


def _derive(secret: bytes, purpose: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=f"company brain, {purpose}".encode()).derive(
        secret
    )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
