"""The adapter for embedding endpoints against a server that speaks the protocol on a real socket."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import numpy as np
import pytest

from embedder.models import Address, ModelAnsweredWrongly, ModelRefused, ModelUnavailable, TextRefused, select
from embedder.models.endpoint import ATTEMPTS, BATCH_TEXTS, Endpoint

DIM = 4
KEY = "the-key-that-nobody-may-see"
SECRET_TEXT = "a sentence that belongs in no error"


class Reply(NamedTuple):
    status: int = 200
    body: bytes | None = None  # None: a right answer
    retry_after: str | None = None


class Server(ThreadingHTTPServer):
    """Answers from `script` first, then rightly; keeps every request it got."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Serving)
        self.script: list[Reply] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.inputs: list[list[str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Serving(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.keys.append(self.headers["Authorization"])
        self.server.inputs.append(asked["input"])
        reply = self.server.script.pop(0) if self.server.script else Reply()
        content = vectors_of(asked["input"]) if reply.body is None else reply.body
        self.send_response(reply.status)
        if reply.retry_after is not None:
            self.send_header("Retry-After", reply.retry_after)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the inherited name
        return


def vectors_of(texts: list[str], dim: int = DIM) -> bytes:
    rows: list[dict[str, object]] = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), *[1.0] * (dim - 1)]}
        for place, text in enumerate(texts)
    ]
    rows.reverse()  # the protocol orders by index, not by place in the answer
    return json.dumps({"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 3}}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield listening
        listening.shutdown()
        thread.join()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def endpoint(server: Server, pauses: list[float]) -> Iterator[Endpoint]:
    address = Address(server.url, "text-small", DIM, key=KEY, timeout=5)
    adapter = Endpoint(address, pause=pauses.append)
    yield adapter
    adapter.close()


def test_vectors_come_in_the_order_of_the_texts(endpoint: Endpoint, server: Server) -> None:
    vectors = endpoint.passages(["a", "four", "a longer one"])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert list(vectors[:, 0]) == sorted(vectors[:, 0])
    assert server.paths == ["/v1/embeddings"]
    assert server.keys == [f"Bearer {KEY}"]


def test_a_query_is_one_vector(endpoint: Endpoint) -> None:
    assert endpoint.query("where is it?").shape == (DIM,)


def test_many_texts_go_in_requests_of_a_bounded_size(endpoint: Endpoint, server: Server) -> None:
    assert len(endpoint.passages(["text"] * (2 * BATCH_TEXTS + 3))) == 2 * BATCH_TEXTS + 3
    assert [len(texts) for texts in server.inputs] == [BATCH_TEXTS, BATCH_TEXTS, 3]


def test_empty_and_unencodable_texts_are_sent_as_something_a_server_takes(endpoint: Endpoint, server: Server) -> None:
    endpoint.passages(["", "\ud800"])
    assert server.inputs == [[" ", "\ufffd"]]


def test_a_busy_server_is_asked_again_after_the_pause_it_names(
    endpoint: Endpoint, server: Server, pauses: list[float]
) -> None:
    server.script = [Reply(429, b"{}", retry_after="7"), Reply(500, b"oops"), Reply(503, b"")]
    assert endpoint.query("again").shape == (DIM,)
    assert pauses == [7.0, 1.0, 2.0]


def test_a_pause_may_be_named_as_an_instant(endpoint: Endpoint, server: Server, pauses: list[float]) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=12), usegmt=True)
    server.script = [Reply(429, b"{}", retry_after=until), Reply(429, b"{}", retry_after="soon")]
    endpoint.query("again")
    assert pauses == [pytest.approx(11, abs=2), 1.0]


def test_a_server_that_stays_broken_is_unavailable_after_bounded_tries(endpoint: Endpoint, server: Server) -> None:
    server.script = [Reply(500, SECRET_TEXT.encode())] * 10
    with pytest.raises(ModelUnavailable, match="status 500"):
        endpoint.query("again")
    assert len(server.paths) == ATTEMPTS


def test_a_server_that_asks_for_a_long_pause_is_unavailable_at_once(endpoint: Endpoint, server: Server) -> None:
    server.script = [Reply(429, b"{}", retry_after="3600")]
    with pytest.raises(ModelUnavailable):
        endpoint.query("again")
    assert len(server.paths) == 1


def test_nobody_listening_is_unavailable(pauses: list[float]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        adapter = Endpoint(Address(f"http://127.0.0.1:{closed.getsockname()[1]}/v1", "m", DIM), pause=pauses.append)
        with pytest.raises(ModelUnavailable, match="ConnectError"):
            adapter.query("anyone?")
        adapter.close()
    assert len(pauses) == ATTEMPTS - 1


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_an_answer_that_will_not_change_is_refused_at_once(endpoint: Endpoint, server: Server, status: int) -> None:
    server.script = [Reply(status, b"{}")]
    with pytest.raises(ModelRefused, match=f"status {status}"):
        endpoint.query("again")
    assert len(server.paths) == 1


def test_a_text_that_a_server_does_not_take_is_told_from_a_wrong_setting(endpoint: Endpoint, server: Server) -> None:
    server.script = [Reply(400, b"{}")]
    with pytest.raises(TextRefused, match="status 400"):
        endpoint.passages(["far too long for it"])
    assert len(server.paths) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"<html>a proxy's page</html>",
        b'{"data": 3}',
        vectors_of(["only one"]),
        vectors_of(["one", "two", "three"]),
        vectors_of(["a", "b"], dim=DIM + 1),
        vectors_of(["a", "b"], dim=DIM - 1),
        b'{"data":[{"index":0,"embedding":[1,0,0,0]},{"index":0,"embedding":[1,0,0,0]}]}',
        b'{"data":[{"index":0,"embedding":[0,0,0,0]},{"index":1,"embedding":[1,0,0,0]}]}',
        b'{"data":[{"index":0,"embedding":[1e300,0,0,0]},{"index":1,"embedding":[1,0,0,0]}]}',
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_answers_that_are_not_the_asked_vectors_are_told_apart(
    endpoint: Endpoint, server: Server, content: bytes
) -> None:
    server.script = [Reply(200, content)]
    with pytest.raises(ModelAnsweredWrongly):
        endpoint.passages(["a", "b"])


def test_no_error_shows_the_key_or_the_text(endpoint: Endpoint, server: Server) -> None:
    for reply in (Reply(401, KEY.encode()), Reply(200, SECRET_TEXT.encode())):
        server.script = [reply]
        with pytest.raises((ModelRefused, ModelAnsweredWrongly)) as caught:
            endpoint.query(SECRET_TEXT)
        assert KEY not in str(caught.value)
        assert SECRET_TEXT not in str(caught.value)
    assert KEY not in repr(Address("http://x", "m", DIM, key=KEY))


def test_an_address_that_is_none_is_refused() -> None:
    adapter = Endpoint(Address("ftp://somewhere", "m", DIM), pause=time.sleep)
    with pytest.raises(ModelRefused, match="no http"):
        adapter.query("hello")
    adapter.close()


def test_vectors_of_two_endpoint_models_are_told_apart() -> None:
    first = select("endpoint", address=Address("http://x", "one", DIM))
    second = select("endpoint", address=Address("http://x", "two", DIM))
    assert first.model_id != second.model_id
