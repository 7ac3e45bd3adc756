"""Facts are signed by the service that says them, and verified where they are projected.

Ed25519: whoever can read a consumer's reply subject could otherwise slip a message into a stream.
"""

import base64
import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from contracts.catalogue import CATALOGUE
from contracts.codec import Unreadable
from contracts.envelope import Envelope, Signature, signed_text
from contracts.errors import CannotStart


class BadSigningKey(CannotStart):
    """A file of keys that facts are signed or verified with is missing, unreadable or damaged."""

    def __init__(self, what: str, path: Path) -> None:
        super().__init__("bad_signing_key", what, str(path), "Bring it back from its backup.")

    def __reduce__(self) -> tuple[type["BadSigningKey"], tuple[str, Path]]:  # type: ignore[override]  # other arguments than those of Refused
        return (BadSigningKey, (self.what, Path(self.where)))


class Forged(Unreadable):
    """A message whose signature does not verify, or whose signer may not say this."""


def create_key(path: Path) -> str:
    """Make a private key file (mode 0600, never over an existing one); returns the public key, base64."""
    key = Ed25519PrivateKey.generate()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(key.private_bytes_raw()))
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs as one service."""

    service: str
    key: Ed25519PrivateKey

    @classmethod
    def load(cls, path: Path, service: str) -> "Signer":
        """Read a private key file. Raises `BadSigningKey` where it cannot be read or is not one."""
        try:
            raw = base64.b64decode(path.read_bytes(), validate=True)
            return cls(service, Ed25519PrivateKey.from_private_bytes(raw))
        except OSError as error:
            raise BadSigningKey(f"The signing key cannot be read: {error.strerror}.", path) from None
        except ValueError:
            raise BadSigningKey("The signing key is not whole.", path) from None

    def sign(self, subject: str, envelope: Envelope) -> Envelope:
        """The same envelope, signed for this subject."""
        value = base64.b64encode(self.key.sign(signed_text(subject, envelope))).decode()
        return msgspec.structs.replace(envelope, sig=Signature(self.service, value))


@dataclass(frozen=True, slots=True)
class Verifier:
    """Knows every service's public key."""

    keys: dict[str, Ed25519PublicKey]

    @classmethod
    def load(cls, path: Path) -> "Verifier":
        """Read a JSON file {service: public key in base64}. Raises `BadSigningKey` where it is not one."""
        try:
            keys = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
            return cls({name: Ed25519PublicKey.from_public_bytes(base64.b64decode(key)) for name, key in keys.items()})
        except OSError as error:
            raise BadSigningKey(f"The file of public keys cannot be read: {error.strerror}.", path) from None
        except (msgspec.MsgspecError, ValueError):
            raise BadSigningKey("The file of public keys is not whole.", path) from None

    def check(self, subject: str, envelope: Envelope) -> None:
        """Raise `Forged` unless one of the fact's owners signed exactly this, for exactly this subject."""
        entry = CATALOGUE.get(envelope.type)
        if envelope.sig is None or entry is None or envelope.sig.by not in entry.owners:
            raise Forged(f"{envelope.type}: not signed by a service that may say it")
        key = self.keys.get(envelope.sig.by)
        if key is None:
            raise Forged(f"{envelope.type}: signer {envelope.sig.by} is unknown")
        try:
            key.verify(base64.b64decode(envelope.sig.value), signed_text(subject, envelope))
        except (InvalidSignature, ValueError) as error:
            raise Forged(f"{envelope.type}: the signature does not verify") from error
