"""Whether a process lives and whether it is ready, and why not: `/livez`, `/readyz` and `/metrics` on a port inside."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import msgspec

from chassis import http, metrics

Ready = Callable[[], Awaitable[dict[str, str]]]
"""Asks every part of a service: the parts that are not ready with the reason; empty means ready."""

Send = Callable[[dict[str, object]], Awaitable[None]]

_CHECK_SECONDS = 3.0
_STUCK_SECONDS = 10.0
_LAG = metrics.gauge("process_loop_lag_seconds", "how late the event loop woke up last")


class State(msgspec.Struct, frozen=True):
    """The answer of `/readyz`."""

    ready: bool
    reasons: dict[str, str]


async def check(ready: Ready) -> State:
    """Ask `ready`, for at most three seconds; a failure to ask is itself a reason."""
    try:
        reasons = await asyncio.wait_for(ready(), _CHECK_SECONDS)
    except TimeoutError:
        reasons = {"health": f"no answer within {_CHECK_SECONDS:g} seconds"}
    except Exception as error:  # noqa: BLE001 - readiness reports whatever stands in the way
        reasons = {"health": type(error).__qualname__}
    return State(not reasons, reasons)


@asynccontextmanager
async def serve(port: int, ready: Ready, host: str = http.LOOPBACK) -> AsyncIterator[int]:
    """Serve the three pages while the block runs; gives the port, a free one for `port` 0."""
    pulse = _Pulse()
    beating = asyncio.create_task(pulse.run())
    try:
        async with http.serve(_App(pulse, ready), port, host) as bound:
            yield bound
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


class _Pulse:
    def __init__(self) -> None:
        self.last = time.monotonic()

    async def run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(1)
            self.last = time.monotonic()
            _LAG.set(value=max(0.0, self.last - before - 1))


class _App:
    def __init__(self, pulse: _Pulse, ready: Ready) -> None:
        self._pulse = pulse
        self._ready = ready

    async def __call__(self, scope: Mapping[str, object], _receive: object, send: Send) -> None:
        status, kind, body = await self._answer(str(scope.get("path", "")))
        headers = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _answer(self, path: str) -> tuple[int, bytes, bytes]:
        if path == "/livez":
            stuck = time.monotonic() - self._pulse.last > _STUCK_SECONDS
            return (503 if stuck else 200), b"text/plain", b"stuck\n" if stuck else b"ok\n"
        if path == "/readyz":
            state = await check(self._ready)
            return (200 if state.ready else 503), b"application/json", msgspec.json.encode(state)
        if path == "/metrics":
            return 200, b"text/plain; version=0.0.4", metrics.render().encode()
        return 404, b"text/plain", b"not found\n"
