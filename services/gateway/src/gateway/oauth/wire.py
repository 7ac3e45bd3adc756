"""A request and an answer of the authorization server, without a framework, and how OAuth says no."""

import base64
import binascii
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

import msgspec

from contracts.errors import Refused, Unavailable
from gateway.mcp.protocol import Headers
from gateway.oauth.requests import Parameters

BODY_LIMIT = 64 * 1024
"""Bytes of one form or registration."""

_CODES = frozenset(
    {
        "access_denied", "invalid_client", "invalid_client_metadata", "invalid_grant", "invalid_redirect_uri",
        "invalid_request", "invalid_scope", "invalid_target", "server_error", "temporarily_unavailable",
        "unsupported_grant_type", "unsupported_response_type",
    }
)  # fmt: skip
_OTHERS = {"unknown_client": "invalid_client", "no_such_member": "access_denied"}
_BASIC = "basic"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, its body whole."""

    method: str
    path: str
    query: bytes
    headers: Headers
    body: bytes = b""

    def form(self) -> Parameters:
        """The body's parameters. Raises `Refused` (invalid_request) where it is no form."""
        kinds = self.headers.all("content-type")
        kind = kinds[0].partition(";")[0].strip().lower() if len(kinds) == 1 else ""
        if kind != "application/x-www-form-urlencoded":
            raise Refused("invalid_request", "Send a form: application/x-www-form-urlencoded.")
        return Parameters.of(self.body)

    def cookie(self, name: str) -> str:
        """The value of a cookie, "" where it is absent."""
        for header in self.headers.all("cookie"):
            for part in header.split(";"):
                key, _, value = part.strip().partition("=")
                if key == name:
                    return value
        return ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response: status, body, and headers beside those that every response has."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def code_of(error: Refused | Unavailable) -> str:
    """OAuth's own word for a refusal."""
    if isinstance(error, Unavailable):
        return "temporarily_unavailable"
    return error.code if error.code in _CODES else _OTHERS.get(error.code, "invalid_request")


def words_of(error: Refused | Unavailable) -> str:
    """What went wrong, in the characters that OAuth allows there (RFC 6749, 5.2)."""
    if isinstance(error, Unavailable):
        return f"Try again in {error.retry_after} s."
    told = " ".join(part for part in (error.what, error.remedy) if part)
    return "".join(each for each in told if " " <= each <= "~" and each not in '"\\')


def failed(error: Refused | Unavailable, *, basic: bool = False) -> Answer:
    """A refusal at an endpoint for programs. `basic`: the client proved itself in a header, so it is told how."""
    code = code_of(error)
    body = msgspec.json.encode({"error": code, "error_description": words_of(error)})
    headers = {"content-type": "application/json", "cache-control": "no-store", "pragma": "no-cache"}
    if isinstance(error, Unavailable):
        return Answer(503, body, {**headers, "retry-after": str(error.retry_after)})
    if code != "invalid_client":
        return Answer(500 if code == "server_error" else 400, body, headers)
    if basic:
        headers["www-authenticate"] = 'Basic realm="Company Brain"'
    return Answer(401, body, headers)


def proof(headers: Headers, form: Parameters) -> tuple[str, str]:
    """A client's id and secret ("" without one), from the form or from the one Basic header. Raises `Refused`."""
    values = headers.all("authorization")
    if not values:
        return form.needed("client_id"), form.one("client_secret")
    scheme, _, encoded = values[0].partition(" ")
    try:
        read = base64.b64decode(encoded.strip(), validate=True).decode("ascii")
        name, colon, secret = read.partition(":")
        given = Parameters({"client_id": [unquote_plus(name)], "client_secret": [unquote_plus(secret)]})
    except (binascii.Error, ValueError):
        colon = ""
    if len(values) > 1 or scheme.lower() != _BASIC or not colon:
        raise Refused("invalid_client", "The Authorization header does not hold a client's id and secret.")
    if form.one("client_secret") or form.one("client_id") not in {"", given.one("client_id")}:
        raise Refused("invalid_request", "A client proves itself in one way at a time.", "client_id")
    return given.needed("client_id"), given.one("client_secret")
