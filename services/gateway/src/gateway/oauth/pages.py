"""The pages of signing in and consent. They need no script; what an application says about itself is only text."""

from importlib.resources import files
from urllib.parse import urlsplit

import jinja2

from contracts.enums import Scope
from contracts.errors import Refused
from contracts.gateway_messages import Session
from gateway.audit import trail
from gateway.oauth import redirects
from gateway.oauth.clients import readable
from gateway.oauth.families import LASTING
from gateway.oauth.requests import Authorization
from gateway.oauth.wire import Answer
from gateway.sessions import LINK_MINUTES

MAY = {
    Scope.READ: "Search and read the pages that you may see.",
    Scope.PROPOSE: "Put proposals in your name into the inbox, where people decide on them.",
}
"""What a scope lets an application do, in plain words."""

_HERE = (
    "The answer goes to a program on this computer, and any program on it can pretend to be another."
    " Allow this only if you started it yourself, just now."
)
_OWN_SCHEME = (
    "The answer opens whichever application on this computer claims addresses like this one."
    " Allow this only if you started it yourself, just now."
)
_NAMELESS = "An application without a name"
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "
_STATIC = {"gateway.css": "text/css; charset=utf-8", "mark.svg": "image/svg+xml"}


class Pages:
    """Renders the pages, each with the headers that bind it to this site."""

    def __init__(self) -> None:
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("gateway.oauth"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._static = {
            f"/oauth/{name}": Answer(
                200,
                files("gateway.oauth").joinpath("static", name).read_bytes(),
                {"content-type": kind, "cache-control": "public, max-age=300"},
            )
            for name, kind in _STATIC.items()
        }

    @property
    def static(self) -> dict[str, Answer]:
        """What the pages refer to, by path."""
        return self._static

    def consent(self, asked: Authorization, ticket: str, session: Session) -> Answer:
        """Who wants what, and the two buttons."""
        return self._page(
            "consent.html",
            200,
            _next_steps(asked.redirect_uri),
            asked=asked,
            name=readable(asked.client_name) or _NAMELESS,
            place=redirects.shown(asked.redirect_uri),
            may=[MAY[scope] for scope in asked.scopes],
            days=LASTING.days,
            warning=_warning(asked.redirect_uri),
            person=session.name,
            csrf=session.csrf,
            ticket=ticket,
        )

    def sign_in(self, ticket: str) -> Answer:
        """How to sign in, and the way back to the request."""
        return self._page("sign_in.html", 200, "'self'", ticket=ticket, minutes=LINK_MINUTES)

    def refused(self, told: Refused, status: int = 400) -> Answer:
        """Why nothing is sent anywhere."""
        trail.current().refused(told.code)
        return self._page("refused.html", status, "'none'", told=told, title="This connection cannot be made")

    def failed(self, answer: Answer) -> Answer:
        """A fault that a program would read, for a person."""
        told = Refused("unavailable", "This cannot be answered just now.", "", "Try again in a moment.")
        if answer.status < 500:  # noqa: PLR2004 - HTTP's own number
            told = Refused("invalid_request", "This address does not take such a request.", "", "Connect again.")
        page = self.refused(told, answer.status)
        kept = {name: value for name, value in answer.headers.items() if name not in page.headers}
        return Answer(page.status, page.body, {**page.headers, **kept})

    def _page(self, template: str, status: int, forms: str, **shown: object) -> Answer:
        html = self._templates.get_template(template).render(**shown)
        headers = {
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": _POLICY + forms,
            "referrer-policy": "same-origin",
            "x-frame-options": "DENY",
        }
        return Answer(status, html.encode(), headers)


def _warning(redirect_uri: str) -> str:
    if redirects.stays_here(redirect_uri):
        return _HERE
    return "" if urlsplit(redirect_uri).scheme == "https" else _OWN_SCHEME


def _next_steps(redirect_uri: str) -> str:
    """Where the form may lead: here, then the application's address, which may lead on to its own https site.

    Browsers apply the policy of a form to every redirect that follows it. Policies cannot name an IPv6 host, so there
    the scheme stands alone.
    """
    parts = urlsplit(redirect_uri)
    named = parts.scheme in {"http", "https"} and not parts.netloc.startswith("[")
    answer = f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"
    return f"'self' {answer} https:"
