"""A TCP proxy that can be severed: nothing gets through any more, and nobody is told."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Severable:
    """The way to a server on the loopback address. `port`: where its clients go instead."""

    server: int
    port: int = 0
    _through: asyncio.Event = field(default_factory=asyncio.Event)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._through.set()

    @contextmanager
    def severed(self) -> Iterator[None]:
        """In the block connections stand and carry nothing, in both directions; behind it they carry what was sent."""
        self._through.clear()
        try:
            yield
        finally:
            self._through.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client."""
        await self._through.wait()
        behind, forth = await asyncio.open_connection("127.0.0.1", self.server)
        self._open |= {writer, forth}
        ways = [asyncio.create_task(self._copy(reader, forth)), asyncio.create_task(self._copy(behind, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for end in (writer, forth):
            end.close()
            self._open.discard(end)

    def end(self) -> None:
        """Let through what waits, and cut every connection."""
        self._through.set()
        for writer in self._open:
            writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(65536):
            await self._through.wait()
            writer.write(part)
            await writer.drain()


@asynccontextmanager
async def severable(server: int) -> AsyncIterator[Severable]:
    """Listen on a free port in front of what listens on `server`."""
    proxy = Severable(server)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listening.close()
        proxy.end()
