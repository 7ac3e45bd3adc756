"""The command line: exit codes, one JSON object, and sign-ins that only their owner reads."""

import http.server
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import click
import msgspec
import pytest
from nats.errors import NoServersError

from brain import api, main, mcp, signins
from brain.stack.home import Home, first_port, held, locate, prepare, runs
from contracts.errors import Refused, Unavailable
from contracts.gateway_api import WHOAMI, WhoAmI
from contracts.gateway_messages import LONGEST_TOKEN_DAYS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("BRAIN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BRAIN_PORT", "21000")
    return Home(tmp_path / "home")


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return msgspec.json.decode(capsys.readouterr().out, type=dict[str, object])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["status"], main.UNAVAILABLE),
        (["proposals"], main.NOT_SIGNED_IN),
        (["proposals", "--as", "alice"], main.UNAVAILABLE),
        (["proposals", "--as", ""], main.NOT_SIGNED_IN),
        (["proposals", "--as", "../alice"], main.NOT_SIGNED_IN),
        (["whoami"], main.NOT_SIGNED_IN),
        (["member", "list"], main.NOT_SIGNED_IN),
        (["member", "add", "bob"], main.NOT_SIGNED_IN),
        (["group", "list"], main.NOT_SIGNED_IN),
        (["group", "set", "pricing-team", "bob"], main.NOT_SIGNED_IN),
        (["group", "set"], main.USAGE),
        (["grant", "list"], main.NOT_SIGNED_IN),
        (["why", "bob", "page.md"], main.NOT_SIGNED_IN),
        (["limits", "list"], main.NOT_SIGNED_IN),
        (["limits", "set", "search", "100"], main.NOT_SIGNED_IN),
        (["limits", "set", "search", "0"], main.USAGE),
        (["costs"], main.NOT_SIGNED_IN),
        (["costs", "--days", "0"], main.USAGE),
        (["audit", "verify"], main.NOT_SIGNED_IN),
        (["audit", "export"], main.NOT_SIGNED_IN),
        (["audit", "export", "--since", "yesterday"], main.USAGE),
        (["trace", "0123456789abcdef"], main.NOT_SIGNED_IN),
        (["token", "issue"], main.NOT_SIGNED_IN),
        (["token", "issue", "--days", str(LONGEST_TOKEN_DAYS)], main.NOT_SIGNED_IN),
        (["token", "issue", "--days", str(LONGEST_TOKEN_DAYS + 1)], main.USAGE),
        (["token", "issue", "--days", "0"], main.USAGE),
        (["token", "issue", "--kind", "signin"], main.USAGE),
        (["import", ".", "--owner", "alice"], main.NOT_SIGNED_IN),
        (["welcome", "--as", ""], main.NOT_SIGNED_IN),
        (["import", "nowhere-\udcff", "--owner", "\udcff", "--as", "\udcff"], main.NOT_SIGNED_IN),
        (["read", "page-\udcff.md", "--token", "brain_x"], main.USAGE),
        (["read", "page.md", "--token", "brain_\udcff"], main.NOT_SIGNED_IN),
        (["read", "page.md", "--token", "brain x"], main.NOT_SIGNED_IN),
        (["search", "words", "--token", ""], main.NOT_SIGNED_IN),
        (["rebuild", "retrieval"], main.UNAVAILABLE),
        (["signin", "alice"], main.UNAVAILABLE),
        (["log", "verify"], main.UNAVAILABLE),
        (["approve", "not-an-id", "--digest", "d"], main.USAGE),
        (["search", "words"], main.USAGE),
        (["down"], main.OK),
    ],
)
def test_a_command_without_a_brain_ends_with_its_code_and_one_object(
    home: Home, capsys: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    assert not runs(home)
    assert main.run([*words, "--json"]) == code
    assert printed(capsys)


@pytest.mark.parametrize("words", [["signin", "alice"], ["rebuild", "retrieval"]])
def test_a_bus_that_does_not_answer_is_not_waited_for_without_end(
    home: Home, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    prepare(home)
    with held(home) as free:
        assert free
        assert main.run([*words, "--json"]) == main.UNAVAILABLE
    told = capsys.readouterr()
    error = msgspec.json.decode(told.out, type=dict[str, dict[str, str]])["error"]
    assert (error["code"], told.err) == ("unavailable", "")


def groups(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    """Every group of the console, with what is typed to get there."""
    if isinstance(command, click.Group):
        yield words, command
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from groups(inner, (*words, name))


@pytest.mark.parametrize(("words", "group"), list(groups(main.brain)), ids=str)
def test_help_tells_what_each_command_does_in_full(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], group: click.Group
) -> None:
    assert main.run([*words, "--help"]) == main.OK
    listed = capsys.readouterr().out.partition("\nCommands:\n")[2]
    assert "..." not in listed
    assert set(group.list_commands(click.Context(group))) <= set(listed.split())


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    manifest = Path(__file__).parents[1] / "pyproject.toml"
    wanted = tomllib.loads(manifest.read_text(encoding="utf-8"))["project"]["version"]
    assert main.run(["--version"]) == main.OK
    assert capsys.readouterr().out == f"brain {wanted}\n"


def test_where_no_brain_runs_the_folder_is_named_and_how_to_name_another(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["down"]) == main.OK
    told = capsys.readouterr().out
    assert str(home.root) in told
    assert "BRAIN_HOME" in told


def test_what_no_rule_foresees_is_told_without_its_text(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.papers_file.mkdir(parents=True)
    assert main.run(["proposals", "--as", "alice", "--json"]) == main.FAILED
    told = capsys.readouterr()
    error = msgspec.json.decode(told.out, type=dict[str, dict[str, str]])["error"]
    assert error["code"] == "internal"
    assert str(home.root) not in told.out
    assert told.err == ""


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InterfaceError("secret"),
        asyncpg.TooManyConnectionsError("secret"),
        ConnectionResetError("secret"),
        TimeoutError("secret"),
        NoServersError(),
    ],
)
def test_what_does_not_answer_is_unavailable(error: Exception) -> None:
    told = main.judged(error)
    assert isinstance(told, Unavailable)
    assert "secret" not in told.what


def test_people_are_told_on_stderr(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["proposals"]) == main.NOT_SIGNED_IN
    told = capsys.readouterr()
    assert told.out == ""
    assert "brain signin" in told.err
    assert not home.root.exists()


def test_a_home_is_made_once_and_is_its_owners_alone(home: Home) -> None:
    papers = prepare(home)
    keys = {path: path.read_bytes() for path in (home.root / "keys").iterdir()}
    assert prepare(home) == papers
    assert {path: path.read_bytes() for path in (home.root / "keys").iterdir()} == keys
    passwords = [papers.postgres, papers.nats, *papers.roles.values()]
    assert len(set(passwords)) == len(passwords)
    assert min(map(len, passwords)) >= 32
    for path in [home.root, home.papers_file, *keys, home.root / "keys", home.run, home.signins]:
        assert path.stat().st_mode & 0o077 == 0


def test_a_command_runs_as_nobody_but_whom_it_names(home: Home) -> None:
    prepare(home)
    signins.keep(home, "alice", "brain_a")
    signins.keep(home, "bob", "brain_b")
    assert sorted(path.name for path in home.signins.iterdir()) == ["alice.json", "bob.json"]
    assert signins.find(home, "bob").token == "brain_b"
    for path in home.signins.iterdir():
        assert path.stat().st_mode & 0o077 == 0
    for name in (None, "", "carol", "../keys", "../signins/alice", "Alice", "alice\n"):
        with pytest.raises(Refused, match="not_signed_in"):
            signins.find(home, name)
    with pytest.raises(Refused, match="bad_name"):
        signins.keep(home, "../keys", "brain_c")


@pytest.mark.parametrize("port", ["80", "99999", "eight", "²", "-1"])
def test_a_port_that_cannot_be_is_refused(port: str) -> None:
    with pytest.raises(Refused, match="bad_port"):
        first_port({"BRAIN_PORT": port}, Home(Path("/nowhere")))


def test_the_home_stands_beside_the_environment_or_where_it_is_told() -> None:
    assert locate({}).root.name == ".brain"
    assert locate({"BRAIN_HOME": "/srv/brain"}).root == Path("/srv/brain")


class Canned(http.server.BaseHTTPRequestHandler):
    """Answers with the status that the path names, as gateway would."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._answer()

    def _answer(self) -> None:
        status = int(self.path.strip("/"))
        body = msgspec.json.encode({"error": {"code": "base_moved", "what": "It moved.", "request_id": "r"}})
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it overrides
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    listening = http.server.HTTPServer(("127.0.0.1", 0), Canned)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()


@pytest.mark.parametrize(
    ("status", "code"), [(401, "not_signed_in"), (403, "forbidden"), (404, "base_moved"), (409, "base_moved")]
)
def test_a_refusal_keeps_its_meaning(server: str, status: int, code: str) -> None:
    with api.Api(server, "brain_x") as gateway, pytest.raises(Refused) as refused:
        gateway.get(f"/{status}", WhoAmI)
    assert refused.value.code == code


def test_a_gateway_that_is_not_ready_or_not_there_is_unavailable(server: str) -> None:
    with api.Api(server, "brain_x") as gateway, pytest.raises(Unavailable):
        gateway.get("/503", WhoAmI)
    with api.Api("http://127.0.0.1:9", "brain_x") as gateway, pytest.raises(Unavailable):
        gateway.get(WHOAMI, WhoAmI)
    with pytest.raises(Unavailable):
        mcp.call("http://127.0.0.1:9/api/mcp", "brain_x", "search", {})


def test_a_token_that_is_not_known_is_not_signed_in(server: str) -> None:
    with pytest.raises(Refused, match="not_signed_in"):
        mcp.call(f"{server}/401", "brain_x", "search", {})
