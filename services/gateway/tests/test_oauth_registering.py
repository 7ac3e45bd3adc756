"""Applications that register themselves, over HTTP."""

import pytest

from gateway_world import House
from oauth_world import Application, application, browser

pytestmark = pytest.mark.service


async def test_a_public_application_is_registered_without_a_secret(house: House) -> None:
    body = {"client_name": "Claude", "redirect_uris": ["http://localhost/callback"], "scope": "openid email profile"}
    async with house.client() as http:
        answer = await http.post("/register", json=body)
    told = answer.json()
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert "client_secret" not in told
    assert "client_secret_expires_at" not in told
    assert (told["token_endpoint_auth_method"], told["scope"]) == ("none", "brain:read")
    assert told["redirect_uris"] == body["redirect_uris"]
    assert isinstance(told["client_id_issued_at"], int)


@pytest.mark.parametrize(
    "uris",
    [
        [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ],
        [
            "https://vscode.dev/redirect",
            "https://insiders.vscode.dev/redirect",
            "http://127.0.0.1/",
            "http://127.0.0.1:33418/",
        ],
        ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
        ["https://chatgpt.com/connector_platform_oauth_redirect"],
    ],
)
async def test_what_real_applications_register_is_accepted(house: House, uris: list[str]) -> None:
    async with house.client() as http:
        answer = await http.post("/register", json={"redirect_uris": uris, "application_type": "web"})
    assert (answer.status_code, answer.json()["redirect_uris"]) == (201, uris)


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_an_application_that_asks_for_a_secret_must_use_it(house: House, method: str) -> None:
    said = {"token_endpoint_auth_method": method}
    async with application(house, "https://app.example/cb", **said) as app, browser(house, "alice") as person:
        secret = app.secret
        code = await app.code(person)
        refused = [await app.exchange(code, client_secret=each) for each in ("wrong", "")]
        assert [(each.status_code, each.json()["error"]) for each in refused] == [(401, "invalid_client")] * 2
        if method == "client_secret_basic":
            form = {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": app.redirect_uri,
                "code_verifier": app.verifier,
            }
            wrong = await app.http.post("/token", data=form, auth=(app.id, "wrong"))
            assert wrong.status_code == 401
            assert wrong.headers["www-authenticate"].startswith("Basic ")
            both = await app.http.post("/token", data={**form, "client_secret": secret}, auth=(app.id, secret))
            assert (both.status_code, both.json()["error"]) == (400, "invalid_request")
            tokens = await app.http.post("/token", data=form, auth=(app.id, secret))
        else:
            tokens = await app.exchange(code)
        assert tokens.status_code == 200


@pytest.mark.parametrize("header", ["Basic", "Basic !!!", "Basic YQ==", "Bearer abc", "Basic w6k6", "Basic OmE="])
async def test_a_proof_that_cannot_be_read_is_told_in_oauths_words(house: House, header: str) -> None:
    async with house.client(authorization=header) as http:
        answer = await http.post("/token", data={"grant_type": "refresh_token", "refresh_token": "x"})
    assert answer.json()["error"] in {"invalid_client", "invalid_request"}
    assert answer.status_code in {400, 401}


async def test_one_bad_address_refuses_the_whole_registration(house: House) -> None:
    async with house.client() as http:
        answer = await http.post("/register", json={"redirect_uris": ["http://localhost/cb", "http://evil.example/"]})
        large = await http.post("/register", content=b'{"client_name": "' + b"x" * 70_000 + b'"}')
        wrong = await http.get("/register")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    assert (large.status_code, large.json()["error"]) == (413, "invalid_request")
    assert (wrong.status_code, wrong.headers["allow"], wrong.json()["error"]) == (405, "POST", "invalid_request")


async def test_an_application_that_was_forgotten_learns_how_to_recover(house: House) -> None:
    async with house.client() as http, browser(house, "alice") as person:
        stale = Application(house, http, "c_" + "0" * 32, "", "http://127.0.0.1/cb")
        page = await person.open(stale.request())
        token = await stale.exchange("a-code")
    assert (page.status_code, "location" in page.headers) == (400, False)
    assert "connect again" in page.text
    assert (token.status_code, token.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    "client_id",
    [
        "https://localhost/client.json",
        "https://127.0.0.1/client.json",
        "HTTPS://app.example/c",
        "https://a@b.example/c",
    ],
)
async def test_an_address_that_is_not_read_is_an_unknown_application(house: House, client_id: str) -> None:
    async with house.client() as http:
        unknown = Application(house, http, client_id, "", "http://127.0.0.1/cb")
        page = await http.get(unknown.request())
        token = await unknown.exchange("a-code")
    assert (page.status_code, "location" in page.headers) == (400, False)
    assert token.json()["error"] in {"invalid_client", "invalid_grant"}
