"""One brain, its keys, its streams: what tests of the ledger, and of services on it, start from."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest
from nats.aio.client import Client

from chassis import nats
from chassis.settings import Secret
from contracts.access_facts import MemberLeft
from contracts.ids import SERVICES, BrainId, CommandId, PrincipalId
from eventlog.log import EventLog
from eventlog.provision import provision
from eventlog.signing import Signer, Verifier, create_key
from servers import NatsServer


@dataclass
class Ledger:
    """A brain of this test alone, on the session's servers."""

    nc: Client
    brain: BrainId
    verifier: Verifier
    keys: Path
    url: str

    def log(self, service: str = "gateway", stream: str = "EVT") -> EventLog:
        signer = Signer.load(self.keys / service, service)
        return EventLog(self.nc, stream, self.brain, signer, lambda: datetime(2026, 9, 2, tzinfo=UTC))


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    publics = {service: create_key(folder / service) for service in (*SERVICES, "operator")}
    (folder / "signers.json").write_bytes(msgspec.json.encode(publics))
    return folder


@pytest.fixture
async def ledger(nats_server: NatsServer, keys: Path) -> AsyncIterator[Ledger]:
    nc = await nats.connect(Secret(nats_server.url), "eventlog")
    await provision(nc)
    yield Ledger(nc, BrainId(uuid4()), Verifier.load(keys / "signers.json"), keys, nats_server.url)
    await nc.close()


def left(member: PrincipalId) -> MemberLeft:
    """A fact that is quick to make."""
    return MemberLeft(member=member)


def command() -> CommandId:
    return CommandId(uuid4())


def someone() -> PrincipalId:
    return PrincipalId(uuid4())
