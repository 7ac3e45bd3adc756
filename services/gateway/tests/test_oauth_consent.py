"""The pages: signing in on the way, what a person is shown, and that only his own answer counts."""

import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import BrowserContext, async_playwright

from chassis import http
from contracts.gateway_messages import session_cookie
from gateway_world import House
from oauth_world import Application, application, browser, form_of, query

pytestmark = pytest.mark.service
CHROMIUM = shutil.which("chromium")
in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]  # Any: ASGI's own shapes
LONG = "An application with an exceptionally long name that goes on " * 3


async def test_whoever_is_not_signed_in_is_shown_how_and_comes_back_to_the_request(house: House) -> None:
    async with application(house) as app, browser(house) as person:
        page = await person.open(app.request())
        assert page.status_code == 200
        assert "brain signin NAME --link" in page.text
        assert "A test" not in page.text
        signed_in = await person.sign_in()
        assert signed_in.headers["location"].startswith("/consent?request=")
        consent = await person.open(signed_in.headers["location"])
        assert "A test" in consent.text
        answer = await person.press(consent, "allow")
        assert (await app.exchange(query(answer)["code"])).status_code == 200
        assert (await person.sign_in()).headers["location"] == house.web


async def test_a_link_may_be_pasted_into_the_page(house: House) -> None:
    async with application(house) as app, browser(house) as person:
        page = await person.open(app.request())
        form = form_of(page)
        link = f"{house.address}/signin?code={await house.sign_in(link=True)}"
        signed_in = await person.http.get(form.action, params={"code": f" {link} "})
        assert signed_in.headers["location"].startswith("/consent?request=")
        assert "A test" in (await person.open(signed_in.headers["location"])).text


async def test_a_sign_in_never_leads_to_what_a_cookie_says(house: House) -> None:
    async with browser(house) as person:
        for value in ("https://evil.example/", "//evil.example", "x" * 43 + "/../..", ""):
            person.http.cookies.set(f"brain_pending_{house.brain.hex[:8]}", value)
            assert (await person.sign_in()).headers["location"] == house.web


async def test_the_page_says_who_asks_where_the_answer_goes_and_what_it_may(house: House) -> None:
    asked = application(house, "https://app.example/cb", client_name='<b>"Claude"</b>\u202e')
    async with asked as app, browser(house, "alice") as person:
        page = await person.open(app.request(scope="brain:read brain:propose"))
        reading = await person.open(app.request())
    assert "&lt;b&gt;&#34;Claude&#34;&lt;/b&gt;" in page.text
    assert "<b>" not in page.text
    assert "\u202e" not in page.text
    for shown in ("Nobody has checked it", "app.example", "signed in as alice", "into the inbox", "90 days"):
        assert shown in page.text
    assert "on this computer" not in page.text
    assert "into the inbox" not in reading.text


@pytest.mark.parametrize(
    ("redirect_uri", "place"),
    [
        ("http://localhost:8787/callback", "localhost:8787"),
        ("http://[::1]/cb", "[::1]"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:"),
    ],
)
async def test_an_answer_that_stays_on_the_computer_is_warned_of(house: House, redirect_uri: str, place: str) -> None:
    async with application(house, redirect_uri) as app, browser(house, "alice") as person:
        page = await person.open(app.request())
    assert "on this computer" in page.text
    assert f"<code>{place}</code>" in page.text


async def test_no_page_may_be_framed_kept_or_run_a_script(house: House) -> None:
    async with application(house) as app, browser(house) as person:
        pages = [await person.open(app.request()), await person.open("/consent?request=unknown")]
        await person.sign_in()
        pages.append(await person.open(app.request()))
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy
        assert (page.headers["x-frame-options"], page.headers["cache-control"]) == ("DENY", "no-store")
        assert page.headers["referrer-policy"] == "same-origin"
        assert "<script" not in page.text


async def test_what_a_page_refers_to_is_there_under_a_path_of_the_gateways_own(house: House) -> None:
    async with browser(house) as person:
        page = await person.open("/consent?request=unknown")
        found = set(re.findall(r'(?:href|src)="(/[^"]+)"', page.text))
        assert found == {"/oauth/gateway.css", "/oauth/mark.svg"}
        kinds = {(await person.http.get(path)).headers["content-type"] for path in found}
    assert kinds == {"text/css; charset=utf-8", "image/svg+xml"}


async def test_no_answer_counts_without_the_forms_own_mark(house: House) -> None:
    await house.join("greta")
    async with application(house) as app, browser(house, "alice") as person, browser(house, "greta") as other:
        page = await person.open(app.request())
        foreign = form_of(await other.open(app.request())).fields["csrf"]
        for csrf in ("", "forged", foreign):
            answer = await person.press(page, "allow", csrf=csrf)
            assert (answer.status_code, "location" in answer.headers) == (403, False)
        fields = form_of(page).fields
        elsewhere = await person.http.post(
            "/consent", data={**fields, "decision": "allow"}, headers={"origin": "https://evil.example"}
        )
        assert elsewhere.status_code == 403
        for decision in ("", "maybe"):
            undecided = await person.http.post("/consent", data={**fields, "decision": decision})
            assert (undecided.status_code, "location" in undecided.headers) == (400, False)
        assert query(await person.press(page, "allow"))["code"]


async def test_a_person_may_say_no_and_the_application_learns_it(house: House) -> None:
    async with application(house) as app, browser(house, "alice") as person:
        told = query(await person.press(await person.open(app.request()), "deny"))
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", "the state", house.address)


@pytest.mark.parametrize("ticket", ["", "unknown", "x" * 43, "a\x00", "é"])
async def test_a_request_that_is_not_there_is_over(house: House, ticket: str) -> None:
    async with browser(house, "alice") as person:
        page = await person.http.get("/consent", params={"request": ticket})
        sent = await person.http.post("/consent", data={"request": ticket, "decision": "allow"})
    assert (page.status_code, "location" in page.headers) == (400, False)
    assert (sent.status_code in {400, 403}, "location" in sent.headers) == (True, False)


# in a real browser


@pytest.fixture(params=["light", "dark"])
async def chromium(request: pytest.FixtureRequest, house: House) -> AsyncIterator[BrowserContext]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield await running.new_context(
            base_url=house.address, color_scheme=request.param, bypass_csp=True, reduced_motion="reduce"
        )
        await running.close()


async def signed_in(house: House, context: BrowserContext) -> None:
    async with browser(house, "alice") as person:
        cookie = person.http.cookies[session_cookie(house.brain)]
    await context.add_cookies([{"name": session_cookie(house.brain), "value": cookie, "url": house.address}])


@in_chromium
async def test_every_page_is_accessible_and_fits(chromium: BrowserContext, house: House) -> None:
    page = await chromium.new_page()
    async with application(house, client_name=LONG) as app:
        for name in ("sign in", "consent", "refused"):
            if name == "consent":
                await signed_in(house, chromium)
            address = app.request(scope="brain:read brain:propose") if name != "refused" else "/consent?request=x"
            for width in (1280, 360):
                await page.set_viewport_size({"width": width, "height": 800})
                await page.goto(address)
                found = await Axe().run(page)
                assert found.violations_count == 0, f"{name} at {width}: {found.generate_report()}"
                wide = await page.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                assert wide <= 0, f"{name} is {wide} pixels too wide at {width}"


@in_chromium
async def test_it_is_allowed_by_keyboard_alone_without_a_script_and_the_browser_reaches_the_application(
    house: House,
) -> None:
    """The policy of the form lets the redirect through, onto another port and on to where that leads."""
    arrived: list[str] = []

    async def listening(scope: MutableMapping[str, Any], _receive: object, send: Send) -> None:
        arrived.append(f"{scope['path']}?{scope['query_string'].decode()}")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<!doctype html><title>Done</title><p>Connected."})

    async with (
        http.serve(listening, 0) as port,
        application(house, "http://127.0.0.1/callback") as app,
        async_playwright() as playwright,
    ):
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await running.new_context(base_url=house.address, java_script_enabled=False)
        page = await context.new_page()
        callback = f"http://127.0.0.1:{port}/callback"
        await page.goto(app.request(redirect_uri=callback))
        await page.get_by_label("Sign-in link").fill(await house.sign_in(link=True))
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Allow", exact=True).focus()
        await page.keyboard.press("Enter")
        await page.get_by_text("Connected.").wait_for()
        await running.close()
    answer = next(each for each in arrived if each.startswith("/callback?"))
    assert f"iss={quote(house.address, safe='')}" in answer
    code = dict(parse_qsl(answer.partition("?")[2]))["code"]
    async with house.client() as client:
        again = Application(house, client, app.id, "", callback, app.verifier)
        assert (await again.exchange(code)).status_code == 200
