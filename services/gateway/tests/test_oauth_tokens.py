"""Codes, access tokens and refresh tokens, from consent to the end of a connection."""

import asyncio
from typing import Any

import asyncpg
import httpx2
import pytest

from contracts import gateway_messages as messages
from contracts.enums import Tier
from contracts.replies import Accepted
from gateway_world import House, command
from oauth_world import application, browser, call

pytestmark = pytest.mark.service

WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


async def moved_back(house: House, statement: str) -> None:
    """Let time have passed for rows of this brain."""
    db = await asyncpg.connect(house.database.dsn("postgres"))
    try:
        await db.execute(f"{statement} where brain = $1", house.brain)
    finally:
        await db.close()


def refused(answer: httpx2.Response, code: str, status: int = 400) -> bool:
    told = answer.json()
    assert set(told) == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    return (answer.status_code, told["error"]) == (status, code)


async def alive(house: House, tokens: dict[str, Any]) -> bool:
    return (await call(house, tokens["access_token"])).status_code == 200


async def remove(house: House, name: str) -> None:
    gone = messages.RemoveMember(command=command(), by=house.alice, name=name)
    await house.ask(messages.REMOVE_MEMBER, gone, Accepted)


async def test_a_code_becomes_tokens_that_open_the_endpoint_for_the_person(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        answer = await app.exchange(await app.code(person))
    tokens = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 1800, "brain:read")
    listed = await call(house, tokens["access_token"])
    assert {tool["name"] for tool in listed.json()["result"]["tools"]} >= {"read_page", "search"}


async def test_a_connection_is_a_token_of_the_person_in_his_list_and_he_ends_it_there(house: House) -> None:
    signin = await house.sign_in()
    async with house.client(signin) as console:
        before = {token["id"] for token in (await console.get("/api/v1/tokens")).json()["tokens"]}
        async with application(house) as app, browser(house, "alice") as person:
            tokens = await app.connected(person, scope="brain:read brain:propose")
            listed = (await console.get("/api/v1/tokens")).json()["tokens"]
            (family,) = [token for token in listed if token["id"] not in before]
            assert (family["kind"], family["scopes"]) == ("person", ["brain:read", "brain:propose"])
            await console.post("/api/v1/tokens/revoke", json={"token": family["id"]})
            assert not await alive(house, tokens)
            assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")


async def test_an_access_token_opens_no_other_door(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person)
    async with house.client(tokens["access_token"]) as http:
        answers = [await http.get("/api/v1/whoami"), await http.get("/api/v1/tokens")]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert (await call(house, tokens["refresh_token"])).status_code == 401


async def test_a_token_for_another_resource_or_with_a_scope_that_does_not_parse_is_refused(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person, scope="brain:read brain:propose")
    await moved_back(house, "update gateway.oauth_access set scopes = array['brain:read', 'brain:everything']")
    narrowed = await call(house, tokens["access_token"], "tools/call", name="write_inbox", arguments={})
    assert (narrowed.status_code, 'scope="brain:read brain:propose"' in narrowed.headers["www-authenticate"]) == (
        403,
        True,
    )
    await moved_back(
        house, "update gateway.oauth_access set audience = replace(audience, '/api/mcp', '/api/build/mcp')"
    )
    assert not await alive(house, tokens)


async def test_a_code_is_good_once_and_its_second_use_ends_the_connection(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        code = await app.code(person)
        tokens = (await app.exchange(code)).json()
        assert await alive(house, tokens)
        assert refused(await app.exchange(code), "invalid_grant")
        assert not await alive(house, tokens)
        assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"code": ""}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": "x\x00y"}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:1/callback"}, "invalid_grant"),
        ({"resource": "https://other.example"}, "invalid_target"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_id": ""}, "invalid_request"),
    ],
)
async def test_what_is_wrong_with_an_exchange_is_told_in_oauths_shape(
    house: House, changed: dict[str, str], code: str
) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        form = {"code": await app.code(person), "redirect_uri": app.redirect_uri, "code_verifier": app.verifier}
        assert refused(await app.token(**{"grant_type": "authorization_code", **form, **changed}), code)


async def test_after_a_wrong_verifier_a_code_is_spent(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        code = await app.code(person)
        assert refused(await app.exchange(code, code_verifier="w" * 43), "invalid_grant")
        assert refused(await app.exchange(code), "invalid_grant")


async def test_a_code_or_refresh_token_of_another_application_is_worth_nothing_and_stays_good(house: House) -> None:
    async with application(house) as app, application(house) as other, browser(house, "alice") as person:
        code = await app.code(person)
        assert refused(await app.exchange(code, client_id=other.id), "invalid_grant")
        tokens = (await app.exchange(code)).json()
        assert refused(await app.refresh(tokens["refresh_token"], client_id=other.id), "invalid_grant")
        assert (await app.refresh(tokens["refresh_token"])).status_code == 200


async def test_codes_and_tokens_end_with_their_time(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        code, tokens = await app.code(person), await app.connected(person)
        await moved_back(house, "update gateway.oauth_codes set expires_at = expires_at - interval '1 minute'")
        assert refused(await app.exchange(code), "invalid_grant")
        await moved_back(house, "update gateway.oauth_access set expires_at = expires_at - interval '30 minutes'")
        dead = await call(house, tokens["access_token"])
        assert (dead.status_code, 'error="invalid_token"' in dead.headers["www-authenticate"]) == (401, True)
        assert (await app.refresh(tokens["refresh_token"])).status_code == 200
        await moved_back(house, "update gateway.oauth_refresh set expires_at = expires_at - interval '91 days'")
        assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")


async def test_a_refresh_gives_a_new_pair_of_the_same_scopes(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person, scope="brain:read brain:propose")
        renewed = (await app.refresh(tokens["refresh_token"])).json()
    assert renewed["scope"] == "brain:read brain:propose"
    assert (
        len({tokens["access_token"], renewed["access_token"], tokens["refresh_token"], renewed["refresh_token"]}) == 4
    )
    assert await alive(house, tokens)
    assert await alive(house, renewed)


async def test_a_refresh_narrows_scopes_and_never_widens_them(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person, scope="brain:read brain:propose")
        narrow = (await app.refresh(tokens["refresh_token"], scope="brain:read")).json()
        assert narrow["scope"] == "brain:read"
        call_write = {"name": "write_inbox", "arguments": {"kind": "observation", "title": "abc", "body": "x" * 12}}
        assert (await call(house, narrow["access_token"], "tools/call", **call_write)).status_code == 403
        whole = (await app.refresh(narrow["refresh_token"])).json()
        assert whole["scope"] == "brain:read brain:propose"
        reading = await app.connected(person)
        assert refused(await app.refresh(reading["refresh_token"], scope="brain:propose"), "invalid_scope")
        assert (await app.refresh(reading["refresh_token"], scope="brain:read offline_access")).status_code == 200


async def test_five_refreshes_at_once_all_succeed_and_the_connection_lives(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person)
        answers = await asyncio.gather(*(app.refresh(tokens["refresh_token"]) for _ in range(5)))
        assert [answer.status_code for answer in answers] == [200] * 5
        for answer in answers:
            assert await alive(house, answer.json())
            assert (await app.refresh(answer.json()["refresh_token"])).status_code == 200


async def test_a_refresh_token_used_again_after_the_grace_ends_the_connection(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person)
        renewed = (await app.refresh(tokens["refresh_token"])).json()
        await moved_back(house, "update gateway.oauth_refresh set used_at = used_at - interval '46 seconds'")
        assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")
        assert not await alive(house, renewed)
        assert refused(await app.refresh(renewed["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
async def test_an_application_ends_its_own_connection_whole(house: House, which: str) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person)
        form = {"client_id": app.id, "token": tokens[which], "token_type_hint": "refresh_token"}
        answers = [await app.http.post("/revoke", data=form) for _ in range(2)]
        assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"")] * 2
        assert not await alive(house, tokens)
        assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")


async def test_nobody_ends_the_connection_of_another_application(house: House) -> None:
    async with application(house) as app, application(house) as other, browser(house, "alice") as person:
        tokens = await app.connected(person)
        foreign = await other.http.post("/revoke", data={"client_id": other.id, "token": tokens["refresh_token"]})
        unknown = await other.http.post("/revoke", data={"client_id": other.id, "token": "unknown"})
        assert (foreign.status_code, foreign.content) == (unknown.status_code, unknown.content) == (200, b"")
        assert await alive(house, tokens)
        nobody = await other.http.post("/revoke", data={"client_id": "c_nobody", "token": tokens["refresh_token"]})
        assert refused(nobody, "invalid_client", 401)
        assert refused(await other.http.post("/revoke", data={"client_id": other.id}), "invalid_request")


async def test_the_token_endpoint_takes_a_form_and_nothing_else(house: House) -> None:
    async with house.client() as http:
        json = await http.post("/token", json={"grant_type": "refresh_token"})
        empty = await http.post("/token")
        query = await http.post("/token?grant_type=refresh_token&client_id=x&refresh_token=y")
        large = await http.post("/token", data={"code": "x" * 70_000})
        wrong = await http.get("/token")
    assert all(refused(each, "invalid_request") for each in (json, empty, query))
    assert refused(large, "invalid_request", 413)
    assert refused(wrong, "invalid_request", 405)
    assert wrong.headers["allow"] == "POST"


async def test_whoever_leaves_loses_every_connection_at_once(house: House) -> None:
    await house.join("erin")
    async with application(house) as app, browser(house, "erin") as person:
        tokens, code, page = await app.connected(person), await app.code(person), await person.open(app.request())
        await remove(house, "erin")
        assert not await alive(house, tokens)
        assert refused(await app.refresh(tokens["refresh_token"]), "invalid_grant")
        assert refused(await app.exchange(code), "invalid_grant")
        asked_again = await person.press(page, "allow")
    assert "location" not in asked_again.headers
    assert "Sign in to go on" in asked_again.text


async def test_a_connection_sees_no_more_than_its_persons_tier(house: House) -> None:
    await house.join("frank", tier=Tier.MANAGER)
    async with house.client(await house.sign_in("frank")) as console:
        async with application(house) as app, browser(house, "frank") as person:
            await app.connected(person)
        (family,) = [
            token for token in (await console.get("/api/v1/tokens")).json()["tokens"] if token["kind"] == "person"
        ]
    assert family["tier"] == "manager"


async def test_a_static_token_goes_on_working_beside_oauth_and_a_dead_one_says_which_kind_died(house: House) -> None:
    issued = await house.token()
    assert (await call(house, issued.secret)).status_code == 200
    await house.revoke_token(issued)
    dead = await call(house, issued.secret)
    gone = await call(house, "brain_oauth_" + "a" * 43)
    assert [dead.status_code, gone.status_code] == [401, 401]
    assert 'error="invalid_token", error_description="This token is' in dead.headers["www-authenticate"]
    assert 'error="invalid_token", error_description="This access token is' in gone.headers["www-authenticate"]


async def test_a_scope_that_is_missing_is_asked_for_with_those_that_are_there(house: House) -> None:
    write = {"name": "write_inbox", "arguments": {"kind": "observation", "title": "abc", "body": "x" * 12}}
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person)
    answer = await call(house, tokens["access_token"], "tools/call", **write)
    assert answer.status_code == 403
    assert answer.headers["www-authenticate"] == (
        'Bearer error="insufficient_scope", scope="brain:read brain:propose",'
        f' resource_metadata="{house.address}/.well-known/oauth-protected-resource/api/mcp"'
    )
    told = "Forbidden: this token is missing the required brain:propose scope. The proposal was NOT registered."
    assert answer.json()["error"]["message"] == told
    fixed = await call(house, (await house.token()).secret, "tools/call", **write)
    assert (fixed.status_code, fixed.json()["result"]["isError"]) == (200, True)


async def test_secrets_are_nowhere_in_the_database_and_consents_are_in_the_log(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        code = await app.code(person)
        tokens = (await app.exchange(code)).json()
    db = await asyncpg.connect(house.database.dsn("postgres"))
    try:
        tables = ("oauth_clients", "oauth_requests", "oauth_codes", "oauth_access", "oauth_refresh", "tokens")
        rows = [str(row) for table in tables for row in await db.fetch(f"select * from gateway.{table}")]
        kept = await db.fetchval(
            "select count(*) from gateway.tokens where brain = $1 and kind = 'person'", house.brain
        )
    finally:
        await db.close()
    assert kept >= 1
    for secret in (code, tokens["access_token"], tokens["refresh_token"], app.verifier):
        assert not any(secret in row for row in rows)


async def test_uses_of_a_code_at_the_same_instant_give_tokens_to_one(house: House) -> None:
    """All of them have found the code when the first of them may go on."""
    db = await asyncpg.connect(house.database.dsn("postgres"))
    try:
        async with application(house) as app, browser(house, "alice") as person:
            code = await app.code(person)
            held = db.transaction()
            await held.start()
            await db.execute("select 1 from gateway.oauth_codes where brain = $1 for update", house.brain)
            asking = [asyncio.create_task(app.exchange(code)) for _ in range(4)]
            async with asyncio.timeout(20):
                while await db.fetchval(WAITING) < len(asking):
                    await db.execute("select pg_stat_clear_snapshot()")
            await held.rollback()
            answers = [answer.status_code for answer in await asyncio.gather(*asking)]
    finally:
        await db.close()
    assert sorted(answers) == [200, 400, 400, 400]
