"""The endpoints that programs call: discovery, registration, tokens, revocation. JSON out, OAuth's own errors."""

import msgspec

from contracts.errors import Refused
from gateway.oauth import discovery, registration, requests
from gateway.oauth.clients import Client
from gateway.oauth.grants import ACCESS_LASTS, Grants, Pair
from gateway.oauth.registry import Registry
from gateway.oauth.requests import Parameters
from gateway.oauth.wire import Answer, Asked, proof

_JSON = {"content-type": "application/json"}
_SECRET = {**_JSON, "cache-control": "no-store", "pragma": "no-cache"}
"""Headers of what nobody on the way may keep."""


class Endpoints:
    """Serves one brain's tokens at one public address."""

    def __init__(self, public_url: str, registry: Registry, grants: Grants) -> None:
        self._resource = discovery.resource(public_url)
        self._registry = registry
        self._grants = grants
        self.documents = {
            path: Answer(200, body, {**_JSON, "cache-control": "max-age=60"})
            for path, body in discovery.documents(public_url, reads_documents=registry.reads_documents).items()
        }

    async def register(self, asked: Asked) -> Answer:
        """RFC 7591: an application that nobody told us about. Raises `Refused`."""
        said = registration.read(asked.body)
        client, secret, at = await self._registry.register(said)
        return Answer(201, registration.told(client, said, secret, int(at.timestamp())), _SECRET)

    async def token(self, asked: Asked) -> Answer:
        """A code or a refresh token becomes a pair. Raises `Refused`."""
        form = asked.form()
        client = await self._client(asked, form)
        kind = form.needed("grant_type")
        requests.check_resource(form, self._resource)
        if kind == "authorization_code":
            code, verifier = form.needed("code"), form.needed("code_verifier")
            pair = await self._grants.exchange(client, code, verifier, form.one("redirect_uri"))
        elif kind == "refresh_token":
            pair = await self._grants.refresh(client, form.needed("refresh_token"), form.one("scope"))
        else:
            what = "grant_type is authorization_code or refresh_token."
            raise Refused("unsupported_grant_type", what, "grant_type")
        await self._registry.note_use(client)
        return Answer(200, _issued(pair), _SECRET)

    async def revoke(self, asked: Asked) -> Answer:
        """RFC 7009: the whole connection ends. An unknown token is no error. Raises `Refused`."""
        form = asked.form()
        client = await self._client(asked, form)
        await self._grants.revoke(client, form.needed("token"))
        return Answer(200, b"", {"cache-control": "no-store"})

    async def _client(self, asked: Asked, form: Parameters) -> Client:
        return await self._registry.proven(*proof(asked.headers, form))


def _issued(pair: Pair) -> bytes:
    return msgspec.json.encode(
        {
            "access_token": pair.access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LASTS.total_seconds()),
            "refresh_token": pair.refresh,
            "scope": requests.written(pair.scopes),
        }
    )
