"""An application and a person's browser, as they meet at the authorization server: forms are read and really sent."""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx2

from gateway_world import House

CALLBACK = "http://127.0.0.1:33333/callback"
INSIDE = 5
"""Redirects that a browser follows before it gives up."""


@dataclass
class Form:
    """A form of a page: where it goes, how, what it holds, and its buttons."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(said["action"], said["method"]))
        elif tag == "input" and self.found:
            self.found[-1].fields[said["name"]] = said.get("value", "")
        elif tag == "button" and self.found and "name" in said:
            self.found[-1].buttons.append((said["name"], said["value"]))


def form_of(page: httpx2.Response) -> Form:
    """The one form of a page."""
    reader = _Forms()
    reader.feed(page.text)
    (only,) = reader.found
    return only


@dataclass
class Browser:
    """A browser without a script: it keeps cookies, follows redirects inside the brain, and sends forms."""

    house: House
    http: httpx2.AsyncClient

    async def open(self, url: str) -> httpx2.Response:
        """The page, or the redirect that leaves the brain."""
        return await self._followed(await self.http.get(url))

    async def press(self, page: httpx2.Response, button: str, **changed: str) -> httpx2.Response:
        """Send the page's form by the button of this value; the answer is not followed out of the brain."""
        form = form_of(page)
        pressed = dict(pair for pair in form.buttons if pair[1] == button)
        assert pressed, f"no button {button}"
        fields = {**form.fields, **pressed, **changed}
        origin = {"origin": self.house.address}
        url = urljoin(str(page.url), form.action)
        return await self._followed(await self.http.request(form.method.upper(), url, data=fields, headers=origin))

    async def sign_in(self, name: str = "alice") -> httpx2.Response:
        """Open a one-time link."""
        code = await self.house.sign_in(name, link=True)
        return await self.http.get(f"/signin?code={code}")

    async def _followed(self, answer: httpx2.Response) -> httpx2.Response:
        for _ in range(INSIDE):
            location = answer.headers.get("location", "")
            target = urljoin(str(answer.url), location)
            if not location or not target.startswith(f"{self.house.address}/"):
                return answer
            answer = await self.http.get(target)
        raise AssertionError("the redirects do not end")


@asynccontextmanager
async def browser(house: House, name: str = "") -> AsyncIterator[Browser]:
    """A browser, signed in as `name` where it is given."""
    async with house.client() as http:
        opened = Browser(house, http)
        if name:
            await opened.sign_in(name)
        yield opened


@dataclass
class Application:
    """A client that registered itself, with the verifier of its requests."""

    house: House
    http: httpx2.AsyncClient
    id: str
    secret: str
    redirect_uri: str
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def request(self, **changed: str) -> str:
        """The address that a person is sent to. A parameter that is "" is left out."""
        asked = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": self.redirect_uri,
            "state": "the state",
            "scope": "brain:read",
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            **changed,
        }
        return "/authorize?" + urlencode({name: value for name, value in asked.items() if value})

    async def code(self, person: Browser, **changed: str) -> str:
        """The code of a request that the person allows."""
        answer = await person.press(await person.open(self.request(**changed)), "allow")
        return query(answer)["code"]

    async def exchange(self, code: str, **changed: str) -> httpx2.Response:
        """Ask for tokens with a code."""
        return await self.token(
            grant_type="authorization_code",
            code=code,
            **{"redirect_uri": self.redirect_uri, "code_verifier": self.verifier, **changed},
        )

    async def refresh(self, token: str, **changed: str) -> httpx2.Response:
        """Ask for a new pair."""
        return await self.token(grant_type="refresh_token", refresh_token=token, **changed)

    async def token(self, **form: str) -> httpx2.Response:
        """Ask the token endpoint. A field that is "" is left out."""
        fields = {"client_id": self.id, "client_secret": self.secret, **form}
        return await self.http.post("/token", data={name: value for name, value in fields.items() if value})

    async def connected(self, person: Browser, **changed: str) -> dict[str, Any]:
        """All the way: the tokens of a request that the person allows."""
        answer = await self.exchange(await self.code(person, **changed))
        assert answer.status_code == 200, answer.text
        read: dict[str, Any] = answer.json()
        return read


@asynccontextmanager
async def application(house: House, redirect_uri: str = CALLBACK, **said: object) -> AsyncIterator[Application]:
    """An application that has registered itself."""
    async with house.client() as http:
        body = {"client_name": "A test", "redirect_uris": [redirect_uri], **said}
        registered = (await http.post("/register", json=body)).json()
        yield Application(house, http, registered["client_id"], registered.get("client_secret", ""), redirect_uri)


def query(answer: httpx2.Response) -> dict[str, str]:
    """The parameters of a redirect out of the brain, each of which comes once."""
    pairs = parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


async def call(house: House, token: str, method: str = "tools/list", **params: object) -> httpx2.Response:
    """One message to the MCP endpoint."""
    async with house.client(token) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await http.post("/api/mcp", json=body)
