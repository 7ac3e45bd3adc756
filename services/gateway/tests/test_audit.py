"""The audit: one row for each request by every door, none of its content, and a chain that shows every change."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brain import main as console
from brain import signins
from brain.stack.home import Home, prepare
from chassis import postgres
from chassis.postgres import Connection, Pool
from contracts import approvals_messages, gateway_api, gateway_audit, retrieval_messages
from contracts import gateway_messages as messages
from contracts.enums import Role, Scope, Tier
from contracts.errors import Refused, Unavailable
from contracts.gateway_audit import AuditProblem
from contracts.ids import BrainId, PageId, ProposalId, node_id
from gateway.audit import operations
from gateway.audit.operations import Door
from gateway.audit.seals import Seals
from gateway.audit.trail import Trail
from gateway.audit.writer import Audit
from gateway_world import House, gateway
from oauth_world import application, browser, call, query
from servers import Database, free_port

pytestmark = pytest.mark.service

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
CANARY = "zebra-canary"
FAR = datetime(2300, 1, 1, tzinfo=UTC)
"""With this clock every minute that has rows is over, and rows that follow belong to the next one."""


@dataclass(frozen=True, slots=True)
class Replica:
    """What a process has of the audit."""

    pool: Pool
    audit: Audit
    seals: Seals

    async def calls(self, many: int, operation: str = "search") -> None:
        for _ in range(many):
            trail = self.audit.begin(Door.MCP, operation, writes=False)
            trail.close(uuid4().hex)
            await self.audit.leave(trail)


@dataclass(frozen=True, slots=True)
class Chain:
    """A brain's audit, and the superuser who can do to it what no role may."""

    brain: BrainId
    one: Replica
    two: Replica
    root: Connection

    async def minute_of_calls(self, many: int) -> datetime:
        """A minute of its own with so many rows, sealed."""
        await self.one.calls(many)
        await self.one.audit.flush()
        assert await self.one.seals.seal() == 1
        found: datetime = await self.root.fetchval("select max(minute) from gateway.audit_seals")
        return found

    async def problems(self) -> list[tuple[datetime, str]]:
        return [(each.minute, each.what) for each in (await self.one.seals.verify()).problems]


@pytest_asyncio.fixture(loop_scope="session")
async def chain(database: Database) -> AsyncIterator[Chain]:
    brain, key = BrainId(uuid4()), Ed25519PrivateKey.generate()
    root = await asyncpg.connect(database.dsn("postgres"))
    await root.execute("set session_replication_role = replica")
    async with _replica(database, brain, key) as one, _replica(database, brain, key) as two:
        yield Chain(brain, one, two, root)
    await root.close()


@asynccontextmanager
async def _replica(database: Database, brain: BrainId, key: Ed25519PrivateKey) -> AsyncIterator[Replica]:
    pool = await postgres.connect(database.secret("gateway"), "gateway", service="gateway")
    audit = Audit(pool, brain, b"k", lambda: NOW)
    async with audit.writing():
        yield Replica(pool, audit, Seals(pool, brain, (key, key.public_key()), lambda: FAR))
    await pool.close()


async def test_an_untouched_chain_is_whole_and_tells_what_is_not_sealed_yet(chain: Chain) -> None:
    for many in (3, 1, 1500):
        await chain.minute_of_calls(many)
    await chain.two.calls(2)
    await chain.two.audit.flush()
    found = await chain.two.seals.verify()
    assert (found.seals, found.rows, found.unsealed, found.problems, found.next) == (3, 1504, 2, (), None)
    head = await chain.root.fetchval("select hash from gateway.audit_seals order by minute desc limit 1")
    assert found.head == head.hex()


async def _change(root: Connection, minute: datetime) -> None:
    await root.execute(
        "update gateway.audit_rows set outcome = 'forbidden'"
        " where id = (select max(id) from gateway.audit_rows where minute = $1)",
        minute,
    )


async def _delete(root: Connection, minute: datetime) -> None:
    await root.execute(
        "delete from gateway.audit_rows where id = (select min(id) from gateway.audit_rows where minute = $1)", minute
    )


async def _insert(root: Connection, minute: datetime) -> None:
    await root.execute(
        "insert into gateway.audit_rows"
        " (brain, minute, at, request_id, door, operation, outcome, writes, concerned, requests)"
        " select brain, minute, at, 'abcdefgh', door, operation, outcome, writes, concerned, requests"
        " from gateway.audit_rows where minute = $1 limit 1",
        minute,
    )


async def _swap(root: Connection, minute: datetime) -> None:
    """As many as before, and yet another one."""
    await _insert(root, minute)
    await _delete(root, minute)


async def _empty(root: Connection, minute: datetime) -> None:
    await root.execute("delete from gateway.audit_rows where minute = $1", minute)


async def _unsealed(root: Connection, minute: datetime) -> None:
    """Rows for a minute in between that had none."""
    await _insert(root, minute)
    await root.execute(
        "update gateway.audit_rows set minute = minute - interval '30 seconds' where request_id = 'abcdefgh'"
    )


async def _reseal(root: Connection, minute: datetime) -> None:
    """The hash is made to fit by somebody who has no key to sign it."""
    await root.execute("update gateway.audit_seals set hash = sha256(hash) where minute = $1", minute)


@pytest.mark.parametrize(
    ("tamper", "what"),
    [
        (_change, "row_changed"),
        (_delete, "row_missing"),
        (_insert, "row_added"),
        (_swap, "row_changed"),
        (_empty, "row_missing"),
        (_reseal, "seal_changed"),
    ],
)
async def test_what_a_superuser_changes_is_found_in_its_minute(
    chain: Chain, tamper: Callable[[Connection, datetime], object], what: str
) -> None:
    minutes = [await chain.minute_of_calls(many) for many in (4, 5, 6)]
    assert await chain.problems() == []
    await tamper(chain.root, minutes[1])  # type: ignore[misc]  # each of them is a coroutine function
    found = await chain.problems()
    assert found[0] == (minutes[1], what)
    assert {minute for minute, _ in found} <= {minutes[1], minutes[2]}


async def test_a_minute_that_is_taken_out_whole_leaves_a_gap_in_the_chain(chain: Chain) -> None:
    minutes = [await chain.minute_of_calls(many) for many in (2, 2, 2)]
    await chain.root.execute("delete from gateway.audit_rows where minute = $1", minutes[1])
    await chain.root.execute("delete from gateway.audit_seals where minute = $1", minutes[1])
    assert await chain.problems() == [(minutes[2], "seal_missing")]


async def test_rows_slipped_in_between_two_sealed_minutes_are_found(chain: Chain) -> None:
    minutes = [await chain.minute_of_calls(2) for _ in range(2)]
    await _unsealed(chain.root, minutes[1])
    ((minute, what),) = await chain.problems()
    assert (what, minutes[0] < minute < minutes[1]) == ("row_added", True)


async def test_a_long_chain_is_checked_in_stretches_that_join(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.audit.seals.MOST_CHECKED", 5)
    minutes = [await chain.minute_of_calls(3) for _ in range(5)]
    await _change(chain.root, minutes[3])
    after, seals, problems = None, 0, list[AuditProblem]()
    for _ in range(3):
        found = await chain.one.seals.verify(after)
        seals, problems, after = seals + found.seals, [*problems, *found.problems], found.next
    assert (seals, after) == (5, None)
    assert problems == [AuditProblem(minute=minutes[3], what="row_changed")]


async def test_replicas_write_side_by_side_and_one_of_them_seals(chain: Chain) -> None:
    async def sealing(replica: Replica) -> int:
        return sum([await replica.seals.seal() for _ in range(20)])

    made = await asyncio.gather(chain.one.calls(2000), chain.two.calls(2000), sealing(chain.one), sealing(chain.two))
    await asyncio.gather(chain.one.audit.flush(), chain.two.audit.flush())
    sealed = sum(each for each in made if each) + await chain.one.seals.seal()
    found = await chain.two.seals.verify()
    assert (found.rows, found.unsealed, found.problems) == (4000, 0, ())
    assert found.seals == sealed


async def test_a_replica_that_finds_another_one_sealing_leaves_it_to_that_one(chain: Chain) -> None:
    await chain.one.calls(1)
    await chain.one.audit.flush()
    async with postgres.transaction(chain.one.pool, chain.brain) as db:
        await db.fetchval(
            "select pg_try_advisory_xact_lock(hashtextextended('audit seals ' || $1::uuid, 0))", chain.brain
        )
        assert await chain.two.seals.seal() == 0
    assert await chain.two.seals.seal() == 1


async def test_a_row_never_enters_a_minute_that_is_sealed(chain: Chain) -> None:
    first = await chain.minute_of_calls(1)
    second = await chain.minute_of_calls(1)
    assert (second - first).total_seconds() == 60


async def test_the_service_can_add_rows_and_change_none(chain: Chain) -> None:
    await chain.minute_of_calls(1)
    for table in ("audit_rows", "audit_seals", "served"):
        for statement in ("update {} set brain = brain", "delete from {}", "truncate {}"):
            async with postgres.transaction(chain.one.pool, chain.brain) as db:
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    async with db.transaction():
                        await db.execute(statement.format(table))


async def test_the_owner_of_the_tables_can_change_no_row_either(chain: Chain, database: Database) -> None:
    await chain.minute_of_calls(1)
    owner = await asyncpg.connect(database.dsn("migrator"))
    try:
        await owner.execute("select set_config('brain.id', $1, false)", str(chain.brain))
        for statement in ("update gateway.audit_rows set results = 7", "delete from gateway.audit_seals"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="only added to"):
                await owner.execute(statement)
    finally:
        await owner.close()


async def test_everything_that_waits_is_written_before_a_process_ends(database: Database) -> None:
    brain, root = BrainId(uuid4()), await asyncpg.connect(database.dsn("postgres"))
    async with _replica(database, brain, Ed25519PrivateKey.generate()) as replica:
        await replica.calls(2500)
        before = await root.fetchval("select count(*) from gateway.audit_rows where brain = $1", brain)
    after = await root.fetchval("select count(*) from gateway.audit_rows where brain = $1", brain)
    await root.close()
    assert before < after == 2500


async def test_a_full_queue_makes_the_call_wait_and_drops_nothing(chain: Chain) -> None:
    audit = Audit(chain.one.pool, chain.brain, b"k", lambda: NOW, most=3)
    few = Replica(chain.one.pool, audit, chain.one.seals)
    await few.calls(3)
    fourth = asyncio.ensure_future(few.calls(1))
    done, _ = await asyncio.wait({fourth}, timeout=0.05)
    assert not done
    async with audit.writing():
        await fourth
    assert await chain.root.fetchval("select count(*) from gateway.audit_rows where brain = $1", chain.brain) == 4


async def test_rows_wait_for_a_database_that_takes_none(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.audit.writer._PATIENCE", 0.3)
    await chain.root.execute("revoke insert on gateway.audit_rows from gateway")
    await chain.one.calls(5)
    with pytest.raises(Unavailable):
        await chain.one.audit.flush()
    await chain.root.execute("grant insert on gateway.audit_rows to gateway")
    monkeypatch.undo()
    await chain.one.audit.flush()
    assert await chain.root.fetchval("select count(*) from gateway.audit_rows where brain = $1", chain.brain) == 5


def test_what_is_not_of_a_closed_form_does_not_enter_a_row() -> None:
    trail = Trail(door=Door.MCP, operation="search", at=NOW, key=b"k")
    trail.refused(f"A title: {CANARY}")
    trail.trust = f"{CANARY}!"
    trail.hashes({"query": CANARY})
    trail.close(f"{CANARY} {CANARY}")
    assert CANARY not in repr((trail.outcome, trail.trust, trail.request, trail.arguments))
    assert trail.outcome == "refused"


def test_equal_arguments_have_one_hash_under_one_key_and_another_under_another() -> None:
    def hashed(arguments: object, key: bytes = b"k") -> str | None:
        trail = Trail(door=Door.MCP, operation="search", at=NOW, key=key)
        trail.hashes(arguments)
        return trail.arguments

    assert hashed({"query": "a", "limit": 3}) == hashed({"limit": 3, "query": "a"})
    assert len({hashed({"query": "a"}), hashed({"query": "b"}), hashed({"query": "a"}, b"other")}) == 3


def test_every_route_of_the_console_has_its_operation_and_shares_it_with_the_bus() -> None:
    paths = {
        value
        for module in (gateway_api, gateway_audit)
        for value in vars(module).values()
        if isinstance(value, str) and value.startswith("/api/v1/")
    }
    assert set(operations.CONSOLE) == paths
    assert len(set(operations.CONSOLE.values())) == len(paths)
    subjects = {value.rpartition(".")[2] for value in vars(messages).values() if _is_subject(value)}
    alone = {"open_brain", "sign_in", "session", "record_run"}
    assert subjects - alone <= set(operations.CONSOLE.values())


def _is_subject(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("cmd.gateway.", "ask.gateway."))


# Over the wire.


def _call(tool: str, **arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def _receipt(page: PageId, revision: int) -> retrieval_messages.Receipt:
    return retrieval_messages.Receipt(
        page=page,
        revision=revision,
        digest="0" * 64,
        approver=CANARY,
        approved_at=NOW,
        verified_at=None,
        position=5,
    )


def _hits(*pages: PageId) -> retrieval_messages.Hits:
    hits = tuple(
        retrieval_messages.Hit(
            path=f"{CANARY}.md",
            id=node_id(page),
            title=CANARY,
            heading=(CANARY,),
            text=CANARY,
            trust="canon_verified",
            score=0.5,
            receipt=_receipt(page, 3),
        )
        for page in pages
    )
    return retrieval_messages.Hits(hits=hits, trust="canon_verified", empty="", degraded=(), position=9)


def _id() -> str:
    return uuid4().hex


async def _rows(house: House, request: str) -> list[dict[str, object]]:
    """What is recorded under a request's id, as the owner reads it."""
    async with house.client(await house.sign_in()) as http:
        answer = await http.get("/api/v1/trace", params={"request": request})
    assert answer.status_code in {200, 404}, answer.text
    rows: list[dict[str, object]] = answer.json().get("rows", [])
    return rows


async def _row(house: House, request: str) -> dict[str, object]:
    (row,) = await _rows(house, request)
    return row


async def test_a_tool_call_leaves_one_row_with_all_that_is_asked_and_nothing_of_its_content(own_house: House) -> None:
    page, request = PageId(uuid4()), _id()
    await own_house.neighbour.answers(retrieval_messages.SEARCH, _hits(page, page))
    issued = await own_house.token()
    async with own_house.client(issued.secret, **{"x-request-id": request}) as http:
        assert (await http.post("/api/mcp", json=_call("search", query=CANARY))).status_code == 200
    row = await _row(own_house, request)
    assert row["door"] == "mcp"
    assert (row["operation"], row["outcome"], row["writes"]) == ("search", "ok", False)
    assert (row["principal"], row["token"], row["kind"]) == (str(own_house.alice), str(issued.token), "person")
    assert (row["results"], row["trust"], row["position"]) == (2, "canon_verified", 9)
    assert row["concerned"] == [str(page)]
    assert len(str(row["arguments"])) == 64
    async with own_house.client(await own_house.sign_in()) as http:
        trace = (await http.get("/api/v1/trace", params={"request": request})).json()
    (served,) = trace["served"]
    assert (served["page"], served["revision"], served["position"], served["passage"]) == (str(page), 3, 9, True)
    assert served["principal"] == str(own_house.alice)


async def test_each_door_leaves_one_row_and_one_name_for_one_operation(own_house: House) -> None:
    calls = {name: _id() for name in ("refused", "nobody", "nobody_here", "console", "denied", "unknown")}
    missing = Refused("no_such_page", "There is no such page.", "path")
    await own_house.neighbour.answers(retrieval_messages.READ_PAGE, missing)
    reader = (await own_house.token()).secret
    async with own_house.client(reader) as http:
        for name, body in (
            ("refused", _call("read_page", path=f"{CANARY}.md")),
            ("denied", _call("write_inbox", kind="correction", title=CANARY, body=CANARY * 3)),
            ("unknown", _call(CANARY)),
        ):
            await http.post("/api/mcp", json=body, headers={"x-request-id": calls[name]})
    async with own_house.client("brain_" + CANARY) as http:
        assert (
            await http.post("/api/mcp", json=_call("search", query=CANARY), headers={"x-request-id": calls["nobody"]})
        ).status_code == 401
        assert (await http.get("/api/v1/whoami", headers={"x-request-id": calls["nobody_here"]})).status_code == 401
    async with own_house.client(await own_house.sign_in()) as http:
        body = {"name": "carol", "role": "member", "tier": "employee"}
        assert (
            await http.post("/api/v1/members/add", json=body, headers={"x-request-id": calls["console"]})
        ).status_code == 200
    found = {name: await _row(own_house, request) for name, request in calls.items()}
    told = {name: (row["door"], row["operation"], row["outcome"]) for name, row in found.items()}
    assert told == {
        "refused": ("mcp", "read_page", "no_such_page"),
        "denied": ("mcp", "write_inbox", "missing_scope"),
        "unknown": ("mcp", "unknown_tool", "invalid_params"),
        "nobody": ("mcp", "authenticate", "not_signed_in"),
        "nobody_here": ("console", "authenticate", "not_signed_in"),
        "console": ("console", "add_member", "ok"),
    }
    assert found["nobody"]["principal"] is None
    dave = await own_house.join("dave")
    async with own_house.client(await own_house.sign_in()) as http:
        lines = (await http.get("/api/v1/audit", params={"operation": "add_member"})).text.splitlines()
    assert len(lines) == 2
    assert '"door":"console"' in lines[0]
    assert '"door":"bus"' in lines[1]
    assert str(dave) in lines[1]


async def test_a_page_that_is_read_as_tool_and_as_resource_is_one_operation(own_house: House) -> None:
    await own_house.neighbour.answers(retrieval_messages.READ_PAGE, Refused("no_such_page", "There is none.", "path"))
    tool, resource = _id(), _id()
    read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"brain://page/{CANARY}.md"}}
    async with own_house.client((await own_house.token()).secret) as http:
        await http.post("/api/mcp", json=_call("read_page", path="a.md"), headers={"x-request-id": tool})
        await http.post("/api/mcp", json=read, headers={"x-request-id": resource})
    names = [
        (row["operation"], row["outcome"]) for row in (await _row(own_house, tool), await _row(own_house, resource))
    ]
    assert names == [("read_page", "no_such_page")] * 2


async def test_the_same_command_by_console_and_bus_has_the_same_name_and_hash(own_house: House) -> None:
    async with own_house.client(await own_house.sign_in()) as http:
        await http.post("/api/v1/members/add", json={"name": "erin", "role": "member", "tier": "employee"})
        await own_house.join("erin")
        lines = (await http.get("/api/v1/audit", params={"operation": "add_member"})).text.splitlines()
    rows = [gateway_audit_row(line) for line in lines]
    assert [(row.door, row.outcome) for row in rows] == [("console", "ok"), ("bus", "ok")]
    assert rows[0].arguments == rows[1].arguments
    assert rows[0].principal == rows[1].principal == own_house.alice


def gateway_audit_row(line: str) -> gateway_audit.AuditRow:
    return msgspec.json.decode(line, type=gateway_audit.AuditRow)


async def test_content_and_secrets_stand_in_no_row(own_house: House) -> None:
    filed = approvals_messages.Submitted(proposal=ProposalId(uuid4()), position=5, archived=True)
    await own_house.neighbour.answers(retrieval_messages.SEARCH, _hits(PageId(uuid4())))
    await own_house.neighbour.answers(approvals_messages.SUBMIT_TEXT, filed)
    token = await own_house.token(None, Scope.READ, Scope.PROPOSE)
    link = await own_house.sign_in(link=True)
    async with own_house.client(token.secret) as http:
        for body in (
            _call("search", query=CANARY),
            _call("search", query=CANARY, **{CANARY: CANARY}),
            _call("write_inbox", kind="correction", title=CANARY, body=f"{CANARY} and more"),
            _call(CANARY, path=CANARY),
            {"jsonrpc": "2.0", "id": CANARY, "method": CANARY, "params": {CANARY: CANARY}},
            {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"brain://page/{CANARY}.md"}},
        ):
            await http.post("/api/mcp", json=body, headers={"x-request-id": f"{CANARY} has blanks"})
        await http.post("/api/mcp", content=CANARY.encode(), headers={"content-type": "application/json"})
        await http.get(f"/{CANARY}?{CANARY}={CANARY}")
        await http.get("/authorize", params={"client_id": CANARY, "state": CANARY, "redirect_uri": CANARY})
        await http.post("/token", data={"grant_type": CANARY, "code": CANARY, "client_id": CANARY})
        await http.get("/signin", params={"code": link})
        await http.get("/signin", params={"code": CANARY})
    session = await own_house.sign_in()
    async with own_house.client(session) as http:
        await http.post("/api/v1/members/add", json={"name": CANARY})
        await http.post("/api/v1/grants/add", json={"subject": CANARY, "permission": "read", "scope": f"{CANARY}.md"})
        await http.get("/api/v1/why", params={"person": "alice", "path": f"{CANARY}.md"})
        await http.get("/api/v1/audit", params={"operation": CANARY})
        assert (await http.get("/api/v1/trace", params={"request": CANARY})).status_code == 404
        assert (await http.get("/api/v1/audit", params={"limit": 1})).status_code == 200
    root = await asyncpg.connect(own_house.database.dsn("postgres"))
    try:
        for table in ("audit_rows", "served", "audit_seals"):
            lines = [row[0] for row in await root.fetch(f"select t::text from gateway.{table} t")]
            assert table == "audit_seals" or lines
            for word in (CANARY, token.secret, link, session, "alice", ".md"):
                assert [line for line in lines if word in line] == [], word
    finally:
        await root.close()
    assert await _operations(own_house) >= {"search", "write_inbox", "unknown_tool", "unknown_method", "unknown_route"}
    assert await _operations(own_house) >= {"oauth_authorize", "oauth_token", "use_signin_link", "sign_in", "why"}


async def _operations(house: House) -> set[str]:
    async with house.client(await house.sign_in()) as http:
        return {gateway_audit_row(line).operation for line in (await http.get("/api/v1/audit")).text.splitlines()}


async def test_the_authorization_server_leaves_who_consented_to_which_connection_and_why_not(own_house: House) -> None:
    async with browser(own_house, "alice") as person, application(own_house) as app:
        tokens = await app.connected(person)
        refreshed = (await app.refresh(tokens["refresh_token"])).json()
        assert (await app.refresh("of nobody")).status_code == 400
        await app.exchange(CANARY)
        assert (await call(own_house, refreshed["access_token"])).status_code == 200
        denied = await person.press(await person.open(app.request()), "deny")
        assert query(denied)["error"] == "access_denied"
        await person.open("/authorize?client_id=nobody")
    async with own_house.client() as http:
        await http.get("/signin", params={"code": CANARY})
    async with own_house.client(await own_house.sign_in()) as http:
        rows = [gateway_audit_row(line) for line in (await http.get("/api/v1/audit")).text.splitlines()]

    def told(operation: str) -> list[tuple[str, bool]]:
        return [(row.outcome, row.principal == own_house.alice) for row in rows if row.operation == operation]

    assert told("use_signin_link") == [("ok", True), ("link_spent", False)]
    assert told("oauth_consent").count(("ok", True)) >= 2
    assert told("oauth_consent")[-1] == ("access_denied", True)
    assert told("oauth_token") == [("ok", True), ("ok", True), ("invalid_grant", False), ("invalid_grant", False)]
    assert told("oauth_register") == [("ok", False)]
    assert told("oauth_authorize")[-1] == ("invalid_client", False)
    (consented,) = {each for row in rows if row.operation == "oauth_consent" for each in row.concerned}
    assert {row.token for row in rows if row.operation in {"oauth_token", "list_tools"}} == {consented, None}


async def test_a_number_that_nothing_holds_is_refused_as_it_always_was(own_house: House) -> None:
    async with own_house.client((await own_house.token()).secret) as http:
        answers = [
            await http.post("/api/mcp", content=text, headers={"content-type": "application/json"})
            for text in (
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a","limit":1'
                + b"0" * 400
                + b"}}}",
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}',
            )
        ]
    assert [answer.status_code for answer in answers] == [200, 400]


async def test_a_trace_tells_the_facts_that_a_request_led_to(own_house: House) -> None:
    request = _id()
    async with own_house.client(await own_house.sign_in(), **{"x-request-id": request}) as http:
        added = (await http.post("/api/v1/members/add", json={"name": "frank"})).json()
    async with own_house.client(await own_house.sign_in()) as http:
        trace = (await http.get("/api/v1/trace", params={"request": request})).json()
    (row,) = trace["rows"]
    assert row["concerned"] == [added["member"]]
    assert row["position"] == added["position"] == trace["facts"][-1]["position"]
    assert "member_joined" in {fact["type"] for fact in trace["facts"]}
    assert {fact["actor"] for fact in trace["facts"]} == {str(own_house.alice)}
    assert "frank" not in str(trace)


async def test_a_request_is_traced_by_whoever_made_it_and_by_admins_and_there_is_none_for_others(
    own_house: House,
) -> None:
    await own_house.join("gina")
    await own_house.join("henry", Role.ADMIN, Tier.EMPLOYEE)
    hers = _id()
    async with own_house.client(await own_house.sign_in("gina")) as http:
        await http.get("/api/v1/whoami", headers={"x-request-id": hers})
        assert (await http.get("/api/v1/trace", params={"request": hers})).json()["rows"][0]["operation"] == "whoami"
        for path in ("/api/v1/audit", "/api/v1/audit/verify"):
            assert (await http.get(path)).status_code == 403
    async with own_house.client(await own_house.sign_in("henry")) as http:
        assert (await http.get("/api/v1/trace", params={"request": hers})).status_code == 200
    await own_house.join("ivan")
    async with own_house.client(await own_house.sign_in("ivan")) as http:
        other, none = [
            await http.get("/api/v1/trace", params={"request": each}, headers={"x-request-id": "a" * 32})
            for each in (hers, _id())
        ]
    assert other.status_code == none.status_code == 404
    assert other.content == none.content


async def test_the_audit_is_exported_in_pages_that_meet(own_house: House) -> None:
    async with own_house.client(await own_house.sign_in()) as http:
        for _ in range(5):
            await http.get("/api/v1/whoami")
        answer = await http.get("/api/v1/audit", params={"limit": 4})
        assert answer.headers["content-type"].startswith("application/x-ndjson")
        first = [gateway_audit_row(line) for line in answer.text.splitlines()]
        rest = [
            gateway_audit_row(line)
            for line in (await http.get("/api/v1/audit", params={"after": first[-1].id})).text.splitlines()
        ]
        assert [row.id for row in first + rest] == sorted({row.id for row in first + rest})
        assert [row.operation for row in first + rest].count("whoami") == 5
        for wrong in ({"limit": 0}, {"limit": 1001}, {"after": -1}):
            assert (await http.get("/api/v1/audit", params=wrong)).status_code == 422
        assert (await http.get("/api/v1/audit", params={"until": "2020-01-01T00:00:00Z"})).text == ""


async def test_the_console_verifies_exports_and_traces(
    own_house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, request = Home(tmp_path / "home"), _id()
    monkeypatch.setenv("BRAIN_HOME", str(home.root))
    monkeypatch.setattr("brain.api.address", lambda _home: own_house.address)
    prepare(home)
    session = await own_house.sign_in()
    signins.keep(home, "alice", session)
    async with own_house.client(session, **{"x-request-id": request}) as http:
        await http.post("/api/v1/members/add", json={"name": "judith"})

    async def said(*words: str) -> str:
        assert await asyncio.to_thread(console.run, [*words, "--as", "alice"]) == 0
        return capsys.readouterr().out

    told = await said("trace", request)
    assert "console add_member: ok" in told
    assert "member_joined" in told
    exported = [gateway_audit_row(line) for line in (await said("audit", "export")).splitlines()]
    assert [row.request_id for row in exported if row.operation == "add_member"] == [request]
    assert await said("audit", "export", "--until", "2020-01-01") == ""
    assert "whole: 0 rows in 0 sealed minutes" in await said("audit", "verify")
    assert await asyncio.to_thread(console.run, ["trace", _id(), "--as", "alice"]) == console.FAILED


async def test_a_second_replica_that_stops_leaves_its_last_row(own_house: House, tmp_path: Path) -> None:
    request, port = _id(), free_port()
    second = {**own_house.environ, "HTTP_PORT": str(port), "HEALTH_PORT": str(free_port()), "BRAIN_ROLES": "serve"}
    session = await own_house.sign_in()
    async with gateway(second), own_house.client(session) as http:
        http.base_url = f"http://127.0.0.1:{port}"
        assert (await http.get("/api/v1/whoami", headers={"x-request-id": request})).status_code == 200
    assert (await _row(own_house, request))["operation"] == "whoami"


async def test_what_an_address_sends_too_much_of_is_counted_in_few_rows(own_house: House) -> None:
    async with own_house.client(await own_house.sign_in()) as http:
        assert (await http.post("/api/v1/limits/set", json={"name": "address", "per_minute": 10})).status_code == 200
        refused = [(await http.get("/api/v1/whoami")).status_code for _ in range(40)].count(429)
    assert refused >= 20
    root = await asyncpg.connect(own_house.database.dsn("postgres"))
    try:
        async with asyncio.timeout(10):
            counted, rows = 0, 0
            while counted < refused:
                found = await root.fetchrow(
                    "select coalesce(sum(requests), 0)::int as counted, count(*)::int as rows"
                    " from gateway.audit_rows where outcome = 'rate_limited'"
                )
                assert found is not None
                counted, rows = found["counted"], found["rows"]
    finally:
        await root.close()
    assert counted == refused
    assert rows < refused
