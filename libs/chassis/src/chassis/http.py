"""An HTTP server inside the process: uvicorn with uvloop and httptools, which leaves signals and logs to us."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn

App = Callable[..., Awaitable[None]]
"""An ASGI application: called with scope, receive and send."""

LOOPBACK = "127.0.0.1"
_GRACE_SECONDS = 5


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `chassis.process`, which stops all parts in order."""
        yield


@asynccontextmanager
async def serve(app: App, port: int, host: str = LOOPBACK, *, lifespan: bool = False) -> AsyncIterator[int]:
    """Serve `app` while the block runs; gives the port, which is a free one for `port` 0.

    On leaving, new connections are refused and open requests get five seconds. Raises `OSError` when the port is
    taken. `lifespan` runs the application's own start and stop hooks.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    config = uvicorn.Config(
        app,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="on" if lifespan else "off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who may speak for others is the application's to say
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if running.done():
                await running
                raise OSError(f"the HTTP server on port {port} did not start")
            await asyncio.sleep(0.01)
        bound: int = listener.getsockname()[1]
        yield bound
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running
        listener.close()
