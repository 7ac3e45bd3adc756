"""One body under one key of its own. Pure bytes: what the table holds of a body, made and opened."""

import hashlib
import hmac
import secrets
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from content.keyring import KeyRing, WrongKey
from contracts.content import ContentRef
from contracts.ids import BrainId, ContentId

SALT_BYTES = 32
_KEY_BITS = 256
_NONCE_BYTES = 12


class Sealed(NamedTuple):
    """A body as it is stored: its key is wrapped under `key_version` of the brain's ring."""

    ciphertext: bytes
    nonce: bytes
    key_version: int
    wrapped_key: bytes


class Opened(NamedTuple):
    """A body and the salt of its commitment."""

    salt: bytes
    body: bytes


class Broken(Exception):
    """A sealed body does not open: its bytes, its key or its place are not those it was sealed with."""


def commitment(salt: bytes, body: bytes) -> str:
    """HMAC-SHA-256 of `body` under `salt`, in hex: binds a fact to its body and tells nothing without the salt."""
    return hmac.new(salt, body, hashlib.sha256).hexdigest()


def bound_to(brain: BrainId, body_id: ContentId) -> bytes:
    """What a body and its key are tied to, so that no row opens in the place of another."""
    return brain.bytes + body_id.bytes


def seal(ring: KeyRing, brain: BrainId, body_id: ContentId, body: bytes) -> tuple[Sealed, ContentRef]:
    """Encrypt `body` under a fresh key and salt. The salt goes inside, so that the table alone confirms no guess."""
    key, nonce, salt = (
        AESGCM.generate_key(_KEY_BITS),
        secrets.token_bytes(_NONCE_BYTES),
        secrets.token_bytes(SALT_BYTES),
    )
    place = bound_to(brain, body_id)
    ciphertext = AESGCM(key).encrypt(nonce, salt + body, place)
    return (
        Sealed(ciphertext, nonce, ring.version, ring.wrap(key, place)),
        ContentRef(body_id, commitment(salt, body)),
    )


def unseal(ring: KeyRing, brain: BrainId, body_id: ContentId, sealed: Sealed) -> Opened:
    """Decrypt. Raises `Broken` where anything was changed, `UnknownKey` where the ring lacks the version."""
    place = bound_to(brain, body_id)
    try:
        key = ring.unwrap(sealed.wrapped_key, sealed.key_version, place)
        plain = AESGCM(key).decrypt(sealed.nonce, sealed.ciphertext, place)
    except (InvalidTag, ValueError, WrongKey):
        raise Broken(str(body_id)) from None
    return Opened(plain[:SALT_BYTES], plain[SALT_BYTES:])
