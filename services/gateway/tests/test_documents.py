"""Client-id metadata documents: what an address may be, what is spoken to, what a document must say, what is kept."""

import asyncio
import json
import string
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.errors import Refused
from gateway.oauth import addresses, documents, fetching
from gateway.oauth.addresses import Address
from gateway.oauth.clients import Client
from gateway.oauth.documents import Documents
from gateway.oauth.fetching import Fetched, Fetcher, NotFetched
from gateway_world import House
from loopback_https import Authority, Origin, authority, origin

HOST = "client.example"
LOOPBACK = "http://127.0.0.1/callback"
SECONDS = 2.0
SECRET_INSIDE = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"]
NOT_PUBLIC = [
    *SECRET_INSIDE,
    *[f"::ffff:{each}" for each in SECRET_INSIDE],
    *[f"64:ff9b::{each}" for each in SECRET_INSIDE],
    "64:ff9b::7f00:1",
    "64:ff9b:1::808:808",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:7f00:1::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:127.0.0.1",
    "::",
    "::1",
    "::127.0.0.1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "",
    "client.example",
    "127.1",
    "0x7f000001",
    "2130706433",
]


def document(client_id: str, /, **changed: object) -> bytes:
    """A good document, or one with keys changed; a key that is changed to nothing is left out."""
    whole = {"client_id": client_id, "client_name": "Notes", "redirect_uris": [LOOPBACK]} | changed
    return json.dumps({key: value for key, value in whole.items() if value is not None}).encode()


def listed(url: str) -> Address:
    found = addresses.parse(url)
    assert found is not None
    return found


@dataclass
class Names:
    """A resolver that answers by list, and keeps what it was asked."""

    answers: list[Sequence[str]]
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def look_up(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Shelf:
    """Documents by address, without a network; counts how often each is asked for."""

    bodies: dict[str, Fetched] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    arrivals: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    gate: asyncio.Event | None = None

    async def get(self, address: Address) -> Fetched:
        self.asked.append(address.url)
        self.arrivals.put_nowait(address.url)
        if self.gate is not None:
            await self.gate.wait()
        if address.url not in self.bodies:
            raise NotFetched("unreachable")
        return self.bodies[address.url]


@pytest.fixture(scope="module")
def vouched(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authority"), HOST)


@pytest_asyncio.fixture(loop_scope="session")
async def served(vouched: Authority) -> AsyncIterator[Origin]:
    async with origin(vouched) as server:
        yield server


def url(served: Origin, path: str = "/oauth/client.json") -> str:
    return f"https://{HOST}:{served.port}{path}"


def reading(vouched: Authority, names: Names | None = None, seconds: float = SECONDS) -> Documents:
    names = names or Names([["127.0.0.1"]])
    fetcher = Fetcher(names.look_up, lambda ip: ip == "127.0.0.1", vouched.trusted(), seconds)
    return Documents(fetcher.get)


async def refusal(found: Documents, client_id: str) -> tuple[str, str, str, str]:
    with pytest.raises(Refused) as refused:
        await found.find(client_id)
    assert refused.value.__cause__ is None
    return (refused.value.code, refused.value.what, refused.value.where, refused.value.remedy)


async def the_refusal() -> tuple[str, str, str, str]:
    return await refusal(Documents(Shelf().get), "no address at all")


async def reason(fetcher: Fetcher, address: str) -> str:
    with pytest.raises(NotFetched) as failed:
        await fetcher.get(listed(address))
    return failed.value.code


# What an address may be


@pytest.mark.parametrize(
    "text",
    [
        "https://claude.ai/oauth/claude-code-client-metadata",
        "https://chatgpt.com/oauth/AbC-12_x/client.json",
        "https://localhost:8443/client.json",
        "https://client.example/a%20b/c;d=1?v=2&x=/?",
        "https://xn--bcher-kva.example/client",
        "https://client.example//x/",
    ],
)
def test_the_addresses_of_real_clients_are_taken(text: str) -> None:
    assert listed(text).url == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "client.example/client.json",
        "http://client.example/client.json",
        "HTTPS://client.example/client.json",
        "https:/client.example/client.json",
        "https:///client.json",
        "https://client.example",
        "https://client.example/",
        "https://client.example?x=/y",
        "https://Client.example/client.json",
        "https://client.example./client.json",
        "https://client..example/client.json",
        "https://-client.example/client.json",
        "https://cli_ent.example/client.json",
        "https://bücher.example/client.json",
        "https://client.example/client.json#top",
        "https://client.example/client.json#",
        "https://someone@client.example/client.json",
        "https://client.example:pass@evil.example/client.json",
        "https://@client.example/client.json",
        "https://client.example\\@evil.example/client.json",
        "https://client.example/../client.json",
        "https://client.example/a/./client.json",
        "https://client.example/a/..",
        "https://client.example/%2e%2E/client.json",
        "https://client.example/.%2e/client.json",
        "https://client.example/%zz",
        "https://client.example/%2",
        "https://client.example/a b",
        "https://client.example/a\tb",
        "https://client.example/a\n",
        "https://client.example/a\x00",
        "https://client.example/ü",
        "https://client.example:/client.json",
        "https://client.example:0/client.json",
        "https://client.example:22/client.json",
        "https://client.example:80/client.json",
        "https://client.example:443/client.json",
        "https://client.example:0443/client.json",
        "https://client.example:65536/client.json",
        "https://client.example:٤٤٤٤/client.json",
        "https://127.0.0.1/client.json",
        "https://127.1/client.json",
        "https://2130706433/client.json",
        "https://0x7f000001/client.json",
        "https://0177.0.0.1/client.json",
        "https://127。0。0。1/client.json",
        "https://[::1]/client.json",
        "https://[::ffff:127.0.0.1]/client.json",
        "https://93.184.216.34/client.json",
        " https://client.example/client.json",
        "https://client.example/" + "a" * addresses.LONGEST,
        "https://" + "a" * 64 + ".example/client.json",
        "https://" + "a." * 130 + "example/client.json",
    ],
)
async def test_anything_else_is_no_address_and_nothing_is_fetched(text: str) -> None:
    shelf = Shelf()
    assert await refusal(Documents(shelf.get), text) == await the_refusal()
    assert shelf.asked == []


_TEXT = st.text(alphabet=string.ascii_lowercase + "0123456789.-:/@?#%[]\\ \t\r\nÜ2eE", max_size=40)


@given(st.one_of(st.text(), _TEXT.map("https://client.example".__add__), _TEXT.map("https://".__add__)))
@example("https://client.example/x\n")
def test_an_accepted_address_reads_the_same_to_everyone(text: str) -> None:
    found = addresses.parse(text)
    if found is None:
        return
    split, client = urlsplit(text), httpx2.URL(text)
    assert found.url == text == str(client)
    assert text.isascii()
    assert len(text) <= addresses.LONGEST
    assert split.scheme == "https"
    assert (split.hostname, split.port or 443) == (found.host, found.port) == (client.host, client.port or 443)
    assert (split.netloc, client.netloc) == (found.authority, found.authority.encode())
    assert client.raw_path.decode() == text.removeprefix(f"https://{found.authority}")
    assert not split.fragment
    assert len(split.path) > 1
    assert not found.host[-1].isdigit() or found.host.rpartition(".")[2][0].isalpha()


_HOSTS = st.from_regex(r"([a-z][a-z0-9]{0,9}\.){1,4}[a-z]{2,9}", fullmatch=True)
_PATHS = st.from_regex(r"(/[a-zA-Z0-9_-]{1,12}){1,5}(\.json)?", fullmatch=True)
_PORTS = st.one_of(st.just(""), st.integers(1024, 65535).map(lambda port: f":{port}"))


@given(_HOSTS, _PORTS, _PATHS)
def test_every_plain_address_is_taken(host: str, port: str, path: str) -> None:
    assert listed(f"https://{host}{port}{path}").host == host


@given(_HOSTS, _PATHS, st.sampled_from(["..", ".", "%2e", "%2E.", ".%2e", "%2e%2e"]), _PATHS)
def test_a_dot_segment_is_found_wherever_it_stands(host: str, before: str, dots: str, after: str) -> None:
    assert addresses.parse(f"https://{host}{before}/{dots}{after}") is None
    assert addresses.parse(f"https://{host}{before}/{dots}") is None


# What is spoken to


@pytest.mark.parametrize("ip", NOT_PUBLIC)
async def test_nothing_inside_is_spoken_to(ip: str) -> None:
    assert not fetching.is_public(ip)
    names = Names([[ip]])
    assert await reason(Fetcher(names.look_up), "https://metadata.internal/client.json") == "address_not_public"
    beside = Names([["93.184.216.34", ip]])
    assert await reason(Fetcher(beside.look_up), "https://client.example/client.json") == "address_not_public"


@pytest.mark.parametrize(
    "ip",
    ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2a00:1450::5efe:8.8.8.8"],
)
def test_hosts_of_the_internet_are_public(ip: str) -> None:
    assert fetching.is_public(ip)


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(ip: object) -> None:
    alone = fetching.is_public(str(ip))
    assert fetching.is_public(f"::ffff:{ip}") is alone
    assert fetching.is_public(f"64:ff9b::{ip}") is alone
    assert fetching.is_public(f"2606:4700::5efe:{ip}") is alone
    assert not fetching.is_public(f"::{ip}")


@given(st.ip_addresses())
def test_what_the_library_calls_not_global_is_never_public(ip: object) -> None:
    if fetching.is_public(str(ip)):
        mapped = getattr(ip, "ipv4_mapped", None)
        assert getattr(mapped or ip, "is_global")  # noqa: B009 - either kind of address has it
        assert not getattr(ip, "is_multicast")  # noqa: B009 - as above


async def test_the_systems_own_names_lead_nowhere() -> None:
    assert await reason(Fetcher(), "https://localhost:8443/client.json") == "address_not_public"


async def test_a_name_without_an_address_is_not_reached() -> None:
    async def fails(host: str, port: int) -> Sequence[str]:
        raise OSError

    assert await reason(Fetcher(fails), "https://client.example/client.json") == "unresolved"
    assert await reason(Fetcher(Names([[]]).look_up), "https://client.example/client.json") == "unresolved"


async def test_a_name_is_looked_up_once_and_what_it_says_then_is_spoken_to(vouched: Authority, served: Origin) -> None:
    served.answers(document(url(served)))
    names = Names([["127.0.0.1"], ["10.0.0.1"]])
    found = await reading(vouched, names).find(url(served))
    assert (found.id, found.host) == (url(served), HOST)
    assert names.asked == [(HOST, served.port)]
    assert served.names == [HOST]
    head = served.asked[0].decode().lower().splitlines()
    assert head[0] == "get /oauth/client.json http/1.1"
    assert f"host: {HOST}:{served.port}" in head
    assert not any(line.startswith(("cookie", "authorization", "referer")) for line in head)


async def test_the_connection_goes_to_the_address_that_was_looked_up(vouched: Authority, served: Origin) -> None:
    served.answers(document(url(served)))
    fetcher = Fetcher(Names([["127.0.0.2"]]).look_up, lambda _: True, vouched.trusted(), SECONDS)
    assert await reason(fetcher, url(served)) == "unreachable"
    assert served.asked == []


async def test_a_certificate_of_another_name_or_authority_is_not_believed(
    tmp_path: Path, vouched: Authority, served: Origin
) -> None:
    served.answers(document(url(served)))
    names = Names([["127.0.0.1"]])
    other = f"https://other.example:{served.port}/oauth/client.json"
    assert await reason(Fetcher(names.look_up, lambda _: True, vouched.trusted(), SECONDS), other) == "unreachable"
    strangers = authority(tmp_path, HOST).trusted()
    assert await reason(Fetcher(names.look_up, lambda _: True, strangers, SECONDS), url(served)) == "unreachable"
    assert await reason(Fetcher(names.look_up, lambda _: True, None, SECONDS), url(served)) == "unreachable"
    assert served.asked == []


async def test_proxies_and_certificates_of_the_environment_take_no_part(
    vouched: Authority, served: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.answers(document(url(served)))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await reading(vouched).find(url(served))).name == "Notes"
    monkeypatch.setenv("SSL_CERT_FILE", str(vouched.certificate))
    strict = Fetcher(Names([["127.0.0.1"]]).look_up, lambda _: True, None, SECONDS)
    assert await reason(strict, url(served)) == "unreachable"


# What a server may answer


async def test_a_document_makes_a_client(vouched: Authority, served: Origin) -> None:
    body = document(
        url(served),
        redirect_uris=[LOOPBACK, "https://client.example/back", LOOPBACK],
        token_endpoint_auth_method="none",
        grant_types=["authorization_code", "refresh_token"],
        logo_uri="https://client.example/logo.png",
    )
    served.answers(body, kind="application/json; charset=utf-8")
    assert await reading(vouched).find(url(served)) == Client(
        id=url(served),
        name="Notes",
        redirect_uris=(LOOPBACK, "https://client.example/back"),
        method="none",
        host=HOST,
    )


async def test_a_body_without_a_length_and_another_kind_of_json_are_read(vouched: Authority, served: Origin) -> None:
    body = document(url(served))

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/oauth-client+json\r\n\r\n" + body)
        await writer.drain()

    served.say = say
    assert (await reading(vouched).find(url(served))).redirect_uris == (LOOPBACK,)


async def test_a_document_may_be_as_large_as_the_limit_and_no_larger(vouched: Authority, served: Origin) -> None:
    body = document(url(served))
    served.answers(body + b" " * (fetching.LARGEST - len(body)))
    assert (await reading(vouched).find(url(served))).name == "Notes"
    served.answers(body + b" " * (fetching.LARGEST - len(body) + 1))
    assert await refusal(reading(vouched), url(served)) == await the_refusal()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_not_followed(vouched: Authority, served: Origin, status: str) -> None:
    served.answers(document(url(served)), f"location: {url(served, '/other.json')}", status=status)
    assert await refusal(reading(vouched), url(served)) == await the_refusal()
    assert len(served.asked) == 1


@pytest.mark.parametrize(
    "status", ["201 Created", "203 Other", "206 Partial", "304 Same", "401 Who", "404 None", "500 Fault", "599 What"]
)
async def test_another_status_is_no_document(vouched: Authority, served: Origin, status: str) -> None:
    served.answers(b"" if status.startswith("304") else document(url(served)), status=status)
    assert await refusal(reading(vouched), url(served)) == await the_refusal()


@pytest.mark.parametrize("kind", ["text/html", "text/json", "application/jsonp", "application/javascript", "", "json"])
async def test_another_content_type_is_no_document(vouched: Authority, served: Origin, kind: str) -> None:
    served.answers(document(url(served)), kind=kind)
    assert await refusal(reading(vouched), url(served)) == await the_refusal()


async def test_a_packed_body_is_not_unpacked(vouched: Authority, served: Origin) -> None:
    served.answers(document(url(served)), "content-encoding: gzip")
    assert await refusal(reading(vouched), url(served)) == await the_refusal()


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,
    ],
    ids=["nothing", "another protocol", "half a line", "half a body", "bad chunks", "an endless header"],
)
async def test_broken_answers_are_no_documents(vouched: Authority, served: Origin, said: bytes) -> None:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    served.say = say
    assert await refusal(reading(vouched), url(served)) == await the_refusal()


async def test_a_server_that_drips_is_cut_off(vouched: Authority, served: Origin) -> None:
    cut = asyncio.Event()

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        finally:
            cut.set()

    served.say = drip
    fetcher = Fetcher(Names([["127.0.0.1"]]).look_up, lambda _: True, vouched.trusted(), 0.5)
    assert await reason(fetcher, url(served)) == "timed_out"
    await asyncio.wait_for(cut.wait(), 5)
    assert await refusal(reading(vouched, seconds=0.5), url(served)) == await the_refusal()


async def test_a_name_server_that_does_not_answer_is_given_up() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    assert await reason(Fetcher(never, seconds=0.05), "https://client.example/client.json") == "timed_out"


async def test_look_ups_have_threads_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def answer(host: str, port: int, **_: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        ran.append(threading.current_thread().name)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("socket.getaddrinfo", answer)
    assert await fetching.look_up("client.example", 443) == ["127.0.0.1"]
    assert ran[0].startswith("lookup")


# What a document must say

ADDRESS = "https://client.example/client.json"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_a_document"),
        (b"[]", "not_a_document"),
        (b"null", "not_a_document"),
        (b"{", "not_a_document"),
        (b"\xff{}", "not_a_document"),
        (b'{"a":' * 1000, "not_a_document"),
        (b"[" * 5000, "not_a_document"),
        (b'{"x":' + b"[" * 2000 + b"]" * 2000 + b"," + document(ADDRESS)[1:], "not_a_document"),
        (document(ADDRESS)[:-1] + b"} trailing", "not_a_document"),
        (document(ADDRESS, client_id=7), "not_a_document"),
        (document(ADDRESS, client_name=None), "not_a_document"),
        (document(ADDRESS, redirect_uris=None), "not_a_document"),
        (document(ADDRESS, redirect_uris=LOOPBACK), "not_a_document"),
        (document(ADDRESS, redirect_uris=[LOOPBACK, 7]), "not_a_document"),
        (document(ADDRESS, client_id=None), "not_a_document"),
        (document("https://client.example/Client.json"), "other_client_id"),
        (document(ADDRESS + "?"), "other_client_id"),
        (document(ADDRESS + " "), "other_client_id"),
        (document("https://evil.example/client.json"), "other_client_id"),
        (document(ADDRESS, client_secret="s"), "holds_a_secret"),
        (document(ADDRESS, client_secret=""), "holds_a_secret"),
        (document(ADDRESS, client_secret_expires_at=0), "holds_a_secret"),
        *[
            (document(ADDRESS, token_endpoint_auth_method=method), "auth_method")
            for method in (
                "client_secret_post",
                "client_secret_basic",
                "client_secret_jwt",
                "private_key_jwt",
                "",
                "None",
            )
        ],
        (document(ADDRESS, client_name=""), "client_name"),
        (document(ADDRESS, client_name="  "), "client_name"),
        (document(ADDRESS, client_name="\u202e\u200b\n"), "client_name"),
        (document(ADDRESS, redirect_uris=[]), "redirect_uris"),
        *[
            (document(ADDRESS, redirect_uris=[LOOPBACK, uri]), "redirect_uris")
            for uri in ("javascript:alert(1)", "http://client.example/", "https://a@b.example/", "https://b.example/#x")
        ],
        (document(ADDRESS, redirect_uris=[f"https://client.example/{n}" for n in range(11)]), "redirect_uris"),
    ],
)
async def test_a_document_that_breaks_a_rule_makes_no_client(body: bytes, code: str) -> None:
    with pytest.raises(NotFetched) as failed:
        documents.described(body, listed(ADDRESS))
    assert failed.value.code == code
    shelf = Shelf({ADDRESS: Fetched(body)})
    assert await refusal(Documents(shelf.get), ADDRESS) == await the_refusal()


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(lambda x: json.dumps(x).encode())
)
def test_any_bytes_are_a_client_or_a_reason(body: bytes) -> None:
    with pytest.raises(NotFetched):
        documents.described(body, listed(ADDRESS))


# Where documents may stand, and how long they are kept


async def test_only_listed_hosts_are_asked_when_there_is_a_list() -> None:
    other = "https://sub.client.example/client.json"
    shelf = Shelf({ADDRESS: Fetched(document(ADDRESS)), other: Fetched(document(other))})
    found = Documents(shelf.get, hosts=["client.example"])
    assert (await found.find(ADDRESS)).id == ADDRESS
    assert await refusal(found, other) == await the_refusal()
    assert shelf.asked == [ADDRESS]


@pytest.mark.parametrize(
    ("cache_control", "age", "seconds"),
    [
        ("", "", documents.KEPT_UNASKED),
        ("public", "", documents.KEPT_UNASKED),
        ("max-age=60", "", 60),
        ("Public, Max-Age=60", "", 60),
        ('max-age="60"', "", 60),
        ("max-age=60", "20", 40),
        ("max-age=60", "70", 0),
        ("max-age=60", "nonsense", 60),
        ("max-age=60, s-maxage=10", "", 10),
        ("max-age=86400", "", documents.LONGEST_KEPT),
        ("max-age=99999999999999", "", 0),
        ("max-age=-1", "", 0),
        ("max-age", "", 0),
        ("max-age=0", "", 0),
        ("no-store", "", 0),
        ("max-age=60, no-cache", "", 0),
        ("private, max-age=60", "", 0),
    ],
)
def test_a_document_is_kept_as_long_as_its_server_says(cache_control: str, age: str, seconds: float) -> None:
    assert documents.lifetime(cache_control, age) == seconds


@given(st.text(alphabet='maxge-ns toredp,="0123456789;é', max_size=60), st.text(max_size=12))
def test_no_server_is_kept_longer_than_an_hour(cache_control: str, age: str) -> None:
    assert 0 <= documents.lifetime(cache_control, age) <= documents.LONGEST_KEPT


async def test_a_kept_document_is_not_asked_for_until_its_time_is_over() -> None:
    clock, shelf = Clock(), Shelf({ADDRESS: Fetched(document(ADDRESS), "max-age=60")})
    found = Documents(shelf.get, clock=clock)
    first = await found.find(ADDRESS)
    clock.now += 59
    assert await found.find(ADDRESS) is first
    assert len(shelf.asked) == 1
    clock.now += 1
    del shelf.bodies[ADDRESS]
    assert await refusal(found, ADDRESS) == await the_refusal()
    assert len(shelf.asked) == 2


async def test_a_failure_is_kept_for_half_a_minute() -> None:
    clock, shelf = Clock(), Shelf()
    found = Documents(shelf.get, clock=clock)
    await refusal(found, ADDRESS)
    shelf.bodies[ADDRESS] = Fetched(document(ADDRESS))
    clock.now += 29
    assert await refusal(found, ADDRESS) == await the_refusal()
    assert len(shelf.asked) == 1
    clock.now += 1
    assert (await found.find(ADDRESS)).id == ADDRESS


async def test_a_document_that_must_not_be_stored_is_asked_for_each_time() -> None:
    shelf = Shelf({ADDRESS: Fetched(document(ADDRESS), "no-store")})
    found = Documents(shelf.get)
    await found.find(ADDRESS)
    await found.find(ADDRESS)
    assert len(shelf.asked) == 2


async def test_failures_do_not_push_out_clients_and_neither_grows_without_end() -> None:
    addresses_made = [f"https://client.example/{n}" for n in range(3000)]
    shelf = Shelf({ADDRESS: Fetched(document(ADDRESS))} | {a: Fetched(document(a)) for a in addresses_made[2000:]})
    found = Documents(shelf.get, clock=Clock())
    await found.find(ADDRESS)
    for each in addresses_made[:2000]:
        with pytest.raises(Refused):
            await found.find(each)
    await found.find(ADDRESS)
    assert shelf.asked.count(ADDRESS) == 1
    for each in addresses_made[2000:]:
        await found.find(each)
    assert len(found._known._kept) <= 256
    assert len(found._failed._kept) <= 1024


async def test_callers_of_one_address_share_one_fetch_and_one_who_leaves_takes_it_from_nobody() -> None:
    shelf = Shelf({ADDRESS: Fetched(document(ADDRESS), "no-store")}, gate=asyncio.Event())
    found = Documents(shelf.get)
    callers = [asyncio.create_task(found.find(ADDRESS)) for _ in range(5)]
    assert await shelf.arrivals.get() == ADDRESS
    callers[0].cancel()
    assert shelf.gate is not None
    shelf.gate.set()
    ended = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert [each.id for each in ended[1:] if isinstance(each, Client)] == [ADDRESS] * 4
    assert shelf.asked == [ADDRESS]


async def test_too_many_fetches_at_once_are_refused_and_not_remembered() -> None:
    shelf = Shelf({ADDRESS: Fetched(document(ADDRESS))}, gate=asyncio.Event())
    found = Documents(shelf.get)
    busy = [asyncio.create_task(found.find(f"https://client.example/{n}")) for n in range(documents.AT_ONCE)]
    for _ in busy:
        await shelf.arrivals.get()
    assert await refusal(found, ADDRESS) == await the_refusal()
    assert ADDRESS not in shelf.asked
    assert shelf.gate is not None
    shelf.gate.set()
    await asyncio.gather(*busy, return_exceptions=True)
    assert (await found.find(ADDRESS)).id == ADDRESS


@pytest.mark.service
async def test_a_person_is_shown_the_same_page_whatever_is_wrong_with_an_address(house: House) -> None:
    wrong = ["https://localhost:8443/client.json", "https://127.0.0.1/client.json", "https://a@client.example/x"]
    async with house.client() as http:
        shown = [
            await http.get("/authorize", params={"client_id": each, "redirect_uri": "https://evil.example/"})
            for each in wrong
        ]
    assert {(each.status_code, each.content, each.headers.get("location")) for each in shown} == {
        (400, shown[0].content, None)
    }
    assert "not known here" in shown[0].text
