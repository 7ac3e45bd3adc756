"""The protocol's official suite: the dispatcher with the suite's own catalogue, then a whole gateway with ours."""

from pathlib import Path

import httpx2
import pytest

from conformance import fixture, suite, targets
from gateway_world import House
from oauth_world import application, browser
from servers import free_port

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not suite.installed(), reason="`make conformance` installs the official suite"),
]

OF_ANY_CATALOGUE = {
    "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"],
    "2026-07-28": [
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "http-header-validation",
    ],
}
"""The scenarios that ask for no tool, prompt or resource of the suite's own."""


@pytest.mark.parametrize("requirements", suite.REQUIREMENTS)
async def test_all_of_a_revision_passes_but_what_needs_a_stream(requirements: str, tmp_path: Path) -> None:
    expected = str(suite.baseline(requirements))
    async with targets.serving(targets.bare(fixture.catalogue())) as address:
        verdict = await suite.against(
            address, tmp_path, "--requirements", requirements, "--expected-failures", expected
        )
    assert verdict.passed, verdict.told


@pytest.mark.service
@pytest.mark.parametrize("requirements", suite.REQUIREMENTS)
async def test_a_whole_gateway_passes_what_can_be_asked_of_any(house: House, requirements: str, tmp_path: Path) -> None:
    secret = (await house.token()).secret
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=20) as client,
        targets.serving(targets.bearing(f"{house.address}/api/mcp", secret, client)) as address,
    ):
        for scenario in OF_ANY_CATALOGUE[requirements]:
            verdict = await suite.against(address, tmp_path, "--scenario", scenario, "--spec-version", requirements)
            assert verdict.passed, verdict.told


@pytest.mark.service
async def test_the_authorization_server_is_one_to_the_official_suite(house: House, tmp_path: Path) -> None:
    port = free_port()
    allowed = []
    async with (
        application(house, f"http://127.0.0.1:{port}/callback") as app,
        browser(house, "alice") as person,
        httpx2.AsyncClient(trust_env=False) as outside,
    ):

        async def consent(address: str) -> None:
            answer = await person.press(await person.open(address), "allow")
            allowed.append(await outside.get(answer.headers["location"]))

        arguments = ["--client-id", app.id, "--resource", f"{house.address}/api/mcp", "--port", str(port)]
        verdict = await suite.authorization(house.address, tmp_path, arguments, consent)
    assert verdict.passed, verdict.told
    assert [answer.status_code for answer in allowed] == [200]


async def test_a_server_that_answers_nothing_right_does_not_pass(tmp_path: Path) -> None:
    async def lost(_scope: targets.Event, _receive: targets.Receive, send: targets.Send) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with targets.serving(lost) as address:
        verdict = await suite.against(address, tmp_path, "--scenario", "ping", "--spec-version", "2025-11-25")
    assert not verdict.passed
