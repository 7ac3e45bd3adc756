"""Whatever is sent to the authorization server: no fault of its own, and every refusal in OAuth's shape."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway_world import House
from oauth_world import CALLBACK, Application, application

pytestmark = pytest.mark.service

a_while = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD = st.sampled_from(
    ["", " ", "\x00", "\ud7ff", "é", "a" * 3000, "https://evil.example/", "javascript:1", "*", "%00", "code", "S256"]
)
VALUES = ODD | st.text(max_size=40)
NAMES = st.sampled_from(
    [
        "client_id", "redirect_uri", "response_type", "state", "scope", "resource", "code_challenge",
        "code_challenge_method", "grant_type", "code", "code_verifier", "refresh_token", "token", "client_secret",
        "request", "csrf", "decision", "prompt", "response_mode",
    ]
) | st.text(max_size=8)  # fmt: skip
PAIRS = st.lists(st.tuples(NAMES, VALUES), max_size=8)
ERRORS = {
    "invalid_request", "invalid_client", "invalid_grant", "invalid_scope", "invalid_target", "unsupported_grant_type",
    "unsupported_response_type", "invalid_redirect_uri", "invalid_client_metadata", "access_denied",
}  # fmt: skip


@pytest.fixture
async def app(house: House) -> Any:
    async with house.client(await house.sign_in()) as console:
        for limit in ("address", "address_doors", "address_register"):
            raised = await console.post("/api/v1/limits/set", json={"name": limit, "per_minute": 1_000_000})
            assert raised.status_code == 200
    async with application(house) as registered:
        yield registered


def told_in_oauths_shape(answer: httpx2.Response) -> bool:
    read = answer.json()
    return (
        answer.status_code in {400, 401}
        and read["error"] in ERRORS
        and set(read) == {"error", "error_description"}
        and all(" " <= each <= "~" and each not in '"\\' for each in read["error_description"])
    )


@a_while
@given(pairs=PAIRS, kept=st.booleans())
async def test_no_request_for_authorization_fails_or_leads_astray(
    app: Application, pairs: list[tuple[str, str]], kept: bool
) -> None:
    whole = parse_qsl(app.request().partition("?")[2]) if kept else []
    changed = {name for name, _ in pairs}
    query = [*(pair for pair in whole if pair[0] not in changed), *pairs]
    answer = await app.http.get(f"/authorize?{urlencode(query)}")
    assert answer.status_code in {303, 400}, answer.text
    location = answer.headers.get("location", "")
    if answer.status_code == 400:
        assert not location
    elif not location.startswith("/consent?request="):
        assert location.startswith(f"{CALLBACK}?")
        told = parse_qsl(urlsplit(location).query, keep_blank_values=True)
        assert [value for name, value in told if name == "iss"] == [app.house.address]
        assert dict(told)["error"] in ERRORS


@a_while
@given(pairs=PAIRS, known=st.booleans(), path=st.sampled_from(["/token", "/revoke"]))
async def test_no_form_fails_at_the_token_endpoints(
    app: Application, pairs: list[tuple[str, str]], known: bool, path: str
) -> None:
    form = [*([("client_id", app.id)] if known else []), *pairs]
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = await app.http.post(path, content=urlencode(form), headers=headers)
    told = (path, answer.status_code, answer.content)
    assert told == ("/revoke", 200, b"") or told_in_oauths_shape(answer), told


@a_while
@given(
    body=st.binary(max_size=200), kind=st.sampled_from(["application/x-www-form-urlencoded", "application/json", ""])
)
async def test_no_bytes_fail_at_any_endpoint(app: Application, body: bytes, kind: str) -> None:
    for path in ("/token", "/revoke", "/register"):
        answer = await app.http.post(path, content=body, headers={"content-type": kind})
        assert told_in_oauths_shape(answer)
    page = await app.http.post("/consent", content=body, headers={"content-type": kind})
    assert (page.status_code, "location" in page.headers) == (400, False)


@a_while
@given(
    said=st.fixed_dictionaries(
        {},
        optional={
            "redirect_uris": st.lists(VALUES, max_size=3) | VALUES | st.just([CALLBACK]),
            "client_name": VALUES | st.integers() | st.none(),
            "token_endpoint_auth_method": VALUES | st.sampled_from(["none", "client_secret_post"]),
            "grant_types": st.lists(VALUES, max_size=2) | st.none(),
            "response_types": st.lists(VALUES, max_size=2) | st.none(),
            "scope": VALUES | st.none(),
            "application_type": VALUES | st.none(),
            "jwks": st.dictionaries(VALUES, st.none(), max_size=2),
        },
    )
)
async def test_no_registration_fails(app: Application, said: dict[str, Any]) -> None:
    answer = await app.http.post("/register", content=msgspec.json.encode(said))
    assert told_in_oauths_shape(answer) or answer.status_code == 201, answer.text
    if answer.status_code == 201:
        assert answer.json()["redirect_uris"]


@a_while
@given(pairs=PAIRS, cookie=st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=60).map(str.strip))
async def test_no_cookie_and_no_query_fail_at_consent(
    app: Application, pairs: list[tuple[str, str]], cookie: str
) -> None:
    answer = await app.http.get(f"/consent?{urlencode(pairs)}", headers={"cookie": cookie})
    assert (answer.status_code, "location" in answer.headers) == (400, False)
