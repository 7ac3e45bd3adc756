"""What an application asks for, read from its request: pure, and strict about all that is not merely superfluous."""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import msgspec

from contracts.enums import Scope
from contracts.errors import Refused
from gateway.oauth import redirects
from gateway.oauth.clients import Client

MOST_FIELDS = 64
LONGEST_VALUE = 2048
"""Characters of one parameter."""
OFFLINE = "offline_access"
"""Asked for by whoever wants to stay connected. Every connection may, so it is taken and never part of a grant."""

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


class Authorization(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits for a person. `challenge`: the SHA-256 that the code's verifier must have."""

    client: str
    client_name: str
    client_host: str
    redirect_uri: str
    state: str | None
    challenge: str
    resource: str
    scopes: tuple[Scope, ...]


class Parameters:
    """The parameters of a query or form. One without a value counts as absent (RFC 6749, 3.1)."""

    def __init__(self, pairs: Mapping[str, list[str]]) -> None:
        self._pairs = pairs

    @classmethod
    def of(cls, encoded: bytes) -> "Parameters":
        """Raises `Refused` (invalid_request) where it is not text in the form encoding."""
        try:
            read = parse_qsl(
                encoded.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
            )
        except ValueError as error:
            what = "The parameters are not in the form encoding, or there are too many."
            raise Refused("invalid_request", what) from error
        pairs: dict[str, list[str]] = {}
        for name, value in read:
            pairs.setdefault(name, []).append(value)
        return cls(pairs)

    def one(self, name: str) -> str:
        """The value, "" where it is absent. Raises `Refused` (invalid_request) for two, or one that cannot be meant."""
        values = self.all(name)
        if len(values) > 1:
            raise Refused("invalid_request", f"The parameter {name} is there more than once.", name)
        return values[0] if values else ""

    def all(self, name: str) -> list[str]:
        """Every value of it. Raises as `one` does."""
        values = [value for value in self._pairs.get(name, []) if value]
        if any(len(value) > LONGEST_VALUE or _CONTROLS.search(value) for value in values):
            raise Refused("invalid_request", f"The parameter {name} is too long or has control characters.", name)
        return values

    def needed(self, name: str) -> str:
        """The value. Raises `Refused` (invalid_request) where it is absent."""
        value = self.one(name)
        if not value:
            raise Refused("invalid_request", f"The parameter {name} is missing.", name)
        return value


def redirect_of(asked: Parameters, client: Client) -> str:
    """Where the answer goes. Raises `Refused`: then nothing may be sent anywhere, and the person is told."""
    given = asked.one("redirect_uri")
    if not given and len(client.redirect_uris) == 1:
        return client.redirect_uris[0]
    if not given or not redirects.matches(client.redirect_uris, given):
        raise Refused(
            "redirect_not_registered",
            "The address that the answer should go to is not one that this application has registered.",
            "redirect_uri",
            "Remove the connection in the application and connect again.",
        )
    return given


def state_of(asked: Parameters) -> str | None:
    """The application's own mark, to be given back; None where it has none that can be."""
    try:
        return asked.one("state") or None
    except Refused:
        return None


def authorization(asked: Parameters, client: Client, redirect_uri: str, resource: str) -> Authorization:
    """The whole request, for this brain's one `resource`. Raises `Refused` with an OAuth error code: a redirect."""
    asked.one("state")
    kind = asked.needed("response_type")
    if kind != "code":
        raise Refused("unsupported_response_type", "Only response_type=code is served.", "response_type")
    challenge = asked.needed("code_challenge")
    if asked.one("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(challenge):
        what = "PKCE is required: an S256 code_challenge of 43 characters with code_challenge_method=S256."
        raise Refused("invalid_request", what, "code_challenge")
    check_resource(asked, resource)
    return Authorization(
        client=client.id,
        client_name=client.name,
        client_host=client.host,
        redirect_uri=redirect_uri,
        state=asked.one("state") or None,
        challenge=challenge,
        resource=resource,
        scopes=narrowed(asked.one("scope")),
    )


def narrowed(text: str) -> tuple[Scope, ...]:
    """The scopes that we know among those asked for; reading belongs to all, and extras are dropped (RFC 6749, 3.3)."""
    asked = set(text.split(" "))
    return tuple(scope for scope in Scope if scope is Scope.READ or scope.value in asked)


def written(scopes: tuple[Scope, ...]) -> str:
    """Scopes as OAuth writes them."""
    return " ".join(scope.value for scope in scopes)


def check_resource(asked: Parameters, resource: str) -> None:
    """Whatever resource is named is ours. Raises `Refused` (invalid_target).

    Clients name the endpoint, with or without a last slash, or only its origin: all mean the one `resource`.
    """
    for given in asked.all("resource"):
        if not _means(given, resource):
            raise Refused("invalid_target", "The resource is not one that is served here.", "resource")


def _means(given: str, resource: str) -> bool:
    try:
        said, ours = urlsplit(given), urlsplit(resource)
    except ValueError:
        return False
    if "?" in given or "#" in given or (said.scheme, said.netloc.lower()) != (ours.scheme, ours.netloc.lower()):
        return False
    return said.path in {"", "/", ours.path, f"{ours.path}/"}


def verifies(verifier: str, challenge: str) -> bool:
    """Whether the verifier is the one whose SHA-256 was given, compared in constant time."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(made, challenge.encode())
