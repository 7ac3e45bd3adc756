"""The documents by which clients find out how to get in. Every address comes from settings, never from a request."""

import msgspec

from contracts.enums import Scope
from gateway.oauth import registration, requests

ENDPOINT = "/api/mcp"
RESOURCE_ROOT = "/.well-known/oauth-protected-resource"
RESOURCE = f"{RESOURCE_ROOT}{ENDPOINT}"
SERVER = "/.well-known/oauth-authorization-server"
AUTHORIZE, CONSENT = "/authorize", "/consent"
"""What a person looks at, in a browser."""
REGISTER, TOKEN, REVOKE = "/register", "/token", "/revoke"
"""What applications call. At the root of the origin: some call them there whatever the documents say."""


def issuer(public_url: str) -> str:
    """The authorization server's name: without a last slash, everywhere the same bytes."""
    return public_url.rstrip("/")


def resource(public_url: str) -> str:
    """The one resource that tokens are for, as they are bound to it."""
    return issuer(public_url) + ENDPOINT


def challenge(public_url: str, scopes: tuple[Scope, ...], error: str = "", told: str = "") -> str:
    """What a caller without a living token, or without a scope, is told in WWW-Authenticate (RFC 6750, RFC 9728)."""
    named = "".join(f'{name}="{said}", ' for name, said in (("error", error), ("error_description", told)) if said)
    return f'Bearer {named}scope="{requests.written(scopes)}", resource_metadata="{issuer(public_url)}{RESOURCE}"'


def documents(public_url: str, *, reads_documents: bool) -> dict[str, bytes]:
    """Path and JSON of each (RFC 9728, RFC 8414)."""
    ours = issuer(public_url)
    protected = msgspec.json.encode(
        {
            "resource": resource(public_url),
            "authorization_servers": [ours],
            "scopes_supported": [Scope.READ.value],  # the least: more is asked for when it is needed
            "bearer_methods_supported": ["header"],
            "resource_name": "Company Brain",
        }
    )
    server: dict[str, object] = {
        "issuer": ours,
        "authorization_endpoint": ours + AUTHORIZE,
        "token_endpoint": ours + TOKEN,
        "registration_endpoint": ours + REGISTER,
        "revocation_endpoint": ours + REVOKE,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(registration.GRANTS),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": list(registration.METHODS),
        "revocation_endpoint_auth_methods_supported": list(registration.METHODS),
        "authorization_response_iss_parameter_supported": True,
        "scopes_supported": [*(scope.value for scope in Scope), requests.OFFLINE],
    }
    if reads_documents:
        server["client_id_metadata_document_supported"] = True
    return {RESOURCE: protected, RESOURCE_ROOT: protected, SERVER: msgspec.json.encode(server)}
