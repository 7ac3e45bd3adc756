"""Who sends how much, by network address, before anything is looked up: counted in memory of a fixed size.

Each process guards itself, so that a flood of unknown tokens costs no call of the database. An address that is
balanced over N replicas may send N times as much; what a principal may do is counted for all replicas together.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from gateway.limits import windows
from gateway.limits.rates import BY_ADDRESS, CEILINGS, REFUSED, Limit, Throttled, by_path

CELLS = 1 << 16
ROWS = 2
"""Counters: two for each address and limit, found by a keyed hash, of which the lower one counts.

Addresses may share a counter and are then counted too high together, never too low. A process that serves 10,000
requests a second adds about nine to each counter in a minute, far below any limit worth setting."""

_NETWORK_BITS = 64
Network = IPv4Network | IPv6Network


class Addresses:
    """The counters of the present minute.

    `key`: secret, so that nobody can choose whom to share counters with. `trusted`: proxies that may say for whom they
    send.
    """

    def __init__(self, key: bytes, clock: Callable[[], datetime], trusted: tuple[Network, ...] = ()) -> None:
        self._key = key
        self._clock = clock
        self._trusted = trusted
        self._minute = 0
        self._rows = _empty()
        self._ceilings = {limit: CEILINGS[limit].per_minute for limit in BY_ADDRESS}

    def allow(self, ceilings: Mapping[Limit, int]) -> None:
        """From now on, so many."""
        self._ceilings.update({limit: ceilings[limit] for limit in BY_ADDRESS})

    def admit(self, path: str, peer: str, forwarded: str) -> Throttled | None:
        """Count one request to a path, or say what is exhausted. The other two as in `sender`."""
        return self.take(sender(peer, forwarded, self._trusted), by_path(path))

    def take(self, address: str, limits: Iterable[Limit]) -> Throttled | None:
        """Count one request of every limit named, or of none where one is reached: that one is told."""
        now = self._clock().timestamp()
        if windows.minute(now) != self._minute:
            self._minute, self._rows = windows.minute(now), _empty()
        wanted = [(limit, self._cells(address, limit)) for limit in limits]
        for limit, cells in wanted:
            if self._counted(cells) >= self._ceilings[limit]:
                REFUSED.add(limit.value)
                return Throttled(limit, windows.wait(now))
        for _, cells in wanted:
            lowest = self._counted(cells)
            for row, cell in zip(self._rows, cells, strict=True):
                row[cell] = max(row[cell], lowest + 1)
        return None

    def _counted(self, cells: tuple[int, ...]) -> int:
        return min(row[cell] for row, cell in zip(self._rows, cells, strict=True))

    def _cells(self, address: str, limit: Limit) -> tuple[int, ...]:
        text = f"{limit.value} {address}".encode()
        digest = hashlib.blake2b(text, key=self._key, digest_size=4 * ROWS).digest()
        return tuple(int.from_bytes(digest[4 * row : 4 * row + 4]) % CELLS for row in range(ROWS))


def _empty() -> "tuple[array[int], ...]":
    return tuple(array("I", bytes(4 * CELLS)) for _ in range(ROWS))


def sender(peer: str, forwarded: str, trusted: Iterable[Network]) -> str:
    """The address that a request is counted for; "" where there is none.

    `peer`: the other end of the connection. `forwarded`: the header X-Forwarded-For, which counts only as far as
    addresses in `trusted` wrote it. An IPv6 address stands for its network of 64 bits, which one customer has whole.
    """
    found = _parsed(peer)
    for hop in reversed(forwarded.split(",")) if forwarded else ():
        if found is None or not any(found in network for network in trusted):
            break
        named = _parsed(hop.strip())
        if named is None:
            break
        found = named
    if isinstance(found, IPv6Address):
        return f"{IPv6Address(int(found) >> _NETWORK_BITS << _NETWORK_BITS)}/{_NETWORK_BITS}"
    return str(found or "")


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
