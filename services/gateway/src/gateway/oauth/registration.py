"""What an application must say to register itself (RFC 7591), and what it is told."""

import msgspec

from contracts.errors import Refused
from gateway.oauth import redirects, requests
from gateway.oauth.clients import Client, readable

MOST_REDIRECTS = 10
METHODS = ("none", "client_secret_post", "client_secret_basic")
"""How an application may prove itself at the token endpoint."""
GRANTS = ("authorization_code", "refresh_token")


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """What an application says about itself (RFC 7591), as far as it is taken over."""

    redirect_uris: tuple[str, ...]
    client_name: str = ""
    method: str = "none"
    application_type: str = ""
    scope: str = ""


class _Said(msgspec.Struct, frozen=True):
    """The request. Clients write null for what they leave out; what is not named here is nothing to us."""

    redirect_uris: list[str] | None = None
    client_name: str | None = None
    token_endpoint_auth_method: str | None = None
    grant_types: list[str] | None = None
    response_types: list[str] | None = None
    application_type: str | None = None
    scope: str | None = None


def read(body: bytes) -> Registration:
    """Read a registration. Raises `Refused`: invalid_redirect_uri, or invalid_client_metadata for anything else."""
    try:
        said = msgspec.json.decode(body, type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = "The registration is not a JSON object with fields of the expected types."
        raise Refused("invalid_client_metadata", what) from error
    method = said.token_endpoint_auth_method or "none"
    if method not in METHODS:
        what = "token_endpoint_auth_method is one of none, client_secret_post and client_secret_basic."
        raise Refused("invalid_client_metadata", what, "token_endpoint_auth_method")
    if said.grant_types and "authorization_code" not in said.grant_types:
        raise Refused("invalid_client_metadata", "Only the authorization_code grant begins here.", "grant_types")
    if said.response_types and "code" not in said.response_types:
        raise Refused("invalid_client_metadata", "Only response_types with code are served.", "response_types")
    uris = tuple(dict.fromkeys(said.redirect_uris or ()))
    if not 1 <= len(uris) <= MOST_REDIRECTS:
        what = f"An application names 1 to {MOST_REDIRECTS} redirect URIs."
        raise Refused("invalid_redirect_uri", what, "redirect_uris")
    for uri in uris:
        redirects.check(uri, public=method == "none")
    return Registration(
        redirect_uris=uris,
        client_name=readable(said.client_name or ""),
        method=method,
        application_type=said.application_type if said.application_type in {"web", "native"} else "",
        scope=requests.written(requests.narrowed(said.scope or "")),
    )


def told(client: Client, said: Registration, secret: str, at: int) -> bytes:
    """The answer to a registration. Only an application that asked for a secret is given one."""
    answer: dict[str, object] = {
        "client_id": client.id,
        "client_id_issued_at": at,
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": client.method,
        "grant_types": GRANTS,
        "response_types": ("code",),
        "scope": said.scope,
    }
    if said.application_type:
        answer["application_type"] = said.application_type
    if secret:
        answer |= {"client_secret": secret, "client_secret_expires_at": 0}
    return msgspec.json.encode(answer)
