"""All six processes: one trace through them, one that is killed and comes back, two brains side by side."""

import os
import select
import signal
from pathlib import Path

import msgspec
import pytest

from brain.stack import programs
from brain.stack.members import SERVICES
from chassis import nats, rpc, telemetry
from houses import House, build

pytestmark = pytest.mark.system


def services(status: dict[str, object]) -> dict[str, dict[str, object]]:
    found = status["services"]
    assert isinstance(found, dict)
    return found


def test_a_brain_that_is_up_says_so(house: House) -> None:
    status = house.command("status")
    assert status.code == 0, status.result
    assert status.result["ready"] is True
    assert set(services(status.result)) == set(SERVICES)
    assert status.result["urls"] == {
        "web": f"http://127.0.0.1:{house.ports.approvals}",
        "mcp": f"http://127.0.0.1:{house.ports.gateway}/api/mcp",
    }
    assert isinstance(status.result["position"], int)


def test_its_secrets_are_for_its_owner_alone(house: House) -> None:
    for path in (house.home.root, house.home.root / "keys", house.home.root / "logs", house.home.run):
        assert path.stat().st_mode & 0o077 == 0
    for path in (
        house.home.papers_file,
        house.home.keyring,
        house.home.signers,
        house.home.root / "nats" / "nats.conf",
    ):
        assert path.stat().st_mode & 0o077 == 0


def test_its_logs_hold_no_password(house: House) -> None:
    papers = house.home.papers()
    secrets = [papers.postgres, papers.nats, *papers.roles.values()]
    for log in (house.home.root / "logs").iterdir():
        text = log.read_text()
        assert not [secret for secret in secrets if secret in text], log.name


async def test_one_trace_goes_through_all_six(house: House) -> None:
    client = await nats.connect(programs.bus(house.home, house.ports).url, "test")
    with telemetry.span("test"):
        expected = telemetry.trace_id()
        first, *rest = SERVICES
        present = await rpc.ask(client, rpc.roll_call(first), rpc.RollCall(tuple(rest)), rpc.Present)
    await client.close()
    assert present.services == tuple(reversed(SERVICES))
    served = [span for span in house.spans() if span["trace"] == expected and span["kind"] == "server"]
    assert {span["service"] for span in served} == set(SERVICES)
    assert {span["name"] for span in served} == {f"{service}.roll_call" for service in SERVICES}


def test_a_service_that_is_killed_comes_back(house: House) -> None:
    before = services(house.command("status").result)["drift"]["pid"]
    assert isinstance(before, int)
    watched = os.pidfd_open(before)
    os.kill(before, signal.SIGKILL)
    assert select.select([watched], [], [], 30)[0] == [watched]
    os.close(watched)
    again = house.command("up", "--detach")
    assert again.code == 0
    after = services(again.result)["drift"]
    assert after["ready"] is True
    assert after["pid"] != before


def test_a_brain_in_the_foreground_ends_when_told_and_leaves_nothing_running(tmp_path: Path) -> None:
    house = build(tmp_path)
    down = house.command("status")
    assert (down.code, down.result["ready"]) == (5, False)
    assert house.command("down").result == {"stopped": False, "home": str(house.home.root)}
    with house.foreground() as running:
        try:
            assert running.stdout is not None
            assert msgspec.json.decode(running.stdout.readline())["ready"] is True
            assert house.command("whoami", "--as", "alice").result["name"] == "alice"
            pids = [service["pid"] for service in services(house.command("status").result).values()]
        finally:
            running.send_signal(signal.SIGINT)
        rest, _ = running.communicate(timeout=120)
    assert (running.returncode, rest) == (0, b"")
    assert len(pids) == len(SERVICES)
    assert not [pid for pid in pids if isinstance(pid, int) and Path(f"/proc/{pid}").exists()]
    assert house.command("status").code == 5


def test_a_port_that_is_taken_is_named(house: House, tmp_path: Path) -> None:
    other = House(build(tmp_path).home, house.ports, tmp_path / "spans")
    refused = other.command("up", "--detach")
    assert refused.code == 1
    assert str(house.ports.nats) in str(refused.result["error"])


@pytest.mark.parametrize("words", [("nope",), ("up", "--nope"), ("down", "now")])
def test_a_wrong_command_line_is_a_usage_error(words: tuple[str, ...], tmp_path: Path) -> None:
    outcome = build(tmp_path).command(*words)
    assert outcome.code == 2
    assert outcome.result["error"]
