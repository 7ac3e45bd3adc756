"""A person at a real browser, who is signed in, reads what is asked, and presses Allow."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, async_playwright

CHROMIUM = shutil.which("chromium")
_ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


@dataclass(slots=True)
class Person:
    """Signed in at the brain. `asked`: the text of every consent page so far."""

    context: BrowserContext
    asked: list[str] = field(default_factory=list)

    async def allows(self, address: str) -> None:
        """Open what an application asks for, press Allow, and be where the application said."""
        page = await self.context.new_page()
        try:
            await page.goto(address)
            self.asked.append(await page.locator("main").inner_text())
            async with page.expect_navigation():
                await page.get_by_role("button", name="Allow", exact=True).click()
            assert page.url.startswith(("http://127.0.0.1:", "http://localhost:")), page.url
            assert "code=" in page.url, page.url
        finally:
            await page.close()


@asynccontextmanager
async def signed_in(link: str) -> AsyncIterator[Person]:
    """Somebody who opened a one-time link in a browser that reaches this computer alone."""
    assert CHROMIUM is not None, "no chromium on this machine: apt-get install chromium"
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", _ALONE])
        context = await running.new_context()
        page = await context.new_page()
        answer = await page.goto(link)
        assert answer is not None
        await page.close()
        yield Person(context)
        await running.close()
