"""A process says whether it lives and whether it is ready, with reasons."""

import asyncio
import sys

import httpx2
import msgspec
import pytest

from chassis import health, metrics, process


async def get(port: int, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as client:
        return await client.get(f"http://127.0.0.1:{port}{path}")


async def test_ready_means_no_part_has_a_reason_against_it() -> None:
    reasons: dict[str, str] = {"postgres": "no connection"}

    async def ready() -> dict[str, str]:
        return reasons

    async with health.serve(0, ready) as port:
        assert (await get(port, "/livez")).status_code == 200
        refused = await get(port, "/readyz")
        assert refused.status_code == 503
        assert msgspec.json.decode(refused.content) == {"ready": False, "reasons": {"postgres": "no connection"}}
        reasons.clear()
        assert (await get(port, "/readyz")).status_code == 200
        assert (await get(port, "/elsewhere")).status_code == 404


async def test_a_check_that_fails_is_a_reason_without_its_text() -> None:
    async def broken() -> dict[str, str]:
        raise RuntimeError("password hunter2")

    assert await health.check(broken) == health.State(ready=False, reasons={"health": "RuntimeError"})


async def test_metrics_are_printed_for_prometheus() -> None:
    asked = metrics.counter("test_questions_total", "questions", "kind")
    asked.add("page")
    asked.add("page", amount=2)

    async def ready() -> dict[str, str]:
        return {}

    async with health.serve(0, ready) as port:
        assert 'test_questions_total{kind="page"} 3' in (await get(port, "/metrics")).text


@pytest.mark.parametrize(("main", "code"), [("ends", process.OK), ("fails", process.FAILED)])
async def test_the_exit_code_says_how_a_process_ended(main: str, code: int) -> None:
    program = f"""
import asyncio, os, signal
from chassis import process

async def ends(stop: asyncio.Event) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    await stop.wait()

async def fails(stop: asyncio.Event) -> None:
    raise RuntimeError("hunter2")

process.run({main})
"""
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=asyncio.subprocess.PIPE)
    _, errors = await child.communicate()
    assert child.returncode == code
    assert b"hunter2" not in errors
