"""Addresses that a deployment is given: checked before anything is written with them."""

import re
from urllib.parse import urlsplit

from contracts.errors import Refused

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])"
_PLACE = re.compile(rf"({_HOST})(?::([0-9]{{1,5}}))?\Z")
_SCHEMES = ("http", "https")
_HIGHEST = 65535


def web(text: str, where: str) -> str:
    """An address that a browser opens: `https://host` or `https://host:port`, and nothing after it.

    Raises `Refused` naming `where` it was given.
    """
    scheme, _, place = text.partition("://")
    if scheme not in _SCHEMES or not _is_place(place):
        what = "A web address is http:// or https:// and a host, with a port or without, and nothing after it."
        raise Refused("bad_address", what, where, "Write it like https://brain.example.com")
    return text


def server(text: str, where: str) -> str:
    """Where a server listens: `host:port`. Raises `Refused` naming `where` it was given."""
    if not _is_place(text) or not text.rpartition(":")[2].isdigit():
        raise Refused(
            "bad_address", "A server's address is a host and a port.", where, "Write it like db.internal:5432"
        )
    return text


def dsn(text: str, where: str) -> str:
    """The address of a PostgreSQL. Raises `Refused` naming `where` it was given."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("postgres", "postgresql") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Refused("bad_address", "This is no address of a PostgreSQL.", where, "It begins with postgres://")
    return text


def _is_place(text: str) -> bool:
    found = _PLACE.match(text)
    return found is not None and (found[2] is None or 0 < int(found[2]) <= _HIGHEST)
