"""Commands about members, grants and tokens on a real bus and database, over NATS and by the console's routes."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import httpx2
import msgspec
import pytest
from nats.aio.msg import Msg

from access import lookup
from chassis import postgres
from chassis.postgres import Pool, transaction
from contracts import approvals_messages, gateway_api, ingest_messages, replies, retrieval_messages
from contracts import gateway_messages as messages
from contracts.enums import Access, Gate, Knowledge, Permission, Reach, Role, Scope, Tier, TokenKind
from contracts.errors import Refused
from contracts.ids import BrainId, PageId, PrincipalId, ProposalId
from contracts.replies import Accepted
from eventlog import fence, leader
from eventlog.wait import Watch
from gateway.credentials import Credentials
from gateway.sessions import LINK_MINUTES, SESSION_DAYS, Sessions
from gateway_world import House, command, gateway
from servers import free_port

pytestmark = pytest.mark.service

AT = datetime(2026, 11, 30, tzinfo=UTC)
VIEW = retrieval_messages.PageView(
    path="topics/ceiling.md",
    id="n_" + "1" * 32,
    title="Discount ceiling",
    type="topic",
    owner="alice",
    status="live",
    as_of=None,
    access=Access.DEPARTMENT,
    sensitivity=Reach.ORDINARY,
    knowledge=Knowledge.VERIFIED,
    trust="canon_verified",
    verified=AT,
    review_by=AT,
    sources=(),
    withheld={},
    relations=(),
    figures=(),
    text="Up to 12 %.",
    position=9,
    receipt=retrieval_messages.Receipt(
        page=PageId(uuid4()),
        revision=1,
        digest="a" * 64,
        approver="alice",
        approved_at=AT,
        verified_at=AT,
        position=9,
    ),
)


async def positions(house: House) -> tuple[int, int]:
    access = await fence.gate(house.nc, house.brain, Gate.ACCESS)
    return access, await fence.fence(house.nc, house.brain)


async def a_pool(house: House) -> Pool:
    return await postgres.connect(house.database.secret("gateway"), "gateway", service="test", largest=2)


def removing(house: House, name: str) -> messages.RemoveMember:
    return messages.RemoveMember(command=command(), by=house.alice, name=name)


async def test_opening_a_brain_again_changes_nothing(own_house: House) -> None:
    before = await positions(own_house)
    await own_house.open()
    assert await positions(own_house) == before
    pool = await a_pool(own_house)
    async with transaction(pool, own_house.brain) as db:
        assert [member.name for member in await lookup.members(db)] == ["alice"]
    await pool.close()


async def test_a_widening_moves_the_access_gate_and_a_narrowing_the_fence_too(house: House) -> None:
    access, narrowed = await positions(house)
    await house.join("wanda")
    await house.grant("wanda", Permission.READ, "topics/**")
    wider, same = await positions(house)
    assert wider > access
    assert same == narrowed
    revoke = messages.RevokeFrom(
        command=command(), by=house.alice, subject="wanda", permission=Permission.READ, scope="topics/**"
    )
    accepted = await house.ask(messages.REVOKE_GRANT, revoke, Accepted)
    assert accepted.archived
    access, narrowed = await positions(house)
    assert (access, narrowed) == (accepted.position - 1, accepted.position)


async def test_a_revoked_token_is_dead_in_the_next_request(house: House) -> None:
    issued = await house.token()
    async with house.client(issued.secret) as http:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await http.post("/api/mcp", json=ping)).status_code == 200
        await house.revoke_token(issued)
        assert (await http.post("/api/mcp", json=ping)).status_code == 401


async def test_a_token_that_was_just_revoked_is_dead_at_another_gateway_too(house: House) -> None:
    issued = await house.token()
    port = free_port()
    other = house.environ | {"HTTP_PORT": str(port), "HEALTH_PORT": str(free_port()), "BRAIN_ROLES": "serve"}
    other["PUBLIC_URL"] = f"http://127.0.0.1:{port}"
    async with gateway(other):
        bearer = {"authorization": f"Bearer {issued.secret}"}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with httpx2.AsyncClient(base_url=other["PUBLIC_URL"], headers=bearer, trust_env=False) as http:
            assert (await http.post("/api/mcp", json=ping)).status_code == 200
            await house.revoke_token(issued)
            assert (await http.post("/api/mcp", json=ping)).status_code == 401


async def test_a_token_and_a_sign_in_count_until_the_instant_of_their_end(house: House) -> None:
    pool = await a_pool(house)
    now = datetime.now(UTC)
    issued, signed_in = await house.token(), await house.sign_in()
    assert issued.expires_at is not None
    projected = Watch(house.nc, pool, house.brain, "gateway-access-v1")

    async def counts(secret: str, at: datetime) -> bool:
        return await Credentials(house.nc, pool, house.brain, projected, lambda: at).resolve(secret) is not None

    assert await counts(issued.secret, issued.expires_at - timedelta(microseconds=1))
    assert not await counts(issued.secret, issued.expires_at)
    assert await counts(signed_in, now + timedelta(days=90) - timedelta(minutes=1))
    assert not await counts(signed_in, now + timedelta(days=90, minutes=1))
    await pool.close()


async def test_no_secret_is_stored_anywhere_but_as_a_digest(house: House) -> None:
    issued = await house.token()
    digest = hashlib.sha256(issued.secret.encode()).hexdigest()
    seen = b""
    for position in range(1, issued.position + 1):
        stored = await leader.at(house.nc, "EVT", position)
        assert stored is not None
        seen += stored.body
    assert digest.encode() in seen
    assert issued.secret.encode() not in seen
    assert b"alice" not in seen
    assert b"**" not in seen


async def test_a_command_sent_twice_is_carried_out_once_and_its_secret_is_shown_once(house: House) -> None:
    join = messages.AddMember(command=command(), by=house.alice, name="twice", role=Role.MEMBER, tier=Tier.EMPLOYEE)
    first = await house.ask(messages.ADD_MEMBER, join, messages.MemberAdded)
    again = await house.ask(messages.ADD_MEMBER, join, messages.MemberAdded)
    assert (first.member, first.position) == (again.member, again.position)
    token = messages.IssueToken(
        command=command(), by=house.alice, kind=TokenKind.PERSON, tier=Tier.EMPLOYEE, scopes=(Scope.READ,)
    )
    await house.ask(messages.ISSUE_TOKEN, token, messages.Issued)
    with pytest.raises(Refused) as refused:
        await house.ask(messages.ISSUE_TOKEN, token, messages.Issued)
    assert refused.value.code == "already_issued"


async def test_of_two_owners_who_leave_at_once_one_stays(own_house: House) -> None:
    await own_house.join("bob", Role.OWNER, Tier.ADMIN)
    leaving = [own_house.ask(messages.REMOVE_MEMBER, removing(own_house, name), Accepted) for name in ("alice", "bob")]
    done = await asyncio.gather(*leaving, return_exceptions=True)
    refused = [each for each in done if isinstance(each, Refused)]
    assert len(refused) == 1
    assert refused[0].code in {"last_owner", "not_a_member"}


async def test_many_changes_at_once_all_land(house: House) -> None:
    await asyncio.gather(*(house.join(f"crowd-{number}") for number in range(12)))
    pool = await a_pool(house)
    async with transaction(pool, house.brain) as db:
        there = {member.name for member in await lookup.members(db)}
    await pool.close()
    assert {f"crowd-{number}" for number in range(12)} <= there


async def test_a_members_rights_end_with_the_membership(house: House) -> None:
    bob = await house.join("leaver")
    await house.grant("leaver", Permission.APPROVE, "**")
    signed_in, issued = await house.sign_in("leaver"), await house.token(bob)
    await house.ask(messages.REMOVE_MEMBER, removing(house, "leaver"), Accepted)
    async with house.client(signed_in) as http:
        assert (await http.get(gateway_api.WHOAMI)).status_code == 401
    async with house.client(issued.secret) as http:
        assert (await http.post("/api/mcp", json={})).status_code == 401
    with pytest.raises(Refused):
        await house.sign_in("leaver")
    with pytest.raises(Refused) as refused:
        await house.join("leaver")
    assert refused.value.code == "name_taken"


async def test_the_service_restarts_from_its_checkpoint(house: House) -> None:
    secret = await house.sign_in()
    # A second gateway beside the first: it does not project while the first does, and answers from the same tables.
    port = free_port()
    other = house.environ | {"HTTP_PORT": str(port), "HEALTH_PORT": str(free_port())}
    other["PUBLIC_URL"] = f"http://127.0.0.1:{port}"
    other["BRAIN_ROLES"] = "serve"
    async with gateway(other):
        bearer = {"authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(base_url=other["PUBLIC_URL"], headers=bearer, trust_env=False) as http:
            assert (await http.get(gateway_api.WHOAMI)).json()["name"] == "alice"
            asked = messages.RemoveMember(command=command(), by=house.alice, name="nobody")
            with pytest.raises(Refused):
                await house.ask(messages.REMOVE_MEMBER, asked, Accepted)


# sign-in by link, sessions


async def test_a_link_signs_in_once_and_the_session_ends_with_the_membership(house: House) -> None:
    await house.join("visitor")
    code = await house.sign_in("visitor", link=True)
    async with house.client() as http:
        entered = await http.get("/signin", params={"code": code})
        assert (entered.status_code, entered.headers["location"]) == (303, house.web)
        cookie = entered.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
        value = entered.cookies[messages.session_cookie(house.brain)]
        again = await http.get("/signin", params={"code": code})
        assert again.status_code == 400
        assert "set-cookie" not in again.headers
        for wrong in ("", "x", "x" * 10_000, "\x00", code[:-1]):
            assert (await http.get("/signin", params={"code": wrong})).status_code == 400
    session = await house.ask(messages.SESSION, messages.AskSession(cookie=value), messages.Session)
    assert (session.name, session.role, len(session.csrf)) == ("visitor", Role.MEMBER, 64)
    await house.ask(messages.REMOVE_MEMBER, removing(house, "visitor"), Accepted)
    with pytest.raises(Refused) as refused:
        await house.ask(messages.SESSION, messages.AskSession(cookie=value), messages.Session)
    assert refused.value.code == "not_signed_in"


async def test_a_link_is_used_by_one_of_many_at_once_and_signing_out_ends_the_session(house: House) -> None:
    code = await house.sign_in(link=True)
    async with house.client() as http:
        tries = await asyncio.gather(*(http.get("/signin", params={"code": code}) for _ in range(6)))
        assert sorted(each.status_code for each in tries) == [303, 400, 400, 400, 400, 400]
        value = next(each.cookies[messages.session_cookie(house.brain)] for each in tries if each.status_code == 303)
        http.cookies.clear()
        out = await http.post("/signout", headers={"cookie": f"{messages.session_cookie(house.brain)}={value}"})
        assert out.status_code == 303
    with pytest.raises(Refused):
        await house.ask(messages.SESSION, messages.AskSession(cookie=value), messages.Session)


async def test_links_and_sessions_end_when_their_time_is_over(house: House) -> None:
    pool = await a_pool(house)
    start, late = datetime.now(UTC), timedelta(0)
    sessions = Sessions(pool, house.brain, b"a key", lambda: start + late)
    code, ends = await sessions.new_link(house.alice)
    assert ends == start + timedelta(minutes=LINK_MINUTES)
    late = timedelta(minutes=LINK_MINUTES)
    assert await sessions.begin(code) is None
    late = timedelta(minutes=LINK_MINUTES, microseconds=-1)
    cookie = await sessions.begin(code)
    assert cookie is not None
    begun = late
    late = begun + timedelta(days=SESSION_DAYS, microseconds=-1)
    assert await sessions.find(cookie) is not None
    late = begun + timedelta(days=SESSION_DAYS)
    assert await sessions.find(cookie) is None
    await pool.close()


async def test_a_link_of_somebody_who_has_left_begins_no_session(house: House) -> None:
    await house.join("gone-before")
    code = await house.sign_in("gone-before", link=True)
    await house.ask(messages.REMOVE_MEMBER, removing(house, "gone-before"), Accepted)
    async with house.client() as http:
        entered = await http.get("/signin", params={"code": code})
    assert entered.status_code == 400
    assert "set-cookie" not in entered.headers


async def test_a_session_has_the_role_and_tier_that_its_person_has_now(house: House) -> None:
    await house.join("sinking", Role.MANAGER, Tier.MANAGER)
    pool = await a_pool(house)
    sessions = Sessions(pool, house.brain, b"a key", lambda: datetime.now(UTC))
    cookie = await sessions.begin(await house.sign_in("sinking", link=True))
    assert cookie is not None
    lower = messages.ChangeRole(command=command(), by=house.alice, name="sinking", role=Role.MEMBER, tier=Tier.EMPLOYEE)
    await house.ask(messages.CHANGE_ROLE, lower, Accepted)
    session = await house.ask(messages.SESSION, messages.AskSession(cookie=cookie), messages.Session)
    assert (session.role, session.tier) == (Role.MEMBER, Tier.EMPLOYEE)
    await pool.close()


async def test_sessions_and_links_belong_to_one_brain(own_house: House) -> None:
    pool = await a_pool(own_house)
    await own_house.sign_in(link=True)
    async with transaction(pool, BrainId(uuid4())) as db:
        assert await db.fetchval("select count(*) from one_time_links") == 0
    async with transaction(pool, own_house.brain) as db:
        assert await db.fetchval("select count(*) from one_time_links") == 1
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await db.execute(
                "insert into sessions values ($1, $2, $3, now(), now())", uuid4(), "a" * 64, own_house.alice
            )
    await pool.close()


# the console's routes


async def test_the_console_adds_grants_explains_and_takes_back(own_house: House) -> None:
    async with own_house.client(await own_house.sign_in()) as http:
        added = await http.post(gateway_api.MEMBER_ADD, json={"name": "bob", "role": "manager", "tier": "manager"})
        assert added.json()["archived"] is True
        text = {"subject": "bob", "permission": "approve", "scope": "topics/**"}
        assert (await http.post(gateway_api.GRANT_ADD, json=text)).status_code == 200
        held = (await http.get(gateway_api.GRANTS, params={"subject": "bob"})).json()["grants"]
        assert held == [text]
        await own_house.neighbour.answers(retrieval_messages.READ_PAGE, Refused("no_such_page", "No such page."))
        why = (await http.get(gateway_api.WHY, params={"person": "bob", "path": "topics/a.md"})).json()
        assert (why["visible"], why["permission"]) == (None, None)
        assert "own grant of approve on topics/** would reach an ordinary page here" in why["reasons"]
        assert (await http.post(gateway_api.GRANT_REVOKE, json=text)).status_code == 200
        gone = await http.post(gateway_api.GRANT_REVOKE, json=text)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "no_such_grant")
        members = (await http.get(gateway_api.MEMBERS)).json()["members"]
        assert [member["name"] for member in members] == ["alice", "bob"]
        role = await http.post(gateway_api.MEMBER_ROLE, json={"name": "bob", "role": "member", "tier": "employee"})
        assert role.status_code == 200
        assert (await http.post(gateway_api.MEMBER_REMOVE, json={"name": "bob"})).status_code == 200


async def test_why_tells_a_hidden_page_and_a_missing_one_alike_and_nothing_of_what_is_no_path(house: House) -> None:
    await house.join("why-bob", Role.ADMIN, Tier.EMPLOYEE)
    await house.grant("why-bob", Permission.SUGGEST, "hr/**")
    await house.neighbour.answers(retrieval_messages.READ_PAGE, Refused("no_such_page", "No such page."))
    nothing = "there is no page here that you can see"
    everyones = "group everyone's grant of read on ** would reach an ordinary page here"
    told = [nothing, "own grant of suggest on hr/** would reach an ordinary page here", everyones]
    async with house.client(await house.sign_in("why-bob")) as his, house.client(await house.sign_in()) as hers:
        for path in ("hr/salary-bands.md", "hr/nothing.md", "", "../x", "hr/", "n_" + "0" * 32):
            for http, visible in ((his, False), (hers, None)):
                why = (await http.get(gateway_api.WHY, params={"person": "why-bob", "path": path})).json()
                assert (why["visible"], why["permission"]) == (visible, None)
                assert sorted(why["reasons"]) == sorted(told if path.endswith(".md") else [nothing])


async def test_why_tells_of_a_page_that_the_asker_sees_whether_the_other_sees_it(house: House) -> None:
    bob = await house.join("why-ben")
    blind: set[PrincipalId] = {bob}

    async def read(message: Msg) -> None:
        asked = msgspec.json.decode(message.data, type=retrieval_messages.ReadPage)
        hidden = asked.asker.principal in blind
        await message.respond(
            replies.failure(Refused("no_such_page", "No such page.")) if hidden else replies.success(VIEW)
        )

    subscription = await house.nc.subscribe(retrieval_messages.READ_PAGE, cb=read)
    await house.nc.flush()
    async with house.client(await house.sign_in()) as http:
        for visible, permission in ((False, None), (True, "read")):
            why = (await http.get(gateway_api.WHY, params={"person": "why-ben", "path": VIEW.path})).json()
            assert (why["visible"], why["permission"]) == (visible, permission)
            assert "group everyone's grant of read on ** covers it" in why["reasons"]
            blind.clear()
    await subscription.unsubscribe()


async def test_an_admin_joins_no_group_that_decides_and_raises_no_tier_of_his_own(house: House) -> None:
    for name, role in (("kari", Role.ADMIN), ("mallory", Role.MEMBER)):
        await house.join(name, role)
    async with house.client(await house.sign_in("kari")) as http:
        both = {"name": "deciders", "members": ["kari", "mallory"]}
        assert (await http.post(gateway_api.GROUP_SET, json={**both, "members": ["mallory"]})).status_code == 200
        for permission, scope in (("approve", "**"), ("read", "hr/salaries.md")):
            text = {"subject": "deciders", "permission": permission, "scope": scope}
            assert (await http.post(gateway_api.GRANT_ADD, json=text)).status_code == 200
        joined = await http.post(gateway_api.GROUP_SET, json=both)
        higher = {"name": "kari", "role": "admin", "tier": "admin"}
        raised = await http.post(gateway_api.MEMBER_ROLE, json=higher)
        for refused in (joined, raised):
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_admin_needed")
        held = (await http.get(gateway_api.GRANTS)).json()["grants"]
        assert held == [{"subject": "everyone", "permission": "read", "scope": "**"}]
        assert (await http.get(gateway_api.WHOAMI)).json()["tier"] == "employee"
    async with house.client(await house.sign_in()) as http:
        assert (await http.post(gateway_api.GROUP_SET, json=both)).status_code == 200
        assert (await http.post(gateway_api.MEMBER_ROLE, json=higher)).status_code == 200


async def test_the_console_issues_lists_and_revokes_tokens(own_house: House) -> None:
    async with own_house.client(await own_house.sign_in()) as http:
        asked = {"tier": "manager", "scopes": ["brain:read", "brain:propose"]}
        issued = (await http.post(gateway_api.TOKEN_ISSUE, json=asked)).json()
        assert issued["secret"].startswith("brain_")
        listed = (await http.get(gateway_api.TOKENS)).json()["tokens"]
        assert [(line["kind"], line["tier"]) for line in listed] == [("signin", "admin"), ("person", "manager")]
        assert "secret" not in listed[1]
        ended = await http.post(gateway_api.TOKEN_REVOKE, json={"token": issued["token"]})
        assert ended.status_code == 200
        twice = await http.post(gateway_api.TOKEN_REVOKE, json={"token": issued["token"]})
        assert (twice.status_code, twice.json()["error"]["code"]) == (404, "no_such_token")


async def test_a_groups_grants_are_its_members_until_they_are_taken_out(house: House) -> None:
    for name in ("ann", "ben"):
        await house.join(name)
    async with house.client(await house.sign_in()) as http:
        made = await http.post(gateway_api.GROUP_SET, json={"name": "sales", "members": ["ann", "ben"]})
        assert made.json()["archived"] is True
        listed = {line["name"]: line["members"] for line in (await http.get(gateway_api.GROUPS)).json()["groups"]}
        assert (listed["sales"], listed["everyone"]) == (["ann", "ben"], None)
        await house.grant("sales", Permission.APPROVE, "sales/**")
        _, fenced = await positions(house)
        assert (await http.post(gateway_api.GROUP_SET, json={"name": "sales", "members": ["ann"]})).status_code == 200
        assert (await positions(house))[1] > fenced
        robot = {"name": "robot", "kind": "service"}
        assert (await http.post(gateway_api.MEMBER_ADD, json=robot)).status_code == 200
        issued = await http.post(gateway_api.TOKEN_ISSUE, json={"tier": "employee", "service": "robot"})
    for name, held in (("ann", ["read", "approve"]), ("ben", ["read"])):
        async with house.client(await house.sign_in(name)) as http:
            grants = (await http.get(gateway_api.GRANTS)).json()["grants"]
            assert [line["permission"] for line in grants] == held
    async with house.client(issued.json()["secret"]) as http:
        assert (await http.post("/api/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})).status_code == 200


async def test_a_member_without_a_role_administers_nothing(house: House) -> None:
    await house.join("plain")
    text = {"subject": "plain", "permission": "approve", "scope": "**"}
    async with house.client(await house.sign_in("plain")) as http:
        for path, body in (
            (gateway_api.MEMBER_ADD, {"name": "eve"}),
            (gateway_api.GRANT_ADD, text),
            (gateway_api.GRANT_REVOKE, text),
            (gateway_api.MEMBER_REMOVE, {"name": "alice"}),
            (gateway_api.TOKEN_ISSUE, {"tier": "admin"}),
        ):
            refused = await http.post(path, json=body)
            assert refused.status_code == 403, path
        others = {"subject": "alice", "person": "alice", "path": "a.md"}
        for path in (gateway_api.GRANTS, gateway_api.WHY):
            assert (await http.get(path, params=others)).status_code == 403
        mine = (await http.get(gateway_api.GRANTS)).json()["grants"]
        assert mine == [{"subject": "everyone", "permission": "read", "scope": "**"}]


BAD_REQUESTS = [
    (b"{", 400, "malformed_json", "body"),
    (b"\xff", 400, "malformed_json", "body"),
    (b"[]", 422, "malformed", "body"),
    (b'{"name": 5}', 422, "malformed", "name"),
    (b'{"name": "Bob"}', 422, "name_malformed", "name"),
    (b'{"name": "bob", "role": "king"}', 422, "malformed", "role"),
    (b'{"name": "everyone"}', 409, "name_taken", "name"),
    (b'{"name": "' + b"x" * (1024 * 1024) + b'"}', 413, "too_large", ""),
]


async def test_bad_requests_are_refused_with_what_and_where(house: House) -> None:
    async with house.client(await house.sign_in(), **{"content-type": "application/json"}) as http:
        for content, status, code, where in BAD_REQUESTS:
            answer = await http.post(gateway_api.MEMBER_ADD, content=content)
            error = answer.json()["error"]
            assert (answer.status_code, error["code"], error["where"]) == (status, code, where)
            assert error["what"]
            assert error["request_id"] == answer.headers["x-request-id"]
            assert "king" not in answer.text


async def test_proposals_decisions_and_imports_are_forwarded_in_the_persons_name(house: House) -> None:
    proposal = ProposalId(uuid4())
    decided = approvals_messages.Decided(position=7, archived=True, outcome="approved")
    await house.neighbour.answers(approvals_messages.DECIDE, decided)
    part = ingest_messages.ImportedPart(captures=1, unchanged=0, refused=(), pages=1, position=8, archived=True)
    await house.neighbour.answers(ingest_messages.IMPORT_FILES, part)
    async with house.client(await house.sign_in()) as http:
        approved = await http.post(gateway_api.APPROVE, json={"proposal": str(proposal), "digest": "a" * 64})
        assert approved.json() == {"position": 7, "archived": True, "outcome": "approved", "vectors": True}
        body = {
            "import_id": str(uuid4()),
            "part": 1,
            "options": {"source": "handbook", "owner": "alice"},
            "files": [{"path": "a.md", "text": "IyBB"}],
        }
        imported = await http.post(gateway_api.IMPORT_PART, json=body)
        assert imported.json()["pages"] == 1
        nobody = await http.get(gateway_api.PROPOSALS)
        assert (nobody.status_code, nobody.json()["error"]["code"]) == (503, "unavailable")
    decide = msgspec.json.decode(house.neighbour.asked[0], type=approvals_messages.Decide)
    assert (decide.by, decide.proposal, decide.digest) == (house.alice, proposal, "a" * 64)
    files = msgspec.json.decode(house.neighbour.asked[1], type=ingest_messages.ImportFiles)
    assert (files.by, files.files[0].text) == (house.alice, b"# A")


async def test_conflicts_and_absences_keep_their_status(house: House) -> None:
    async with house.client(await house.sign_in()) as http:
        await house.neighbour.answers(approvals_messages.PROPOSAL, Refused("no_such_proposal", "There is none."))
        assert (await http.get(gateway_api.PROPOSAL, params={"proposal": str(uuid4())})).status_code == 404
        assert (await http.get(gateway_api.PROPOSAL, params={"proposal": "x"})).status_code == 422
        await house.neighbour.answers(approvals_messages.DECIDE, Refused("already_decided", "It was decided."))
        body = {"proposal": str(uuid4()), "reason": "wrong"}
        assert (await http.post(gateway_api.REJECT, json=body)).status_code == 409
