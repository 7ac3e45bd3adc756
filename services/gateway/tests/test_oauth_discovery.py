"""How clients find out where to go, before anybody has signed in."""

import pytest

from gateway_world import House
from oauth_world import call

pytestmark = pytest.mark.service

PROTECTED = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"


async def test_both_addresses_of_the_resource_say_the_same_and_name_the_endpoint_byte_for_byte(house: House) -> None:
    async with house.client() as http:
        root, inserted = await http.get(PROTECTED), await http.get(f"{PROTECTED}/api/mcp")
    assert root.content == inserted.content
    assert inserted.json() == {
        "resource": f"{house.address}/api/mcp",
        "authorization_servers": [house.address],
        "scopes_supported": ["brain:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Company Brain",
    }


async def test_the_servers_document_names_everything_at_the_root_of_the_issuer(house: House) -> None:
    async with house.client() as http:
        told = (await http.get(SERVER)).json()
        protected = (await http.get(PROTECTED)).json()
    assert told["issuer"] == protected["authorization_servers"][0] == house.address
    assert not told["issuer"].endswith("/")
    endpoints = {name: told[name] for name in told if name.endswith("_endpoint")}
    assert endpoints == {
        f"{name}_endpoint": f"{house.address}/{path}"
        for name, path in (
            ("authorization", "authorize"), ("token", "token"), ("registration", "register"), ("revocation", "revoke"),
        )
    }  # fmt: skip
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert "none" in told["token_endpoint_auth_methods_supported"]
    assert told["authorization_response_iss_parameter_supported"] is True
    assert told["response_types_supported"] == ["code"]
    assert told["client_id_metadata_document_supported"] is True
    assert told["registration_endpoint"]
    assert told["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert {"brain:read", "brain:propose", "offline_access"} <= set(told["scopes_supported"])


async def test_a_challenge_leads_to_a_document_that_is_there(house: House) -> None:
    refused = await call(house, "")
    challenge = refused.headers["www-authenticate"]
    assert refused.status_code == 401
    assert challenge == f'Bearer scope="brain:read", resource_metadata="{house.address}{PROTECTED}/api/mcp"'
    async with house.client() as http:
        found = await http.get(challenge.rpartition('resource_metadata="')[2].rstrip('"'))
    assert found.json()["resource"] == f"{house.address}/api/mcp"


@pytest.mark.parametrize(
    "path",
    [
        "openid-configuration",
        "oauth-authorization-server/api/mcp",
        "oauth-protected-resource/api/build/mcp",
        "oauth-protected-resource/api",
        "anything",
        "",
    ],
)
async def test_other_well_known_addresses_are_missing_in_json(house: House, path: str) -> None:
    async with house.client() as http:
        missing = await http.get(f"/.well-known/{path}")
    assert missing.status_code == 404
    assert missing.headers["content-type"].startswith("application/json")
    assert missing.json()["error"]


async def test_discovery_needs_neither_token_nor_cookie_and_minds_no_wrong_ones(house: House) -> None:
    async with house.client("brain_dead", cookie="brain_session_x=y") as http:
        for path in (PROTECTED, f"{PROTECTED}/api/mcp", SERVER):
            answer = await http.get(path)
            head = await http.head(path)
            assert (answer.status_code, head.status_code, head.content) == (200, 200, b"")
            assert answer.headers["content-type"] == "application/json"


async def test_addresses_come_from_settings_and_never_from_the_host_that_was_asked(house: House) -> None:
    port = house.address.rpartition(":")[2]
    async with house.client() as http:
        other = await http.get(SERVER, headers={"host": f"localhost:{port}", "x-forwarded-host": "evil.example"})
        evil = await http.get(SERVER, headers={"host": "evil.example"})
    assert other.json()["issuer"] == house.address
    assert "evil" not in other.text
    assert evil.status_code == 403
    assert "evil" not in evil.text


async def test_every_endpoint_is_there_with_and_without_a_last_slash(house: House) -> None:
    token = (await house.token()).secret
    async with house.client(token) as http:
        for path in ("/api/mcp", "/api/mcp/"):
            answer = await http.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert answer.status_code == 200
    async with house.client() as http:
        answers = [(await http.post(path, data={})).status_code for path in ("/token", "/token/", "/revoke/")]
    assert answers == [400, 400, 400]
