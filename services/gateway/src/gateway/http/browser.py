"""Signing in with a one-time link, and out again."""

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.handlers import HTTPRouteHandler

from gateway.http.routes import Asked
from gateway.oauth.consenting import way_back
from gateway.sessions import LINK_MINUTES, SESSION_DAYS, Sessions

_SPENT = (
    f"This sign-in link was used already, or is older than {LINK_MINUTES} minutes.\n"
    "Ask whoever runs this brain for a new one: brain signin NAME --link\n"
)


def routes(sessions: Sessions, web_url: str, name: str, pending: str, *, secure: bool) -> list[HTTPRouteHandler]:
    """`/signin?code=` and `/signout`. `name`: the cookie's; `secure`: it travels over HTTPS only.

    `pending`: the cookie of a request that waits for this sign-in, which leads back to it.
    """

    @get("/signin", name="signin")
    async def sign_in(request: Asked) -> Response[str]:
        cookie = await sessions.begin(request.query_params.get("code", "").strip().rpartition("code=")[2])
        if cookie is None:
            return Response(_SPENT, status_code=400, media_type="text/plain", headers={"cache-control": "no-store"})
        back = way_back(request.cookies.get(pending, ""), web_url)
        return _redirect(back, _cookie(name, cookie, secure=secure, seconds=SESSION_DAYS * 86_400))

    @post("/signout", name="signout")
    async def sign_out(request: Asked) -> Response[str]:
        await sessions.end(request.cookies.get(name, ""))
        return _redirect(web_url, _cookie(name, "", secure=secure, seconds=0))

    return [sign_in, sign_out]


def _redirect(address: str, cookie: Cookie) -> Response[str]:
    headers = {"location": address, "cache-control": "no-store"}
    return Response("", status_code=303, media_type="text/plain", headers=headers, cookies=[cookie])


def _cookie(name: str, value: str, *, secure: bool, seconds: int) -> Cookie:
    """Ports of one host share it, so that the approvals pages see the session that gateway began."""
    return Cookie(key=name, value=value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=secure)
