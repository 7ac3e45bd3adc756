"""What an application asks for: which requests are read, narrowed, and refused."""

import base64
import hashlib
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.enums import Scope
from contracts.errors import Refused
from gateway.oauth import requests
from gateway.oauth.clients import Client
from gateway.oauth.requests import Authorization, Parameters

RESOURCE = "https://brain.example/api/mcp"
CALLBACK = "https://app.example/cb"
CLIENT = Client("c_1", "An app", (CALLBACK,), "none")
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
GOOD = {
    "response_type": "code",
    "client_id": "c_1",
    "redirect_uri": CALLBACK,
    "state": "s",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


def parameters(*more: tuple[str, str], **changed: str) -> Parameters:
    return Parameters.of(urlencode([*{**GOOD, **changed}.items(), *more]).encode())


def read(asked: Parameters) -> Authorization:
    return requests.authorization(asked, CLIENT, requests.redirect_of(asked, CLIENT), RESOURCE)


def refusal(asked: Parameters) -> str:
    with pytest.raises(Refused) as refused:
        read(asked)
    return refused.value.code


def test_a_whole_request_is_bound_to_the_one_resource() -> None:
    assert read(parameters(scope="brain:read brain:propose", prompt="consent", unknown="x")) == Authorization(
        client="c_1",
        client_name="An app",
        client_host="",
        redirect_uri=CALLBACK,
        state="s",
        challenge=CHALLENGE,
        resource=RESOURCE,
        scopes=(Scope.READ, Scope.PROPOSE),
    )


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("", (Scope.READ,)),
        ("brain:read", (Scope.READ,)),
        ("offline_access", (Scope.READ,)),
        ("openid email profile", (Scope.READ,)),
        ("brain:propose offline_access openid", (Scope.READ, Scope.PROPOSE)),
        ("brain:proposed", (Scope.READ,)),
        ("*", (Scope.READ,)),
    ],
)
def test_scopes_that_we_know_are_kept_and_the_rest_is_dropped(asked: str, kept: tuple[Scope, ...]) -> None:
    assert read(parameters(scope=asked)).scopes == kept


@pytest.mark.parametrize(
    "resource",
    [RESOURCE, f"{RESOURCE}/", "https://brain.example", "https://brain.example/", "https://BRAIN.example/api/mcp"],
)
def test_every_usual_spelling_of_the_resource_means_the_endpoint(resource: str) -> None:
    assert read(parameters(resource=resource)).resource == RESOURCE


@pytest.mark.parametrize(
    "resource",
    [
        "https://other.example/api/mcp",
        "http://brain.example/api/mcp",
        "https://brain.example/api/build/mcp",
        "https://brain.example/api/mcp?x=1",
        "https://brain.example/api/mcp#x",
        "https://brain.example:444/api/mcp",
        "https://brain.example@evil.example/api/mcp",
        "https://[brain",
        "brain",
    ],
)
def test_a_foreign_resource_is_an_invalid_target(resource: str) -> None:
    assert refusal(parameters(resource=resource)) == "invalid_target"
    assert refusal(parameters(("resource", RESOURCE), resource=resource)) == "invalid_target"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1]}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "="}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "\n"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"state": "a\x00b"}, "invalid_request"),
        ({"state": "s" * 2049}, "invalid_request"),
        ({"scope": "x" * 2049}, "invalid_request"),
    ],
)
def test_what_is_wrong_with_a_request_is_told_in_oauths_words(changed: dict[str, str], code: str) -> None:
    assert refusal(parameters(**changed)) == code


@pytest.mark.parametrize("name", ["response_type", "code_challenge", "code_challenge_method", "state", "scope"])
def test_a_parameter_that_comes_twice_is_refused(name: str) -> None:
    assert refusal(parameters((name, "x"), (name, "y"))) == "invalid_request"


def test_a_state_that_cannot_be_given_back_is_none() -> None:
    assert requests.state_of(parameters()) == "s"
    assert requests.state_of(parameters(state="a\nb")) is None
    assert requests.state_of(parameters(("state", "t"))) is None
    assert read(parameters(state="")).state is None


def test_an_address_that_is_not_registered_is_never_answered() -> None:
    for given_uri in ("https://evil.example/cb", "https://app.example/cb/", "https://app.example/cb?x=1"):
        with pytest.raises(Refused) as refused:
            requests.redirect_of(parameters(redirect_uri=given_uri), CLIENT)
        assert refused.value.code == "redirect_not_registered"


def test_the_only_registered_address_may_be_left_out() -> None:
    assert requests.redirect_of(parameters(redirect_uri=""), CLIENT) == CALLBACK
    two = Client("c_1", "", (CALLBACK, "https://app.example/other"), "none")
    with pytest.raises(Refused):
        requests.redirect_of(parameters(redirect_uri=""), two)


def test_the_verifier_is_the_one_whose_digest_was_given() -> None:
    assert requests.verifies(VERIFIER, CHALLENGE)
    assert not requests.verifies("w" * 43, CHALLENGE)
    assert not requests.verifies("v" * 42, CHALLENGE)
    assert not requests.verifies("é" * 43, CHALLENGE)
    assert not requests.verifies(CHALLENGE, CHALLENGE)


@pytest.mark.parametrize("encoded", [b"a=%ff", b"\xff=1", b"a=%ed%a0%80", b"&".join([b"a=1"] * 100)])
def test_what_is_not_in_the_form_encoding_is_refused(encoded: bytes) -> None:
    with pytest.raises(Refused) as refused:
        Parameters.of(encoded)
    assert refused.value.code == "invalid_request"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(encoded: bytes) -> None:
    try:
        asked = Parameters.of(encoded)
        read(asked)
    except Refused:
        return
