"""The pages in a real browser: axe finds nothing, nothing is wider than a phone, and it works without a script."""

import shutil
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx2
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import BrowserContext, async_playwright

from approvals_world import World, digest, page_text
from contracts.approvals_messages import SubmitBuild
from contracts.enums import PageAction
from contracts.gateway_messages import session_cookie
from contracts.ids import CommandId

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")

LONG = "An exceptionally long line without an end, " * 8
WIDTHS = {"desk": 1280, "phone": 360}


@pytest.fixture(params=["light", "dark"])
async def browser(
    request: pytest.FixtureRequest, client: httpx2.AsyncClient, world: World
) -> AsyncIterator[BrowserContext]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await chromium.new_context(
            base_url=str(client.base_url), color_scheme=request.param, bypass_csp=True, reduced_motion="reduce"
        )
        await context.add_cookies(
            [{"name": session_cookie(world.brain), "value": str(world.alice), "url": str(client.base_url)}]
        )
        yield context
        await chromium.close()


async def some_work(world: World) -> dict[str, str]:
    """Proposals of several kinds; the addresses to look at."""
    body = page_text("Discount ceiling", f"Up to 12 %.\n\n{LONG}")
    first = await world.propose("topics/pricing.md", body)
    await world.approve(first.proposal, world.alice, digest(body))
    edited = page_text("Discount ceiling", f"Up to \u200b15 %.\n\n{LONG} And more.")
    edit = await world.propose("topics/pricing.md", edited)
    pages = {"handbook/a-rather-long-name/of-a-page/that-says-much.md": page_text("Alpha"), "b.md": page_text("Beta")}
    build, author = await world.build(pages)
    built = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    await world.publish("old.md", page_text("Old"))
    ended = await world.propose("old.md", b"", action=PageAction.DEPRECATE)
    page = next(row["page"] for row in (await world.rows())["drafts"] if row["path"] == "b.md")
    return {
        "inbox": "/",
        "edit": f"/proposals/{edit.proposal}",
        "end": f"/proposals/{ended.proposal}",
        "decided": f"/proposals/{first.proposal}",
        "build": f"/proposals/{built.proposal}",
        "page": f"/proposals/{built.proposal}/pages/{page}",
        "missing": f"/proposals/{uuid4()}",
    }


async def test_every_page_is_accessible_and_fits(browser: BrowserContext, world: World) -> None:
    addresses = await some_work(world)
    page = await browser.new_page()
    for name, address in addresses.items():
        for width in WIDTHS.values():
            await page.set_viewport_size({"width": width, "height": 800})
            await page.goto(address)
            found = await Axe().run(page)
            assert found.violations_count == 0, f"{name} at {width}: {found.generate_report()}"
            wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{name} is {wide} pixels too wide at {width}"


async def test_a_decision_is_made_by_keyboard_alone_and_without_a_script(
    client: httpx2.AsyncClient, world: World
) -> None:
    addresses = await some_work(world)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await chromium.new_context(base_url=str(client.base_url), java_script_enabled=False)
        await context.add_cookies(
            [{"name": session_cookie(world.brain), "value": str(world.alice), "url": str(client.base_url)}]
        )
        page = await context.new_page()
        await page.goto(addresses["edit"])
        await page.get_by_role("button", name="Approve and publish").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("status").wait_for()
        assert "It was approved." in await page.inner_text("main")
        await chromium.close()
    rows = await world.rows()
    assert next(row for row in rows["pages"] if row["path"] == "topics/pricing.md")["revision"] == 2


async def test_signing_out_tells_gateway_which_page_it_came_from(client: httpx2.AsyncClient, world: World) -> None:
    """Gateway refuses a form that does not say its origin; the address that it came from stays here."""
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await chromium.new_context(base_url=str(client.base_url))
        await context.add_cookies(
            [{"name": session_cookie(world.brain), "value": str(world.alice), "url": str(client.base_url)}]
        )
        page = await context.new_page()
        await page.route("**/signout", lambda route: route.fulfill(status=200, body="out"))
        await page.goto("/")
        async with page.expect_request("**/signout") as asked:
            await page.get_by_role("button", name="Sign out").click()
        headers = await (await asked.value).all_headers()
        assert headers["origin"] == str(client.base_url).rstrip("/")
        assert headers.get("referer", "").rstrip("/") in {"", headers["origin"]}
        await chromium.close()
