"""Client-id metadata documents: an application that is known by the address of its own description.

Whatever is wrong with an address or its document, the caller is told the same: the answer says nothing about what
this process can reach. The log has the reason, as a code.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Generic, TypeVar

import msgspec

from chassis import log
from contracts.errors import Refused
from gateway.oauth import addresses, redirects
from gateway.oauth.addresses import Address
from gateway.oauth.clients import Client, readable
from gateway.oauth.fetching import Fetched, NotFetched
from gateway.oauth.registration import MOST_REDIRECTS

Fetch = Callable[[Address], Awaitable[Fetched]]
"""Raises `NotFetched`."""

LONGEST_KEPT = 3600.0
"""Seconds that a document is kept, whatever its server says."""
KEPT_UNASKED = 300.0
"""Seconds that a document is kept when its server says nothing."""
REFUSAL_KEPT = 30.0
"""Seconds that a failure is kept."""
AT_ONCE = 32
"""Documents that are being fetched; further ones are refused meanwhile."""

_MOST_CLIENTS, _MOST_REFUSALS = 256, 1024
_SECONDS = re.compile(r"\s*\"?([0-9]{1,10})\"?\s*")

V = TypeVar("V")


class _Document(msgspec.Struct, frozen=True):
    client_id: str
    client_name: str
    redirect_uris: list[str]
    method: str = msgspec.field(default="none", name="token_endpoint_auth_method")


class Documents:
    """Clients by the address of their documents. `admits` judges a redirect URI.

    hosts: where documents may stand; none means anywhere. clock: seconds that only grow.
    """

    def __init__(
        self,
        fetch: Fetch,
        admits: Callable[[str], bool] = redirects.admitted,
        hosts: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._admits = admits
        self._hosts = frozenset(hosts)
        self._known: _Recent[Client] = _Recent(_MOST_CLIENTS, clock)
        self._failed: _Recent[str] = _Recent(_MOST_REFUSALS, clock)
        self._under_way: dict[str, asyncio.Task[Client]] = {}

    async def find(self, client_id: str) -> Client:
        """The client that its document describes. Raises `Refused`, always with the same words.

        Callers limit how often an address may ask before they come here.
        """
        try:
            return await self._find(client_id)
        except NotFetched as failure:
            log.get().info("client_document_refused", reason=failure.code)
        raise Refused(
            "unknown_client",
            "This application is not known here.",
            "client_id",
            "Ask the application's maker whether its client id is right, or register the application.",
        )

    async def _find(self, client_id: str) -> Client:
        address = addresses.parse(client_id)
        if address is None:
            raise NotFetched("bad_address")
        if self._hosts and address.host not in self._hosts:
            raise NotFetched("host_not_listed")
        if known := self._known.get(address.url):
            return known
        if code := self._failed.get(address.url):
            raise NotFetched(code)
        task = self._under_way.get(address.url)
        if task is None:
            if len(self._under_way) >= AT_ONCE:
                raise NotFetched("busy")
            task = asyncio.create_task(self._learn(address))
            self._under_way[address.url] = task
            task.add_done_callback(lambda _: self._under_way.pop(address.url))
        return await asyncio.shield(task)  # one caller who leaves does not take it from the others

    async def _learn(self, address: Address) -> Client:
        try:
            fetched = await self._fetch(address)
            client = described(fetched.body, address, self._admits)
        except NotFetched as failure:
            self._failed.put(address.url, failure.code, REFUSAL_KEPT)
            raise
        self._known.put(address.url, client, lifetime(fetched.cache_control, fetched.age))
        return client


def described(body: bytes, address: Address, admits: Callable[[str], bool] = redirects.admitted) -> Client:
    """The client in a document. Raises `NotFetched` with what is wrong with it."""
    try:
        whole = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        document = msgspec.json.decode(body, type=_Document)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise NotFetched("not_a_document") from error
    if document.client_id != address.url:
        raise NotFetched("other_client_id")
    if any(key.startswith("client_secret") for key in whole):
        raise NotFetched("holds_a_secret")
    if document.method != "none":
        raise NotFetched("auth_method")
    name = readable(document.client_name)
    if not name:
        raise NotFetched("client_name")
    uris = tuple(dict.fromkeys(document.redirect_uris))
    if not 1 <= len(uris) <= MOST_REDIRECTS or not all(admits(uri) for uri in uris):
        raise NotFetched("redirect_uris")
    return Client(address.url, name, uris, document.method, host=address.host)


def lifetime(cache_control: str, age: str) -> float:
    """The seconds that a document may be used without asking again, from the headers that came with it."""
    said: dict[str, str] = {}
    for part in cache_control.lower().split(","):
        name, _, value = part.partition("=")
        said.setdefault(name.strip(), value)
    if not said.keys().isdisjoint({"no-store", "no-cache", "private"}):
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in said:
            return min(max(_whole_seconds(said[name], 0) - _whole_seconds(age, 0), 0), LONGEST_KEPT)
    return KEPT_UNASKED


def _whole_seconds(text: str, otherwise: int) -> int:
    found = _SECONDS.fullmatch(text)
    return int(found[1]) if found else otherwise


class _Recent(Generic[V]):
    """A bounded number of values, each until its time is over; the oldest goes first when there are too many."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._kept: dict[str, tuple[float, V]] = {}

    def get(self, key: str) -> V | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        until, value = kept
        if self._clock() < until:
            return value
        del self._kept[key]
        return None

    def put(self, key: str, value: V, seconds: float) -> None:
        self._kept.pop(key, None)
        if seconds <= 0:
            return
        while len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock() + seconds, value)
