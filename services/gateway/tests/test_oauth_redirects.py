"""Where an application may be answered, and when the address it gives is one that it registered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import Refused
from gateway.oauth import redirects

VS_CODE = (
    "https://vscode.dev/redirect",
    "https://insiders.vscode.dev/redirect",
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/",
)


@pytest.mark.parametrize(
    "uri",
    [
        *VS_CODE,
        "https://claude.ai/api/mcp/auth_callback",
        "https://chatgpt.com/connector/oauth/abc123",
        "http://localhost:8787/callback",
        "http://[::1]:5000/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/oauth",
        "https://app.example/cb?tenant=7&x=%41",
    ],
)
def test_addresses_that_real_applications_use_are_accepted(uri: str) -> None:
    redirects.check(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "callback",
        "/callback",
        "//evil.example/cb",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "vbscript:x",
        "ws://localhost/x",
        "wss://evil.example/x",
        "blob:https://evil.example/1",
        "http://evil.example/cb",
        "http://localhost.evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.1/cb",
        "http://0.0.0.0/cb",
        "http://localhost@evil.example/cb",
        "http://localhost:80@evil.example/cb",
        "https://user:password@app.example/cb",
        "http://localhost\\@evil.example/cb",
        "http://localhost%2eevil.example/cb",
        "http:/localhost/cb",
        "http:localhost/cb",
        "https:///evil.example/cb",
        "https://*.example/cb",
        "https://app.example/*",
        "https://app.example/cb#fragment",
        "https://app.example/cb#",
        "https://app.example/cb?code=1",
        "https://app.example/cb?iss=https://evil.example",
        "https://app.example/cb?a=1&state=",
        "https://app.example:99999/cb",
        "https://app.example:/cb",
        "https://app.example/c b",
        "https://app.example/\r\nset-cookie:x",
        "https://app.example/\u202ecb",
        "https://\u212aelvin.example/cb",
        "https://[::1/cb",
        "https://app.example/" + "x" * 1100,
    ],
)
def test_addresses_that_lead_astray_are_refused(uri: str) -> None:
    with pytest.raises(Refused) as refused:
        redirects.check(uri)
    assert refused.value.code == "invalid_redirect_uri"
    assert not redirects.admitted(uri)


def test_a_scheme_of_ones_own_is_for_applications_without_a_secret() -> None:
    redirects.check("cursor://app/cb")
    with pytest.raises(Refused):
        redirects.check("cursor://app/cb", public=False)


@pytest.mark.parametrize(
    ("registered", "presented"),
    [
        ("http://localhost/callback", "http://localhost:54321/callback"),
        ("http://127.0.0.1:33418/", "http://127.0.0.1:1/"),
        ("http://[::1]/cb", "http://[::1]:9/cb"),
        ("http://127.0.0.1:8000/cb", "http://127.0.0.1/cb"),
        ("https://app.example/cb", "https://app.example/cb"),
        ("cursor://a/b", "cursor://a/b"),
    ],
)
def test_only_the_port_of_a_loopback_address_may_differ(registered: str, presented: str) -> None:
    assert redirects.matches([registered], presented)


@pytest.mark.parametrize(
    ("registered", "presented"),
    [
        ("http://localhost/callback", "http://127.0.0.1/callback"),
        ("http://localhost/callback", "http://localhost:1/callback/"),
        ("http://localhost/callback", "http://localhost:1/other"),
        ("http://localhost/callback", "http://localhost:1/callback?x=1"),
        ("http://localhost/callback", "http://localhost:80@evil.example/callback"),
        ("http://localhost/callback", "https://localhost/callback"),
        ("http://localhost/callback", "http://localhost:99999/callback"),
        ("https://app.example/cb", "https://app.example:8443/cb"),
        ("https://app.example/cb", "https://app.example/cb/"),
        ("https://app.example/cb", "https://APP.example/cb"),
        ("https://localhost/cb", "https://localhost:1/cb"),
        ("cursor://a/b", "cursor://a:1/b"),
    ],
)
def test_anything_else_is_another_address(registered: str, presented: str) -> None:
    assert not redirects.matches([registered], presented)


def test_the_answer_is_added_to_the_query_that_is_there() -> None:
    assert redirects.answered("https://a.example/cb", code="x y") == "https://a.example/cb?code=x+y"
    assert redirects.answered("https://a.example/cb?t=7", code="x", iss="i") == "https://a.example/cb?t=7&code=x&iss=i"


def test_a_person_is_shown_the_host_or_the_scheme_and_told_what_stays_here() -> None:
    assert [redirects.shown(uri) for uri in ("https://a.example:8/cb", "cursor://a/b")] == ["a.example:8", "cursor:"]
    assert redirects.stays_here("http://localhost:7/cb")
    assert redirects.stays_here("http://[::1]:7/cb")
    assert not redirects.stays_here("https://a.example/cb")
    assert not redirects.stays_here("cursor://localhost.example/cb")


@given(st.text(max_size=80), st.text(max_size=80))
def test_judging_an_address_never_fails_otherwise(registered: str, presented: str) -> None:
    redirects.admitted(registered)
    assert redirects.matches([registered], presented) == (registered == presented) or redirects.admitted(presented)
