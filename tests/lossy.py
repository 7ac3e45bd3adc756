"""A TCP proxy in front of NATS that loses answers: publishes get through, their acknowledgements do not always."""

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_PUBLISHED = re.compile(rb'\s*\{"stream":\s*"EVT",(\s*"domain":\s*"[^"]*",)?\s*"seq":')


@dataclass(slots=True)
class Lossy:
    """`share` of the acknowledgements of publishes to EVT is dropped. `seed` makes the choice repeatable."""

    server: int
    share: float = 0.2
    seed: int = 15
    port: int = 0
    dropped: int = 0
    passed: int = 0
    _chance: random.Random = field(default_factory=random.Random)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance.seed(self.seed)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client."""
        try:
            behind, forth = await asyncio.open_connection("127.0.0.1", self.server)
        except OSError:
            writer.close()
            return
        self._open |= {writer, forth}
        ways = [asyncio.create_task(_copy(reader, forth)), asyncio.create_task(self._answers(behind, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for end in (writer, forth):
            end.close()
            self._open.discard(end)

    def end(self) -> None:
        """Cut every connection."""
        for writer in self._open:
            writer.close()

    async def _answers(self, behind: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The server's side, message by message."""
        while line := await behind.readline():
            words = line.split()
            payload, head = b"", 0
            if words and words[0].upper() in {b"MSG", b"HMSG"}:
                head = int(words[-2]) if words[0].upper() == b"HMSG" else 0
                payload = await behind.readexactly(int(words[-1]) + 2)
            if _PUBLISHED.match(payload[head:]):
                if self._chance.random() < self.share:
                    self.dropped += 1
                    continue
                self.passed += 1
            writer.write(line + payload)
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65536):
        writer.write(part)
        await writer.drain()


@asynccontextmanager
async def lossy(server: int) -> AsyncIterator[Lossy]:
    """Listen on a free port of the loopback address, in front of the NATS that listens on `server`."""
    proxy = Lossy(server)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=16 * 1024 * 1024)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listening.close()
        proxy.end()
