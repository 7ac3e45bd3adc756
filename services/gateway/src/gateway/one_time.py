"""Secrets that are shown once: made here, kept as a digest."""

import hashlib
import secrets

TOKEN_PREFIX = "brain_"  # noqa: S105 - the public beginning of every token
ACCESS_PREFIX = TOKEN_PREFIX + "oauth_"
"""How a token begins that an application was given: it lasts minutes, and its consent says whose it is."""
_BYTES = 32


def new_token() -> str:
    """A token of 256 random bits."""
    return TOKEN_PREFIX + secrets.token_urlsafe(_BYTES)


def new_access() -> str:
    """An access token of 256 random bits."""
    return ACCESS_PREFIX + secrets.token_urlsafe(_BYTES)


def new_code() -> str:
    """A code of 256 random bits, for a link or a cookie."""
    return secrets.token_urlsafe(_BYTES)


def digest(secret: str) -> str:
    """What is stored and looked up: SHA-256 in hex. Enough, as the secret itself is random."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
