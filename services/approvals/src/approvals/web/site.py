"""The HTTP surface of approvals: every page asks gateway who is there, every form binds to session and digest."""

import hmac
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from uuid import UUID, uuid4

import jinja2
import structlog
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import FromPath

from approvals import telling
from approvals.asking import Asking
from approvals.commands.deciding import Deciding
from approvals.desk import Desk
from approvals.web import words
from approvals.web.edge import App, Edge
from approvals.web.reading import Reading
from approvals.web.showing import visible
from chassis import rpc
from contracts.approvals_messages import Decide
from contracts.enums import Reason, Verdict
from contracts.errors import FORBIDDEN, MISSING, Refused, Unavailable
from contracts.gateway_messages import SESSION, AskSession, Session, session_cookie
from contracts.ids import CommandId, PageId, ProposalId

FORM_BYTES = 64 * 1024
MOVED = frozenset(
    {
        "already_decided",
        "base_moved",
        "command_reused",
        "content_missing",
        "digest_mismatch",
        "owner_missing",
        "path_taken",
        "withdrawn",
    }
)
"""Refusals that mean that the world is not as the form showed it."""

Asked = Request[Any, Any, Any]  # Litestar's own three parameters: user, auth and state, none of which we use
Page = Response[str]

_LOG = structlog.get_logger()


class Site:
    """The pages. `public_url` is where gateway signs people in and out, `web_url` where these pages are for them.

    `port`: what is listened on.
    """

    def __init__(self, desk: Desk, deciding: Deciding, public_url: str, web_url: str, port: int) -> None:
        self._desk = desk
        self._asking = Asking(desk)
        self._reading = Reading(desk, self._asking)
        self._deciding = deciding
        self._public_url = public_url.rstrip("/")
        self._web_url = web_url
        self._port = port
        self._cookie = session_cookie(desk.brain)
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("approvals.web"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(words=words, telling=telling, visible=visible, public_url=self._public_url)

    def app(self) -> App:
        """The application, behind its edge."""

        @get("/", name="inbox")
        async def inbox(request: Asked) -> Page:
            return await self._inbox(request, await self._session(request))

        @get("/proposals/{proposal:uuid}", name="proposal")
        async def one(request: Asked, proposal: FromPath[UUID]) -> Page:
            return await self._proposal(request, await self._session(request), ProposalId(proposal))

        @get("/proposals/{proposal:uuid}/pages/{page:uuid}", name="page")
        async def of_build(request: Asked, proposal: FromPath[UUID], page: FromPath[UUID]) -> Page:
            session = await self._session(request)
            shown = await self._reading.one(session.principal, ProposalId(proposal), PageId(page))
            return self._page("page.html", session, shown=shown)

        @post("/proposals/{proposal:uuid}/decision", name="decision", status_code=303)
        async def decision(request: Asked, proposal: FromPath[UUID]) -> Page:
            return await self._decide(request, await self._session(request), ProposalId(proposal))

        inner = Litestar(
            route_handlers=[inbox, one, of_build, decision, *_static()],
            exception_handlers={Exception: self._refusal},
            request_max_body_size=FORM_BYTES,
            openapi_config=None,
            logging_config=None,
        )
        return Edge(inner, self._public_url, self._web_url, self._port)

    async def _session(self, request: Asked) -> Session:
        """Who is there, asked anew for each request. Raises `not_signed_in`."""
        cookie = request.cookies.get(self._cookie, "")
        if not cookie:
            raise Refused("not_signed_in", "This browser is not signed in.", "", "Open a sign-in link.")
        return await rpc.ask(self._desk.nc, SESSION, AskSession(cookie=cookie), Session)

    async def _inbox(self, request: Asked, session: Session) -> Page:
        sheets, after = await self._asking.open_sheets(session.principal, request.query_params.get("after", ""), 100)
        mine = [sheet for sheet in sheets if sheet.may_decide]
        others = [sheet for sheet in sheets if not sheet.may_decide]
        now = self._desk.clock()
        return self._page("inbox.html", session, mine=mine, others=others, after=after, now=now)

    async def _proposal(self, request: Asked, session: Session, id_: ProposalId) -> Page:
        shown = await self._reading.one(session.principal, id_)
        recorded = request.query_params.get("recorded", "")
        return self._page(
            "proposal.html", session, shown=shown, command=uuid4(), recorded=recorded, now=self._desk.clock()
        )

    async def _decide(self, request: Asked, session: Session, id_: ProposalId) -> Page:
        form = await request.form()
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        if not hmac.compare_digest(fields.get("csrf", "").encode(), session.csrf.encode()):
            raise Refused("forged_form", "This form was not made for you.", "", "Open the proposal and decide there.")
        decided = await self._deciding.decide(_ballot(fields, session, id_))
        how = "archived" if decided.archived else "recorded"
        return self._respond("", 303, {"location": f"/proposals/{id_}?recorded={how}"})

    def _page(self, template: str, session: Session | None, status: int = 200, **shown: object) -> Page:
        html = self._templates.get_template(template).render(session=session, **shown)
        return self._respond(html, status, {})

    @staticmethod
    def _respond(html: str, status: int, headers: Mapping[str, str]) -> Page:
        return Response(
            html, status_code=status, media_type="text/html", headers={"cache-control": "no-store", **headers}
        )

    def _refusal(self, request: Asked, error: Exception) -> Page:
        """Every refusal as a page that says what, where and what to do."""
        del request
        told: Refused
        headers: dict[str, str] = {}
        match error:
            case Refused():
                told, status = error, _status(error.code)
            case Unavailable():
                told, status = Refused("unavailable", error.what, "", "Try again in a moment."), 503
                headers = {"retry-after": str(error.retry_after)}
            case HTTPException(status_code=code) if code < 500:  # noqa: PLR2004 - HTTP's own number
                told, status = Refused("http", words.STATUS.get(code, words.STATUS[400])), code
            case _:
                _LOG.error("page_failed", exc_info=error)
                told, status = rpc.internal(rpc.current().request), 500
        page = self._page("refused.html", None, status, told=told, title=words.STATUS.get(status, words.STATUS[400]))
        page.headers.update(headers)
        return page


def _status(code: str) -> int:
    if code == "not_signed_in":
        return 401
    if code == "cursor_malformed":
        return 400
    if code in FORBIDDEN or code == "forged_form":
        return 403
    if code in MISSING:
        return 404
    return 409 if code in MOVED else 422


def _ballot(fields: Mapping[str, str], session: Session, id_: ProposalId) -> Decide:
    """The decision that a form holds. Raises `form_malformed`."""
    try:
        verdict = Verdict(fields.get("verdict", ""))
        reason = Reason(fields["reason"]) if fields.get("reason") else None
        command = CommandId(UUID(fields.get("command", "")))
    except ValueError:
        what = "The form lacks a verdict, a reason that we know, or its number."
        raise Refused("form_malformed", what, "", "Open the proposal and decide there.") from None
    return Decide(
        command=command,
        by=session.principal,
        proposal=id_,
        verdict=verdict,
        digest=fields.get("digest") or None,
        reason=reason if verdict is Verdict.REJECT else None,
        note=fields.get("note", "").replace("\r\n", "\n").strip(),
    )


def _static() -> list[Any]:  # Any: Litestar's route handlers have no common public type
    kinds = {"approvals.css": "text/css", "mark.svg": "image/svg+xml"}
    bodies = {name: files("approvals.web").joinpath("static", name).read_bytes() for name in kinds}

    @get("/static/{name:str}", name="static")
    async def static(name: FromPath[str]) -> Response[bytes]:
        if name not in bodies:
            raise Refused("no_such_page", "There is no such file.")
        headers = {"cache-control": "public, max-age=300"}
        return Response(bodies[name], media_type=kinds[name], headers=headers)

    return [static]
