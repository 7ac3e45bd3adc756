"""Streams and durables: the server has what is written down, and code stands behind each."""

import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import nats as nats_client
import pytest
from nats.aio.client import Client

from brain.stack import nats
from chassis.settings import Secret
from contracts.topology import DURABLES, STREAMS, Durable, Limits
from eventlog.provision import provision
from house.repository import LIBRARIES, ROOT, SERVICES, sources
from servers import free_port

CHANGES = re.compile(
    r"\b(?:add|update|delete|purge)_(?:stream|consumer)\b|JS\.API\.(?:STREAM|CONSUMER)\.(?:DURABLE\.)?CREATE"
)


class Config(msgspec.Struct):
    name: str = ""
    durable_name: str = ""
    subjects: list[str] = []
    filter_subject: str = ""
    filter_subjects: list[str] = []
    max_bytes: int = -1
    max_msg_size: int = -1
    duplicate_window: int = 0
    discard: str = ""
    retention: str = ""
    storage: str = ""
    deny_delete: bool = False
    deny_purge: bool = False
    allow_atomic: bool = False
    allow_direct: bool = False
    ack_policy: str = ""
    max_deliver: int = 0
    max_ack_pending: int = 0


class Found(msgspec.Struct):
    config: Config


class Page(msgspec.Struct):
    streams: list[Found] | None = None
    consumers: list[Found] | None = None


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Client]:
    """A server of this test alone, provisioned twice: the second time must find everything as it is."""
    bus = nats.Bus(
        tmp_path / "store", free_port(), free_port(), Secret(secrets.token_urlsafe(24)), tmp_path / "nats.log"
    )
    running = await nats.start(bus)
    client = await nats_client.connect(bus.url.reveal(), allow_reconnect=False)
    try:
        await provision(client)
        await provision(client)
        yield client
    finally:
        await client.close()
        await running.end()


async def _list(client: Client, subject: str) -> Page:
    return msgspec.json.decode((await client.request(f"$JS.API.{subject}", b"{}", timeout=5)).data, type=Page)


async def test_the_server_has_the_streams_that_are_written_down_and_no_others(fresh: Client) -> None:
    found = {each.config.name: each.config for each in (await _list(fresh, "STREAM.LIST")).streams or []}
    assert set(found) == {stream.name for stream in STREAMS}
    for stream in STREAMS:
        config = found[stream.name]
        assert (tuple(config.subjects), config.max_bytes) == (stream.subjects, stream.max_bytes)
        assert (config.deny_delete, config.deny_purge) == (stream.ledger, stream.ledger)
        assert (config.retention, config.storage, config.discard) == ("limits", "file", "new")
        assert config.allow_atomic
        assert config.allow_direct
        assert config.max_msg_size == Limits().max_message
        assert config.duplicate_window == Limits().duplicate_window * 10**9


async def test_the_server_has_the_durables_that_are_written_down_and_no_others(fresh: Client) -> None:
    for stream in STREAMS:
        listed = (await _list(fresh, f"CONSUMER.LIST.{stream.name}")).consumers or []
        found = {each.config.durable_name: each.config for each in listed}
        wanted = {durable.name: durable for durable in DURABLES if durable.stream == stream.name}
        assert set(found) == set(wanted)
        for name, durable in wanted.items():
            config = found[name]
            assert config.ack_policy == ("all" if durable.ordered else "explicit")
            assert (config.max_deliver, config.max_ack_pending) == (-1, durable.max_ack_pending)
            heard = config.filter_subjects or ([config.filter_subject] if config.filter_subject else [])
            assert tuple(heard) == durable.filters


def test_streams_fit_into_the_store_of_a_deployed_server() -> None:
    config = (ROOT / "deploy" / "k8s" / "base" / "nats.conf").read_text(encoding="utf-8")
    gigabytes = re.search(r"max_file: (\d+)GB", config)
    assert gigabytes is not None
    assert sum(stream.max_bytes for stream in STREAMS) < int(gigabytes[1]) * 1024**3


@pytest.mark.parametrize("durable", DURABLES, ids=lambda durable: durable.name)
def test_every_durable_has_code_of_its_owner(durable: Durable) -> None:
    folders = [ROOT / "services" / durable.owner, ROOT / "libs" / "eventlog"]
    code = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in sources(folder))
    archived = durable.name == f"archive-{durable.stream}-v1" and 'f"archive-{stream}-v1"' in code
    named = re.search(rf'"{durable.name}["{{]', code)  # a rebuild puts a suffix behind it
    assert named or (archived and f'"{durable.stream}"' in code)


@pytest.mark.parametrize("service", SERVICES)
def test_no_service_makes_or_changes_a_stream_when_it_runs(service: str) -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in sources(ROOT / "services" / service)
        if CHANGES.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_only_the_ledger_s_library_provisions() -> None:
    found = {
        name
        for name in LIBRARIES
        for path in sources(ROOT / "libs" / name)
        if CHANGES.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"eventlog"}
