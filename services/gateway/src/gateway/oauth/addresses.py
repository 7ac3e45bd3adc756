"""The address of a client's own description, taken apart: a narrow piece of what a URL may be."""

import re
from dataclasses import dataclass

LONGEST = 512
"""Bytes of an address."""
_LONGEST_HOST = 253
_PORT = 443
_FIRST_FREE_PORT, _LAST_PORT = 1024, 65535

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_TOP = r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"
"""Begins with a letter: what a resolver would take for a number is no name."""
_CHARACTER = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_SHAPE = re.compile(
    rf"https://(?P<host>(?:{_LABEL}\.)*{_TOP})(?::(?P<port>[1-9][0-9]{{0,4}}))?"
    rf"(?P<path>(?:/{_CHARACTER}*)+)(?P<query>\?(?:{_CHARACTER}|[/?])*)?",
    re.ASCII,
)
_DOT = re.compile(r"%2e", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """An https URL on a host with a name, with a path, and nothing that two readers could read in two ways."""

    url: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port as a request names them."""
        return self.host if self.port == _PORT else f"{self.host}:{self.port}"


def parse(url: str) -> Address | None:
    """The address, or nothing when the text is not one that is taken.

    Taken: lower-case host with a name (no IP address), port 443 or one from 1024 up, a path longer than "/" without
    dot segments, perhaps a query. Not taken: user names, fragments, spaces, other characters than a URL may hold.
    """
    if len(url) > LONGEST or (found := _SHAPE.fullmatch(url)) is None:
        return None
    host, path, port = found["host"], found["path"], int(found["port"] or _PORT)
    if len(host) > _LONGEST_HOST or path == "/" or not (port == _PORT or _FIRST_FREE_PORT <= port <= _LAST_PORT):
        return None
    if found["port"] == str(_PORT):  # the same place under two names
        return None
    if any(_DOT.sub(".", segment) in {".", ".."} for segment in path.split("/")):
        return None
    return Address(url, host, port)
