"""Streams and durables, made once by the operator and read back. A service that starts makes nothing.

An older server ignores fields that it does not know, and a stream with other settings drops promises silently, so
everything that was asked for is compared with what is there.
"""

import msgspec
from nats.aio.client import Client

from contracts.topology import DURABLES, OLDEST_SERVER, STREAMS, Durable, Limits, Stream
from eventlog import leader


class Mismatch(Exception):
    """The server is not what the ledger needs: which setting, what is wanted, what is there."""


class _Error(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Answer(msgspec.Struct):
    config: dict[str, object] | None = None
    error: _Error | None = None


def require_version(nc: Client) -> None:
    """Raise `Mismatch` where the server is older than the ledger's rules need."""
    version = nc.connected_server_version
    if (version.major, version.minor, version.patch) < OLDEST_SERVER:
        wanted = ".".join(map(str, OLDEST_SERVER))
        raise Mismatch(f"nats-server {version} is too old: {wanted} or newer is needed")


def require_sync(varz: bytes) -> None:
    """Raise `Mismatch` unless the server's `/varz` says that every acknowledged write was synced to disk."""
    jetstream = msgspec.json.decode(varz, type=dict[str, object]).get("jetstream", {})
    config = jetstream.get("config", {}) if isinstance(jetstream, dict) else {}
    if not isinstance(config, dict) or config.get("sync_always") is not True:
        raise Mismatch("nats-server does not run with sync_interval: always; a power cut would lose acknowledged facts")


def _stream_config(stream: Stream, limits: Limits, replicas: int) -> dict[str, object]:
    return {
        "name": stream.name,
        "subjects": list(stream.subjects),
        "description": stream.why,
        "retention": "limits",
        "storage": "file",
        "discard": "new",
        "max_bytes": stream.max_bytes,
        "max_msg_size": limits.max_message,
        "duplicate_window": limits.duplicate_window * 10**9,
        "deny_delete": stream.ledger,
        "deny_purge": stream.ledger,
        "allow_atomic": True,
        "allow_direct": True,
        "num_replicas": replicas,
        "metadata": dict(limits.metadata),
    }


def _consumer_config(durable: Durable) -> dict[str, object]:
    config: dict[str, object] = {
        "durable_name": durable.name,
        "name": durable.name,
        "ack_policy": "all" if durable.ordered else "explicit",
        "ack_wait": durable.ack_wait * 10**9,
        "deliver_policy": "all",
        "max_ack_pending": durable.max_ack_pending,
        "max_deliver": -1,
        "replay_policy": "instant",
    }
    if len(durable.filters) == 1:
        config["filter_subject"] = durable.filters[0]
    elif durable.filters:
        config["filter_subjects"] = list(durable.filters)
    return config


async def _call(nc: Client, subject: str, body: object) -> _Answer:
    return msgspec.json.decode(await leader.request(nc, subject, msgspec.json.encode(body)), type=_Answer)


def _compare(name: str, wanted: dict[str, object], there: dict[str, object]) -> None:
    for key, value in wanted.items():
        found = there.get(key, False if value is False else None)
        if key == "metadata":  # the epoch is raised by a repair, the rest is the server's own
            continue
        if found != value:
            raise Mismatch(f"{name}: {key} is {found!r}, needed is {value!r}")


async def provision(nc: Client, *, replicas: int = 1, limits: Limits | None = None) -> None:
    """Create what is missing and check everything. Nothing that exists is changed. Raises `Mismatch`."""
    require_version(nc)
    limits = limits or Limits()
    for stream in STREAMS:
        config = _stream_config(stream, limits, replicas)
        answer = await _call(nc, f"$JS.API.STREAM.INFO.{stream.name}", {})
        if answer.config is None:
            answer = await _call(nc, f"$JS.API.STREAM.CREATE.{stream.name}", config)
        if answer.config is None:
            raise Mismatch(f"stream {stream.name}: {answer.error.description if answer.error else 'no answer'}")
        _compare(f"stream {stream.name}", config, answer.config)
    for durable in DURABLES:
        await ensure_durable(nc, durable)


async def ensure_durable(nc: Client, durable: Durable) -> None:
    """Create one durable, or check the one that is there. Raises `Mismatch`."""
    config = _consumer_config(durable)
    answer = await _call(nc, f"$JS.API.CONSUMER.INFO.{durable.stream}.{durable.name}", {})
    if answer.config is None:
        body = {"stream_name": durable.stream, "config": config}
        answer = await _call(nc, f"$JS.API.CONSUMER.DURABLE.CREATE.{durable.stream}.{durable.name}", body)
    if answer.config is None:
        raise Mismatch(f"durable {durable.name}: {answer.error.description if answer.error else 'no answer'}")
    _compare(f"durable {durable.name}", config, answer.config)


async def drop_durable(nc: Client, stream: str, name: str) -> None:
    """Delete a durable that an operator's command made for itself; none there is fine."""
    await _call(nc, f"$JS.API.CONSUMER.DELETE.{stream}.{name}", {})
