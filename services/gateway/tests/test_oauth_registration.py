"""What an application must say to register itself, and what it is told."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import Refused
from gateway.oauth import clients, registration
from gateway.oauth.clients import Client
from gateway.oauth.registration import Registration

CURSOR = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
]


def registered(**said: Any) -> Registration:
    return registration.read(msgspec.json.encode({"redirect_uris": ["http://127.0.0.1/cb"], **said}))


def refusal(**said: Any) -> str:
    with pytest.raises(Refused) as refused:
        registered(**said)
    return refused.value.code


def test_a_registration_that_says_little_is_of_a_public_client() -> None:
    assert registered() == Registration(redirect_uris=("http://127.0.0.1/cb",), scope="brain:read")


def test_fields_that_are_null_or_unknown_are_left_out() -> None:
    said = registered(client_name=None, scope=None, grant_types=None, logo_uri="https://x.example/logo", jwks={})
    assert said == registered()


def test_schemes_of_ones_own_stand_beside_others_whatever_the_application_type() -> None:
    said = registered(redirect_uris=CURSOR, application_type="web", token_endpoint_auth_method="none")
    assert said.redirect_uris == tuple(CURSOR)


def test_scopes_of_other_worlds_are_narrowed_and_not_refused() -> None:
    assert registered(scope="openid email profile offline_access").scope == "brain:read"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": [*CURSOR, "http://evil.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://a.example/{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ({"redirect_uris": CURSOR, "token_endpoint_auth_method": "client_secret_post"}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://a.example"}, "invalid_client_metadata"),
        ({"redirect_uris": [1]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": 7}, "invalid_client_metadata"),
    ],
)
def test_a_registration_that_cannot_be_served_is_refused_as_a_whole(said: dict[str, Any], code: str) -> None:
    assert refusal(**said) == code


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b'{"redirect_uris": ["\xff"]}', b"[" * 5000])
def test_what_is_no_registration_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        registration.read(body)
    assert refused.value.code in {"invalid_client_metadata", "invalid_redirect_uri"}


def test_a_name_is_shown_without_what_hides_or_turns_text() -> None:
    assert clients.readable(" Claude\u202e\u200b\x00\n Code ") == "Claude Code"
    assert len(clients.readable("x" * 500)) == clients.LONGEST_NAME
    assert clients.readable("\u200b\u2066") == ""


def test_only_an_application_that_asked_for_a_secret_is_given_one() -> None:
    public = Client("c_1", "App", ("http://127.0.0.1/cb",), "none")
    told = msgspec.json.decode(registration.told(public, registered(client_name="App"), "", 7))
    assert told == {
        "client_id": "c_1",
        "client_id_issued_at": 7,
        "client_name": "App",
        "redirect_uris": ["http://127.0.0.1/cb"],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": "brain:read",
    }
    confidential = Client("c_2", "", ("https://a.example/cb",), "client_secret_post", "digest")
    told = msgspec.json.decode(registration.told(confidential, registered(), "the secret", 7))
    assert (told["client_secret"], told["client_secret_expires_at"]) == ("the secret", 0)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_json_is_a_registration_or_refused(said: object) -> None:
    code = ""
    try:
        registration.read(msgspec.json.encode(said))
    except Refused as refused:
        code = refused.code
    assert code in {"", "invalid_client_metadata", "invalid_redirect_uri"}
