"""Requests for authorization: which reach a person, which are told to the application, and which go nowhere."""

import pytest

from gateway_world import House
from oauth_world import CALLBACK, application, browser, call, form_of, query

pytestmark = pytest.mark.service


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://evil.example/cb"},
        {"redirect_uri": "http://127.0.0.1@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:33333/callback/../evil"},
        {"redirect_uri": "http://127.0.0.1:33333/other"},
        {"redirect_uri": "http://localhost:33333/callback"},
        {"redirect_uri": "javascript:alert(1)"},
        {"client_id": "c_unknown"},
        {"client_id": "a\x00b"},
        {"client_id": ""},
    ],
)
async def test_a_wrong_application_or_address_is_told_to_the_person_and_goes_nowhere(
    house: House, changed: dict[str, str]
) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        page = await person.open(app.request(**changed))
    assert page.status_code == 400
    assert "location" not in page.headers
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "evil" not in page.text


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"resource": "https://other.example/api/mcp"}, "invalid_target"),
    ],
)
async def test_other_mistakes_are_told_to_the_application_with_its_state_and_who_answers(
    house: House, changed: dict[str, str], code: str
) -> None:
    async with application(house) as app, browser(house) as person:
        answer = await person.open(app.request(**changed))
    told = query(answer)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{CALLBACK}?")
    assert (told["error"], told["state"], told["iss"]) == (code, "the state", house.address)
    assert told["error_description"]


async def test_a_parameter_that_comes_twice_is_a_mistake(house: House) -> None:
    async with application(house) as app, browser(house) as person:
        twice = await person.open(app.request() + "&scope=brain:propose")
        wrong_place = await person.open(app.request() + "&redirect_uri=https://evil.example/")
    assert query(twice)["error"] == "invalid_request"
    assert (wrong_place.status_code, "location" in wrong_place.headers) == (400, False)


@pytest.mark.parametrize(
    ("registered", "presented"),
    [
        ("http://localhost/callback", "http://localhost:54321/callback"),
        ("http://127.0.0.1:1/callback", "http://127.0.0.1:2/callback"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback"),
        ("https://app.example/cb?tenant=7", "https://app.example/cb?tenant=7"),
    ],
)
async def test_the_answer_goes_to_the_address_that_was_presented(house: House, registered: str, presented: str) -> None:
    async with application(house, registered) as app, browser(house, "alice") as person:
        answer = await person.press(await person.open(app.request(redirect_uri=presented)), "allow")
        assert answer.headers["location"].startswith(presented)
        told = query(answer)
        assert (told["state"], told["iss"]) == ("the state", house.address)
        tokens = await app.exchange(told["code"], redirect_uri=presented)
    assert tokens.status_code == 200


@pytest.mark.parametrize("scope", ["", "offline_access", "openid email profile", "brain:read offline_access"])
async def test_scopes_that_nobody_here_knows_are_dropped_and_a_refresh_token_is_given(house: House, scope: str) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        tokens = await app.connected(person, scope=scope, prompt="consent", unknown="parameter")
    assert tokens["scope"] == "brain:read"
    assert tokens["refresh_token"]


@pytest.mark.parametrize("spelling", ["", "{}/api/mcp", "{}/api/mcp/", "{}", "{}/"])
async def test_a_token_asked_for_with_any_usual_spelling_of_the_resource_opens_the_endpoint(
    house: House, spelling: str
) -> None:
    resource = spelling.format(house.address)
    async with application(house) as app, browser(house, "alice") as person:
        code = await app.code(person, resource=resource)
        tokens = (await app.exchange(code, resource=resource)).json()
    assert (await call(house, tokens["access_token"])).status_code == 200


async def test_a_request_without_a_state_is_answered_without_one(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        answer = await person.press(await person.open(app.request(state="")), "allow")
    assert set(query(answer)) == {"code", "iss"}


async def test_a_state_comes_back_byte_for_byte(house: House) -> None:
    state = "ünï & code=x # +%20 " + "s" * 1500
    async with application(house) as app, browser(house, "alice") as person:
        answer = await person.press(await person.open(app.request(state=state)), "allow")
    assert query(answer)["state"] == state


async def test_each_request_is_asked_about_anew_and_answered_once(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        first = await person.open(app.request())
        again = await person.open(app.request())
        assert form_of(first).fields["request"] != form_of(again).fields["request"]
        assert query(await person.press(first, "allow"))["code"]
        twice = await person.press(first, "allow")
        assert (twice.status_code, "location" in twice.headers) == (400, False)
        assert "answered already" in twice.text
        assert query(await person.press(again, "deny"))["error"] == "access_denied"


async def test_only_get_begins_an_authorization(house: House) -> None:
    async with house.client() as http:
        answer = await http.post("/authorize", data={"client_id": "x"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
