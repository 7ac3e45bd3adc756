"""How often anybody may ask: by address in memory, by principal and kind of call in the database, and what it costs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_network
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from access.records import Member, Token
from access.rule import Caller
from chassis import postgres
from chassis.postgres import Pool
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.ids import BrainId, PrincipalId, TokenId
from gateway.credentials import Viewer
from gateway.http.edge import Edge
from gateway.limits import windows
from gateway.limits.addresses import Addresses, sender
from gateway.limits.permits import Permits
from gateway.limits.rates import BY_ADDRESS, CEILINGS, WRITE_REFUSED, Limit, Throttled, by_path, settable
from gateway.limits.usage import Usage
from servers import Database

BRAIN = BrainId(UUID(int=0xB1))
START = datetime(2026, 12, 1, 9, 30, 15, tzinfo=UTC)
KEY = b"0123456789abcdef"


class Clock:
    """The time, which a test moves."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def moves(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


def viewer(principal: UUID | None = None, *, token: UUID | None = None) -> Viewer:
    whose, scopes = PrincipalId(principal or uuid4()), frozenset(Scope)
    token_id = TokenId(token or uuid4())
    held = Token(token_id, whose, TokenKind.PERSON, Tier.EMPLOYEE, scopes, "a" * 64, None)
    member = Member(whose, PrincipalKind.PERSON, "alice", Role.MEMBER, Tier.EMPLOYEE, active=True)
    caller = Caller(principal=whose, subjects=frozenset({whose}), tier=Tier.EMPLOYEE, scopes=scopes)
    return Viewer(held, member, caller, 0)


# --- windows and addresses: nothing but memory ---


@given(st.floats(0, 4e9))
def test_a_window_ends_with_its_minute_and_no_wait_is_longer_than_one(at: float) -> None:
    wait = windows.wait(at)
    assert 1 <= wait <= windows.SECONDS
    assert windows.minute(at + wait) == windows.minute(at) + 1 or wait == 1


def test_an_address_is_admitted_as_often_as_it_may_and_again_with_the_next_minute() -> None:
    clock = Clock()
    addresses = Addresses(KEY, clock)
    addresses.allow(dict.fromkeys(BY_ADDRESS, 3))
    told = [addresses.take("192.0.2.1", (Limit.ADDRESS,)) for _ in range(5)]
    assert [error is None for error in told] == [True, True, True, False, False]
    assert told[4] is not None
    assert (told[4].limit, told[4].retry_after) == (Limit.ADDRESS, 45)
    assert "Try again in 45 s." in told[4].told
    assert addresses.take("192.0.2.2", (Limit.ADDRESS,)) is None
    clock.moves(45)
    assert addresses.take("192.0.2.1", (Limit.ADDRESS,)) is None


@given(st.lists(st.tuples(st.integers(0, 25), st.sampled_from(["a", "b", "c"])), max_size=80), st.integers(1, 6))
def test_addresses_are_counted_as_fixed_windows_say(steps: list[tuple[int, str]], ceiling: int) -> None:
    clock, counted = Clock(), Counter[tuple[int, str]]()
    addresses = Addresses(KEY, clock)
    addresses.allow(dict.fromkeys(BY_ADDRESS, ceiling))
    for seconds, address in steps:
        clock.moves(seconds)
        window = (windows.minute(clock().timestamp()), address)
        admitted = addresses.take(address, (Limit.ADDRESS,)) is None
        assert admitted == (counted[window] < ceiling)
        counted[window] += admitted


def test_a_request_that_one_limit_refuses_costs_nothing_of_the_others() -> None:
    addresses = Addresses(KEY, Clock())
    addresses.allow({Limit.ADDRESS: 4, Limit.ADDRESS_DOORS: 2, Limit.ADDRESS_REGISTER: 1})
    assert addresses.admit("/register", "192.0.2.1", "") is None
    for _ in range(10):
        refused = addresses.admit("/register", "192.0.2.1", "")
        assert refused is not None
        assert refused.limit is Limit.ADDRESS_REGISTER
    assert addresses.admit("/token", "192.0.2.1", "") is None
    assert addresses.admit("/token", "192.0.2.1", "") is not None
    assert [addresses.admit("/api/mcp", "192.0.2.1", "") is None for _ in range(3)] == [True, True, False]


def test_a_flood_of_addresses_takes_no_memory_and_nobodys_share() -> None:
    addresses = Addresses(KEY, Clock())
    addresses.allow(dict.fromkeys(BY_ADDRESS, 100))
    before = sum(row.itemsize * len(row) for row in addresses._rows)
    for number in range(60_000):
        addresses.take(f"flood {number}", (Limit.ADDRESS,))
    assert sum(row.itemsize * len(row) for row in addresses._rows) == before < 1 << 20
    quiet = [addresses._counted(addresses._cells(f"quiet {number}", Limit.ADDRESS)) for number in range(2000)]
    assert max(quiet) < 5
    assert sum(quiet) / len(quiet) < 0.38
    assert all(addresses.take("192.0.2.1", (Limit.ADDRESS,)) is None for _ in range(90))


@pytest.mark.parametrize(
    ("peer", "forwarded", "counted"),
    [
        ("192.0.2.1", "", "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # nobody trusts this peer to speak for others
        ("10.0.0.5", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.5", "203.0.113.9, 198.51.100.7, 10.1.1.1", "198.51.100.7"),  # the first is what the sender claims
        ("10.0.0.5", "rubbish", "10.0.0.5"),
        ("10.0.0.5", "10.0.0.6, 10.0.0.7", "10.0.0.6"),
        ("::ffff:192.0.2.1", "", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("", "", ""),
    ],
)
def test_a_request_counts_for_the_address_that_really_sent_it(peer: str, forwarded: str, counted: str) -> None:
    assert sender(peer, forwarded, (ip_network("10.0.0.0/8"),)) == counted


@pytest.mark.parametrize("path", ["/token", "/token/", "//token", "/signin", "/revoke", "/authorize", "/consent"])
def test_the_open_doors_have_a_limit_of_their_own_however_they_are_written(path: str) -> None:
    assert by_path(path) == (Limit.ADDRESS, Limit.ADDRESS_DOORS)


def test_every_limit_has_a_default_and_only_sensible_figures_can_be_set() -> None:
    assert set(CEILINGS) == set(Limit)
    assert settable("search", 5) is Limit.SEARCH
    for name, figure, code in (
        ("nothing", 5, "no_such_limit"),
        ("read", 0, "limit_out_of_range"),
        ("read", 1_000_001, "limit_out_of_range"),
    ):
        with pytest.raises(Refused) as refused:
            settable(name, figure)
        assert refused.value.code == code


# --- the edge ---


class Behind:
    """The application behind the edge: all it does is count who came through."""

    def __init__(self) -> None:
        self.served = 0

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        self.served += 1
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def through(edge: Edge, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    raw = [(b"host", b"127.0.0.1:80"), *((name.encode(), value.encode()) for name, value in headers.items())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": raw, "client": ("192.0.2.1", 9)}
    await edge(scope, receive, send)
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, sent[1]["body"]


def edge_of(behind: Behind, ceiling: int) -> Edge:
    addresses = Addresses(KEY, Clock())
    addresses.allow(dict.fromkeys(BY_ADDRESS, ceiling))
    return Edge(behind, "https://brain.example", "https://web.example", 80, addresses)


async def test_a_flood_of_unknown_tokens_goes_no_further_than_the_edge() -> None:
    behind = Behind()
    edge = edge_of(behind, 20)
    statuses = Counter[int]()
    for number in range(500):
        status, _, _ = await through(edge, "/api/mcp", authorization=f"Bearer brain_{number:043}")
        statuses[status] += 1
    assert (behind.served, statuses) == (20, {401: 20, 429: 480})


async def test_requests_of_foreign_pages_count_too() -> None:
    behind = Behind()
    edge = edge_of(behind, 2)
    assert [(await through(edge, "/api/mcp", origin="https://evil.example"))[0] for _ in range(2)] == [403, 403]
    assert (await through(edge, "/api/mcp"))[0] == 429
    assert behind.served == 0


@pytest.mark.parametrize(
    ("path", "kind", "place"),
    [
        ("/api/mcp", "application/json", ("error", "code")),
        ("/api/build/mcp", "application/json", ("error", "code")),
        ("/api/v1/whoami", "application/json", ("error", "code")),
        ("/tools/query", "application/json", ("error", "code")),
        ("/token", "application/json", ("error",)),
        ("/register", "application/json", ("error",)),
        ("/signin", "text/plain; charset=utf-8", ()),
    ],
)
async def test_who_sent_too_much_is_told_so_in_the_shape_of_that_door(
    path: str, kind: str, place: tuple[str, ...]
) -> None:
    edge = edge_of(Behind(), 1)
    await through(edge, path)
    status, headers, body = await through(edge, path, origin="https://web.example", **{"x-request-id": "given-by-me"})
    assert (status, headers["retry-after"], headers["content-type"]) == (429, "45", kind)
    assert (headers["x-request-id"], headers["access-control-allow-origin"]) == ("given-by-me", "https://web.example")
    assert b"45 s" in body
    found: Any = msgspec.json.decode(body) if place else body
    for key in place:
        found = found[key]
    told = {"/api/v1/whoami": "rate_limited", "/tools/query": "rate_limited"}
    assert found == {("error",): "temporarily_unavailable", (): body}.get(place, told.get(path, 429))
    if path == "/api/mcp":
        assert msgspec.json.decode(body)["error"]["data"] == {"retryAfter": 45, "requestId": "given-by-me"}
        assert headers["mcp-protocol-version"] == "2025-06-18"


# --- permits: one call of the database, whoever asks where ---


@pytest.fixture(name="replicas")
async def two_processes(database: Database) -> AsyncIterator[tuple[Pool, Pool]]:
    async with process(database) as one, process(database) as other:
        yield one, other


@asynccontextmanager
async def process(database: Database) -> AsyncIterator[Pool]:
    pool = await postgres.connect(database.secret("gateway"), "gateway", service="gateway", largest=6)
    try:
        yield pool
    finally:
        await pool.close()


def usage_of(pool: Pool, clock: Clock, brain: BrainId = BRAIN) -> Usage:
    return Usage(pool, brain, clock, lambda _ceilings: None)


async def tried(permits: Permits, who: Viewer, limit: Limit, tool: str | None = None) -> Throttled | None:
    try:
        await permits.take(who, limit, tool)
    except Throttled as error:
        return error
    return None


@pytest.mark.service
async def test_two_replicas_give_exactly_as_many_permits_as_there_are(replicas: tuple[Pool, Pool]) -> None:
    clock, alice, admin = Clock(), viewer(), PrincipalId(uuid4())
    await usage_of(replicas[0], clock).set(Limit.SEARCH, 30, admin)
    permits = [Permits(pool, BRAIN, clock) for pool in replicas]
    told = await asyncio.gather(*(tried(permits[turn % 2], alice, Limit.SEARCH, "search") for turn in range(60)))
    assert [error is None for error in told].count(True) == 30
    assert {error.retry_after for error in told if error is not None} == {45}
    assert await tried(permits[0], viewer(), Limit.SEARCH) is None
    assert await tried(permits[0], alice, Limit.READ) is None


@pytest.mark.service
async def test_permits_come_back_with_the_next_minute_and_a_late_clock_turns_nothing_back(
    replicas: tuple[Pool, Pool],
) -> None:
    clock, late, alice = Clock(), Clock(), viewer()
    await usage_of(replicas[0], clock).set(Limit.READ, 2, PrincipalId(uuid4()))
    permits, behind = Permits(replicas[0], BRAIN, clock), Permits(replicas[1], BRAIN, late)
    assert [await tried(permits, alice, Limit.READ) is None for _ in range(3)] == [True, True, False]
    clock.moves(44.5)
    refused = await tried(permits, alice, Limit.READ)
    assert refused is not None
    assert refused.retry_after == 1
    clock.moves(0.5)
    assert await tried(permits, alice, Limit.READ) is None
    assert await tried(behind, alice, Limit.READ) is None
    refused = await tried(behind, alice, Limit.READ)
    assert refused is not None
    assert refused.retry_after == 105  # until the window that stands is over
    assert await tried(permits, alice, Limit.READ) is not None


@pytest.mark.service
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([0, 0, 0, 9, 40]), st.integers(0, 1), st.sampled_from(["ask", "propose"])),
        min_size=1,
        max_size=25,
    )
)
async def test_permits_are_counted_as_fixed_windows_say(
    replicas: tuple[Pool, Pool], steps: list[tuple[int, int, str]]
) -> None:
    """Asking has one limit of 3; proposing has 4 a principal, 3 a token and 5 a brain, and takes all or none."""
    clock, brain = Clock(), BrainId(uuid4())
    people = [viewer(), viewer()]
    figures = {Limit.ASK: 3, Limit.PROPOSE: 4, Limit.TOKEN_WRITES: 3, Limit.BRAIN_WRITES: 5}
    for limit, figure in figures.items():
        await usage_of(replicas[0], clock, brain).set(limit, figure, PrincipalId(uuid4()))
    counted = Counter[tuple[int, Limit, int]]()
    for turn, (seconds, whose, kind) in enumerate(steps):
        clock.moves(seconds)
        minute = windows.minute(clock().timestamp())
        wanted = [(minute, Limit.ASK, whose)]
        if kind == "propose":
            wanted = [
                (minute, Limit.PROPOSE, whose),
                (minute, Limit.TOKEN_WRITES, whose),
                (minute, Limit.BRAIN_WRITES, 9),
            ]
        reached = next((each[1] for each in wanted if counted[each] >= figures[each[1]]), None)
        told = await tried(Permits(replicas[turn % 2], brain, clock), people[whose], Limit(kind), kind)
        assert (None if told is None else told.limit) is reached
        counted.update(wanted if told is None else ())
    admitted = sum(number for (_, limit, _), number in counted.items() if limit in {Limit.ASK, Limit.PROPOSE})
    costs = await usage_of(replicas[0], clock, brain).costs(START.date())
    assert (sum(line.calls for line in costs), sum(line.refused for line in costs)) == (
        admitted,
        len(steps) - admitted,
    )


@pytest.mark.service
async def test_writes_are_limited_by_token_and_by_brain_and_refused_in_the_documents_words(
    replicas: tuple[Pool, Pool],
) -> None:
    clock, alice, admin = Clock(), uuid4(), PrincipalId(uuid4())
    usage, permits = usage_of(replicas[0], clock), Permits(replicas[1], BRAIN, clock)
    await usage.set(Limit.TOKEN_WRITES, 2, admin)
    await usage.set(Limit.BRAIN_WRITES, 5, admin)
    first, second = viewer(alice), viewer(alice)
    told = [await tried(permits, first, Limit.PROPOSE) for _ in range(3)]
    assert [error is None for error in told] == [True, True, False]
    assert [await tried(permits, second, Limit.PROPOSE) is None for _ in range(2)] == [True, True]
    assert await tried(permits, viewer(), Limit.PROPOSE) is None
    whole = await tried(permits, viewer(), Limit.PROPOSE)
    assert told[2] is not None
    assert whole is not None
    assert (told[2].limit, whole.limit) == (Limit.TOKEN_WRITES, Limit.BRAIN_WRITES)
    assert (
        told[2].told
        == whole.told
        == WRITE_REFUSED
        == (
            "Write rate limit reached for this token or organization. The proposal was NOT registered. Try again later."
        )
    )
    assert await tried(permits, viewer(), Limit.READ) is None
    assert await tried(Permits(replicas[1], BrainId(uuid4()), clock), first, Limit.PROPOSE) is None


@pytest.mark.service
@pytest.mark.parametrize(("narrow", "wide"), [(Limit.TOKEN_WRITES, 100), (Limit.BRAIN_WRITES, 1)])
async def test_a_proposal_that_one_limit_refuses_takes_nothing_of_the_others(
    replicas: tuple[Pool, Pool], narrow: Limit, wide: int
) -> None:
    clock, brain, alice, admin = Clock(), BrainId(uuid4()), uuid4(), PrincipalId(uuid4())
    usage, permits = usage_of(replicas[0], clock, brain), Permits(replicas[1], brain, clock)
    for limit, figure in ((Limit.PROPOSE, 4), (Limit.TOKEN_WRITES, 100), (Limit.BRAIN_WRITES, wide), (narrow, 1)):
        await usage.set(limit, figure, admin)
    first = viewer(alice)
    told = [await tried(permits, first, Limit.PROPOSE) for _ in range(8)]
    assert [error and error.limit for error in told] == [None] + [narrow] * 7
    await usage.set(Limit.BRAIN_WRITES, 100, admin)
    told = [await tried(permits, viewer(alice), Limit.PROPOSE) for _ in range(4)]
    assert [error and error.limit for error in told] == [None, None, None, Limit.PROPOSE]


@pytest.mark.service
async def test_a_refused_call_is_counted_and_not_billed(replicas: tuple[Pool, Pool]) -> None:
    clock, alice, brain = Clock(), viewer(), BrainId(uuid4())
    usage, permits = usage_of(replicas[0], clock, brain), Permits(replicas[0], brain, clock)
    await usage.set(Limit.SEARCH, 2, PrincipalId(uuid4()))
    for _ in range(5):
        await tried(permits, alice, Limit.SEARCH, "search")
    await permits.take(alice, Limit.READ, "read_page")
    await permits.take(alice, Limit.PROTOCOL)
    (line,) = await usage.costs(START.date())
    assert (line.category, line.billable, line.calls, line.refused) == ("tool_call", True, 3, 3)


@pytest.mark.service
async def test_a_turn_of_a_chat_costs_its_tokens_once_and_is_billed_where_it_acted(replicas: tuple[Pool, Pool]) -> None:
    clock, brain, alice = Clock(), BrainId(uuid4()), PrincipalId(uuid4())
    usage, run = usage_of(replicas[0], clock, brain), uuid4()
    for _ in range(2):
        await usage.ran(run, alice, 1200, acted=True)
    await usage.ran(uuid4(), alice, 300, acted=False)
    clock.moves(86_400)
    await usage.ran(uuid4(), alice, 50, acted=False)
    costs = await usage.costs(START.date())
    assert [(line.day, line.category, line.billable, line.calls, line.tokens) for line in costs] == [
        (date(2026, 12, 2), "agent_run", False, 1, 50),
        (date(2026, 12, 1), "agent_run", False, 1, 300),
        (date(2026, 12, 1), "agent_run", True, 1, 1200),
    ]
    assert await usage.costs(date(2026, 12, 3)) == []


@pytest.mark.service
async def test_a_limit_counts_as_set_in_every_replica_at_once_and_says_who_set_it(replicas: tuple[Pool, Pool]) -> None:
    clock, brain, admin, alice = Clock(), BrainId(uuid4()), PrincipalId(uuid4()), viewer()
    heard: list[int] = []
    usage = Usage(replicas[0], brain, clock, lambda ceilings: heard.append(ceilings[Limit.ADDRESS]))
    await usage.set(Limit.ADDRESS, 7, admin)
    await usage.set(Limit.READ, 1, admin)
    elsewhere = Permits(replicas[1], brain, clock)
    assert [await tried(elsewhere, alice, Limit.READ) is None for _ in range(2)] == [True, False]
    await usage.set(Limit.READ, None, admin)
    assert await tried(elsewhere, alice, Limit.READ) is None
    await usage.set(Limit.ADDRESS, None, admin)
    assert heard == [7, 7, 7, CEILINGS[Limit.ADDRESS].per_minute]
    lines = {line.name: line for line in await usage.listed()}
    read, search = lines["read"], lines["search"]
    assert (read.per_minute, read.changed_by, read.changed_at) == (read.default, admin, START)
    assert (search.per_minute, search.changed_by) == (search.default, None)


@pytest.mark.service
async def test_windows_that_are_over_are_forgotten_and_the_one_that_stands_is_not(replicas: tuple[Pool, Pool]) -> None:
    clock, brain, told = Clock(), BrainId(uuid4()), asyncio.Event()
    permits = Permits(replicas[0], brain, clock)
    await permits.take(viewer(), Limit.READ)
    clock.moves(7200)
    await permits.take(viewer(), Limit.READ)
    following = asyncio.create_task(Usage(replicas[0], brain, clock, lambda _ceilings: told.set()).follow())
    await told.wait()
    async with asyncio.timeout(10):
        while (left := await windows_of(replicas[0], brain)) != [START.replace(second=0) + timedelta(hours=2)]:
            assert len(left) == 2
    following.cancel()


@pytest.mark.service
async def test_what_cannot_be_counted_is_not_served(database: Database) -> None:
    standing_by = {"default_transaction_read_only": "on"}
    pool = await postgres.connect(database.secret("gateway"), "gateway", service="gateway", settings=standing_by)
    try:
        with pytest.raises(Unavailable):
            await Permits(pool, BRAIN).take(viewer(), Limit.READ)
        told: asyncio.Queue[None] = asyncio.Queue()
        last_second = Clock(START.replace(second=59))
        usage = Usage(pool, BRAIN, last_second, lambda _ceilings: told.put_nowait(None))
        following = asyncio.create_task(usage.follow())
        async with asyncio.timeout(10):
            await told.get()
            await told.get()  # what could not be cleared away did not end it
        following.cancel()
    finally:
        await pool.close()


async def windows_of(pool: Pool, brain: BrainId) -> list[datetime]:
    async with postgres.transaction(pool, brain) as db:
        return [row["begins"] for row in await db.fetch("select begins from rate_windows")]
