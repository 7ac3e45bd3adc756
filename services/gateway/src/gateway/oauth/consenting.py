"""What a person's browser is shown: the request is checked, he signs in where he has to, and says yes or no."""

import hmac
import re
from dataclasses import dataclass

from contracts.errors import Refused, Unavailable
from contracts.gateway_messages import Session
from gateway.audit import trail
from gateway.credentials import Credentials
from gateway.oauth import discovery, redirects, requests
from gateway.oauth.asking import WAITING, Waiting
from gateway.oauth.grants import Grants
from gateway.oauth.pages import Pages
from gateway.oauth.registry import Registry
from gateway.oauth.requests import Authorization, Parameters
from gateway.oauth.wire import Answer, Asked, code_of, words_of
from gateway.sessions import Sessions

_TICKET = re.compile(r"[A-Za-z0-9_-]{43}")
_OVER = Refused(
    "request_over",
    f"This request was answered already, or is older than {int(WAITING.total_seconds()) // 60} minutes.",
    "request",
    "Connect again in the application.",
)
_FORGED = Refused("forged_form", "This form was not made for you.", "csrf", "Connect again in the application.")
_UNDECIDED = Refused("form_malformed", "The form holds no decision.", "decision", "Go back and choose one.")


@dataclass(frozen=True, slots=True)
class Browsers:
    """Who sits at a browser. `cookie`: the session's; `pending`: the request that a sign-in returns to."""

    sessions: Sessions
    credentials: Credentials
    cookie: str
    pending: str
    secure: bool

    async def who(self, asked: Asked) -> Session | None:
        """The signed-in active person, as of now."""
        cookie = asked.cookie(self.cookie)
        if not cookie:
            return None
        await self.credentials.behind_the_fence()
        session = await self.sessions.find(cookie)
        if session is not None:
            trail.current().acts_for(session.principal)
        return session

    def marked(self, ticket: str) -> str:
        """The cookie that brings a sign-in back to this request; an empty ticket takes it away."""
        seconds = int(WAITING.total_seconds()) if ticket else 0
        told = f"{self.pending}={ticket}; Path=/signin; Max-Age={seconds}; HttpOnly; SameSite=Lax"
        return f"{told}; Secure" if self.secure else told


def way_back(ticket: str, otherwise: str) -> str:
    """Where a sign-in leads: to the request that waits, or elsewhere."""
    return f"/consent?request={ticket}" if _TICKET.fullmatch(ticket) else otherwise


class Consenting:
    """Serves `/authorize` and `/consent`."""

    def __init__(
        self,
        public_url: str,
        registry: Registry,
        waiting: Waiting,
        grants: Grants,
        browsers: Browsers,
        pages: Pages,
    ) -> None:
        self._issuer = discovery.issuer(public_url)
        self._resource = discovery.resource(public_url)
        self._registry = registry
        self._waiting = waiting
        self._grants = grants
        self._browsers = browsers
        self._pages = pages

    async def authorize(self, asked: Asked) -> Answer:
        """The beginning. A wrong application or address is told to the person, anything else to the application."""
        try:
            given = Parameters.of(asked.query)
            client = await self._registry.find(given.needed("client_id"))
            redirect_uri = requests.redirect_of(given, client)
        except Refused as refused:
            return self._pages.refused(refused)
        try:
            wanted = requests.authorization(given, client, redirect_uri, self._resource)
            ticket = await self._waiting.add(wanted)
        except (Refused, Unavailable) as error:
            return self._sent(redirect_uri, requests.state_of(given), **_error(error))
        return Answer(303, b"", {"location": way_back(ticket, "/"), "cache-control": "no-store"})

    async def consent(self, asked: Asked) -> Answer:
        """The page, for whoever is signed in; how to sign in, for anybody else."""
        try:
            ticket = Parameters.of(asked.query).one("request")
        except Refused as refused:
            return self._pages.refused(refused)
        waits = await self._waiting.find(ticket)
        if waits is None:
            return self._pages.refused(_OVER)
        session = await self._browsers.who(asked)
        return self._sign_in(ticket) if session is None else self._pages.consent(waits, ticket, session)

    async def decide(self, asked: Asked) -> Answer:
        """The person's answer goes to the application, once."""
        try:
            form = asked.form()
            ticket, csrf, decision = form.one("request"), form.one("csrf"), form.one("decision")
        except Refused as refused:
            return self._pages.refused(refused)
        session = await self._browsers.who(asked)
        if session is None:
            waits = await self._waiting.find(ticket)
            return self._pages.refused(_OVER) if waits is None else self._sign_in(ticket)
        if not hmac.compare_digest(csrf.encode(), session.csrf.encode()):
            return self._pages.refused(_FORGED, 403)
        if decision not in {"allow", "deny"}:
            return self._pages.refused(_UNDECIDED)
        waits = await self._waiting.take(ticket)
        if waits is None:
            return self._pages.refused(_OVER)
        answer = await self._allowed(ticket, waits, session) if decision == "allow" else _denied()
        return self._sent(waits.redirect_uri, waits.state, **answer)

    async def _allowed(self, ticket: str, waits: Authorization, session: Session) -> dict[str, str]:
        try:
            return {"code": await self._grants.consent(ticket, waits, session.principal)}
        except (Refused, Unavailable) as error:
            return _error(error)

    def _sign_in(self, ticket: str) -> Answer:
        page = self._pages.sign_in(ticket)
        return Answer(page.status, page.body, {**page.headers, "set-cookie": self._browsers.marked(ticket)})

    def _sent(self, redirect_uri: str, state: str | None, **answer: str) -> Answer:
        """Back to the application, which learns who answers (RFC 9207), and its own mark."""
        marked = answer if state is None else {**answer, "state": state}
        location = redirects.answered(redirect_uri, **marked, iss=self._issuer)
        headers = {"location": location, "cache-control": "no-store", "set-cookie": self._browsers.marked("")}
        return Answer(303, b"", headers)


def _error(error: Refused | Unavailable) -> dict[str, str]:
    trail.current().stopped(error)
    return {"error": code_of(error), "error_description": words_of(error)}


def _denied() -> dict[str, str]:
    trail.current().refused("access_denied")
    return {"error": "access_denied", "error_description": "The person did not allow it."}
