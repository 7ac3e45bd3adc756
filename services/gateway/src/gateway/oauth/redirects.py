"""Addresses that an application is answered at: which may be registered, and when a given one is a registered one."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode, urlsplit

from contracts.errors import Refused

LONGEST = 1024
"""Characters of one address."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})

_REFUSED_SCHEMES = frozenset(
    {
        "about", "blob", "chrome", "content", "cid", "data", "feed", "file", "filesystem", "ftp", "intent", "jar",
        "javascript", "mailto", "mid", "ms-settings", "resource", "search-ms", "sms", "ssh", "tel", "telnet", "urn",
        "vbscript", "view-source", "ws", "wss",
    }
)  # fmt: skip
"""Schemes that run, read or send something instead of waking an application."""
_PLAIN = re.compile(r"[!#-;=?-\[\]_a-z~]+")  # the characters of RFC 3986: no blank, quote, angle or backslash
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,62}")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_OURS = frozenset({"code", "state", "iss", "error", "error_description", "error_uri"})
_PORTS = 65_535


def check(uri: str, *, public: bool = True) -> None:
    """Raise `Refused` (invalid_redirect_uri) unless an application may be answered there.

    https anywhere, http on the loopback address, and a scheme of one's own for `public` clients, which PKCE binds.
    """
    if len(uri) > LONGEST or not _PLAIN.fullmatch(uri):
        raise _refused("It has characters that no address has, or is too long.")
    if "#" in uri or "*" in uri:
        raise _refused("It has a fragment or a wildcard.")
    scheme, _, rest = uri.partition(":")
    scheme = scheme.lower()
    if not _SCHEME.fullmatch(scheme) or scheme in _REFUSED_SCHEMES or not rest:
        raise _refused("Its scheme is not one that may be answered.")
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise _refused("It does not read as an address.") from error
    if "@" in parts.netloc:
        raise _refused("It names a user.")
    if not _OURS.isdisjoint(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise _refused("Its query names what the answer will say.")
    if scheme in {"http", "https"}:
        _check_host(scheme, parts.netloc.lower())
    elif not public:
        raise _refused("A scheme of one's own is for applications without a secret.")


def _check_host(scheme: str, netloc: str) -> None:
    if not _HOST.fullmatch(netloc):
        raise _refused("Its host does not read as a host.")
    host, port = _split(netloc)
    if port and int(port) > _PORTS:
        raise _refused("Its port does not exist.")
    if scheme == "http" and host not in LOOPBACK:
        raise _refused("Without https only the loopback address is answered.")


def admitted(uri: str) -> bool:
    """Whether a public client may be answered there."""
    try:
        check(uri)
    except Refused:
        return False
    return True


def matches(registered: Iterable[str], given: str) -> bool:
    """Whether `given` is one of the registered addresses, byte for byte.

    Only the port of an http loopback address may differ: a native application takes whichever is free (RFC 8252, 7.3).
    """
    portless = _portless(given)
    return any(uri == given or (portless is not None and _portless(uri) == portless) for uri in registered)


def _portless(uri: str) -> tuple[str, str] | None:
    """Host, and all that follows it, of an http loopback address; None for any other."""
    if not uri.startswith("http://") or not admitted(uri):
        return None
    netloc = urlsplit(uri).netloc
    return _split(netloc)[0], uri[len("http://") + len(netloc) :]


def _split(netloc: str) -> tuple[str, str]:
    host, colon, port = netloc.rpartition(":")
    return (host, port) if colon and not netloc.endswith("]") else (netloc, "")


def shown(uri: str) -> str:
    """Where the answer goes, for a person: a host, or the scheme that wakes an application."""
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def stays_here(uri: str) -> bool:
    """Whether the answer goes to whatever listens on the person's own computer."""
    parts = urlsplit(uri)
    return _split(parts.netloc.lower())[0] in LOOPBACK


def answered(uri: str, **parameters: str) -> str:
    """The address with the answer in its query."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(parameters)}"


def _refused(why: str) -> Refused:
    return Refused("invalid_redirect_uri", f"This redirect URI is not accepted. {why}", "redirect_uris")
