"""Request and reply on a real server: results, refusals, silence, and one trace across services."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from chassis import nats, rpc, telemetry
from chassis.settings import Secret
from contracts.errors import Refused, Unavailable
from servers import NatsServer


class Halve(msgspec.Struct, frozen=True):
    number: int


class Half(msgspec.Struct, frozen=True):
    number: int
    request: str
    actor: str


async def halve(asked: Halve) -> Half:
    if asked.number == 0:
        raise ZeroDivisionError("the secret is hunter2")
    if asked.number % 2:
        raise Refused("odd_number", "Only even numbers can be halved.", "number", "Ask for an even one.")
    return Half(asked.number // 2, rpc.current().request, rpc.current().actor)


@pytest.fixture
async def server(nats_server: NatsServer) -> AsyncIterator[rpc.Server]:
    name = f"halver{uuid4().hex}"
    server = rpc.Server(nats.broker(Secret(nats_server.url), name), name)
    server.route(f"ask.{name}.half", Halve, halve)
    nats.require(await server.start())
    yield server
    await server.stop()


def subject(server: rpc.Server) -> str:
    return f"ask.{server.service}.half"


async def test_a_result_comes_back_with_the_request_and_its_actor(server: rpc.Server) -> None:
    half = await rpc.ask(server.connection, subject(server), Halve(8), Half, actor="alice")
    assert (half.number, half.actor) == (4, "alice")
    assert half.request


async def test_a_refusal_arrives_whole(server: rpc.Server) -> None:
    with pytest.raises(Refused) as refused:
        await rpc.ask(server.connection, subject(server), Halve(3), Half)
    assert (refused.value.code, refused.value.where) == ("odd_number", "number")
    assert refused.value.remedy == "Ask for an even one."


async def test_a_fault_of_ours_says_nothing_but_the_request_id(server: rpc.Server) -> None:
    with pytest.raises(Refused) as refused:
        await rpc.ask(server.connection, subject(server), Halve(0), Half)
    assert refused.value.code == "internal"
    assert "hunter2" not in refused.value.what + refused.value.where + refused.value.remedy


async def test_a_request_of_another_shape_is_refused_without_its_value(server: rpc.Server) -> None:
    reply = await server.connection.request(subject(server), b'{"number": "hunter2"}')
    assert msgspec.json.decode(reply.data)["refused"]["code"] == "malformed"
    assert msgspec.json.decode(reply.data)["refused"]["where"] == "$.number"
    assert b"hunter2" not in reply.data


async def test_nobody_there_is_unavailable(server: rpc.Server) -> None:
    with pytest.raises(Unavailable, match="nobody does not answer"):
        await rpc.ask(server.connection, "ask.nobody.half", Halve(2), Half)


async def test_requests_of_one_subject_are_served_side_by_side(nats_server: NatsServer) -> None:
    name = f"meeting{uuid4().hex}"
    all_here = asyncio.Barrier(5)

    async def meet(asked: Halve) -> Halve:
        await all_here.wait()
        return asked

    server = rpc.Server(nats.broker(Secret(nats_server.url), name), name)
    server.route(f"ask.{name}.meet", Halve, meet)
    client = await server.start()
    met = await asyncio.gather(*(rpc.ask(client, f"ask.{name}.meet", Halve(n), Halve) for n in range(5)))
    assert [each.number for each in met] == list(range(5))
    await server.stop()


async def test_one_trace_goes_through_a_roll_call(nats_server: NatsServer, tmp_path: Path) -> None:
    telemetry.configure("test", trace_file=tmp_path / "spans")
    names = [f"caller{uuid4().hex}" for _ in range(3)]
    servers = [rpc.Server(nats.broker(Secret(nats_server.url), name), name) for name in names]
    clients = [await server.start() for server in servers]
    with telemetry.span("test"):
        expected = telemetry.trace_id()
        present = await rpc.ask(clients[0], rpc.roll_call(names[0]), rpc.RollCall(tuple(names[1:])), rpc.Present)
    for server in servers:
        await server.stop()
    telemetry.configure("test")
    assert present.services == tuple(reversed(names))
    spans = [msgspec.json.decode(line) for line in (tmp_path / "spans").read_bytes().splitlines()]
    served = [span for span in spans if span["kind"] == "server"]
    assert [span["trace"] for span in served] == [expected] * 3
    by_id = {span["span"]: span for span in spans}
    assert all(by_id[span["parent"]]["kind"] == "client" for span in served)
