"""Fetching a small JSON document from an address that a stranger named, without becoming the stranger's hand.

The name is looked up once, every address it has must be one of the public internet, and the connection goes to the
first of them: a name that resolves to something else a moment later changes nothing. Nothing is followed, nothing is
decompressed, and no setting of the environment (proxies, certificates) takes part.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx2

from gateway.oauth.addresses import Address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host name, for a port. Raises `OSError` when it has none."""

SECONDS = 5.0
"""Look-up, connection, handshake and body together."""
LARGEST = 5 * 1024
"""Bytes of a body."""

_LOOKUPS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="lookup")
"""Of their own: a name server that does not answer must not hold up the rest of the process."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is given out for the internet."""
_NEVER = (
    IPv4Network("192.0.0.0/24"),  # for protocols; one large cloud has its metadata service here
    IPv4Network("168.63.129.16/32"),  # the metadata and name service inside one large cloud, in public number space
    IPv4Network("192.88.99.0/24"),  # relays into retired tunnels
    IPv6Network("2001::/23"),  # for protocols, among them a tunnel that carries an IPv4 address
    IPv6Network("2002::/16"),  # such a tunnel
    IPv6Network("3fff::/20"),  # for documentation
)
_HEADERS = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "company-brain"}


class NotFetched(Exception):
    """There is no document. `code` says why, for the log alone."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body, and what its server said about keeping it."""

    body: bytes
    cache_control: str = ""
    age: str = ""


def is_public(address: str) -> bool:
    """Whether an IP address is one host of the public internet, and hides no other inside itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return _is_public_v4(found.ipv4_mapped)
        if found in _TRANSLATED:
            return _is_public_v4(_last_four_bytes(found))
        if found not in _UNICAST or (_tunnels(found) and not _is_public_v4(_last_four_bytes(found))):
            return False
    return found.is_global and not found.is_multicast and not any(found in network for network in _NEVER)


def _is_public_v4(address: IPv4Address) -> bool:
    return is_public(str(address))


def _last_four_bytes(address: IPv6Address) -> IPv4Address:
    return IPv4Address(address.packed[-4:])


def _tunnels(address: IPv6Address) -> bool:
    """Whether the last eight bytes say: inside a site, send this on to the IPv4 address at my end."""
    return address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    found = await asyncio.get_running_loop().run_in_executor(
        _LOOKUPS, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    )
    return [str(address[0]) for *_, address in found]


class Fetcher:
    """Gets documents. `allows` says which IP addresses may be spoken to, `trust` which certificates are believed."""

    def __init__(
        self,
        resolve: Resolve = look_up,
        allows: Callable[[str], bool] = is_public,
        trust: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._resolve = resolve
        self._allows = allows
        self._trust = trust or httpx2.create_ssl_context(trust_env=False)
        self._seconds = seconds

    async def get(self, address: Address) -> Fetched:
        """The document at `address`. Raises `NotFetched`."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._get(address, await self._pin(address))
        except TimeoutError as error:
            raise NotFetched("timed_out") from error
        except httpx2.TimeoutException as error:
            raise NotFetched("timed_out") from error
        except (httpx2.HTTPError, OSError) as error:
            raise NotFetched("unreachable") from error

    async def _pin(self, address: Address) -> str:
        try:
            found = await self._resolve(address.host, address.port)
        except (OSError, UnicodeError) as error:
            raise NotFetched("unresolved") from error
        if not found:
            raise NotFetched("unresolved")
        if not all(self._allows(each) for each in found):
            raise NotFetched("address_not_public")
        return found[0]

    async def _get(self, address: Address, pinned: str) -> Fetched:
        request = httpx2.Request(
            "GET",
            httpx2.URL(address.url).copy_with(host=pinned),
            headers={**_HEADERS, "host": address.authority},
            extensions={"sni_hostname": address.host, "timeout": httpx2.Timeout(self._seconds).as_dict()},
        )
        async with httpx2.AsyncHTTPTransport(verify=self._trust, trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await _read(response)
            finally:
                await response.aclose()


async def _read(response: httpx2.Response) -> Fetched:
    if response.status_code != httpx2.codes.OK:
        raise NotFetched("redirected" if response.has_redirect_location else "status")
    essence = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if essence != "application/json" and not (essence.startswith("application/") and essence.endswith("+json")):
        raise NotFetched("content_type")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotFetched("encoded")
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > LARGEST:
            raise NotFetched("too_large")
    return Fetched(bytes(body), response.headers.get("cache-control", ""), response.headers.get("age", ""))
