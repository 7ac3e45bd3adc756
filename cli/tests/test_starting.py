"""A brain that cannot start says why within a second, and leaves nothing behind that it did not find."""

from pathlib import Path

import pytest

from brain.main import run
from brain.stack import control, home
from brain.stack.home import Home, first_port, prepare
from contracts.errors import CannotStart, Refused
from servers import free_port


@pytest.mark.parametrize("port", ["80", "70000", "abc", "-1", "8460.5", "\u0668\u0664\u0666\u0660"])
@pytest.mark.parametrize("command", [["up"], ["up", "--detach"], ["status"]])
def test_a_port_that_is_none_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], port: str
) -> None:
    monkeypatch.setenv("BRAIN_HOME", str(tmp_path / "brain"))
    monkeypatch.setenv("BRAIN_PORT", port)
    assert run(command) == 1
    assert not (tmp_path / "brain").exists()


def test_a_port_that_is_none_is_refused_while_the_brain_runs_on_another(tmp_path: Path) -> None:
    brain = Home(tmp_path)
    prepare(brain)
    (brain.run / "port").write_text("9000\n")
    assert first_port({}, brain) == 9000
    assert first_port({"BRAIN_PORT": "9100"}, brain) == 9000
    with pytest.raises(Refused, match="bad_port"):
        first_port({"BRAIN_PORT": "abc"}, brain)


@pytest.fixture(name="brain")
def prepared(tmp_path: Path) -> Home:
    brain = Home(tmp_path / "brain")
    prepare(brain)
    home.check(brain)
    return brain


@pytest.mark.parametrize("broken", ["keyring", "signers", "gateway.key", "operator.key"])
def test_a_brain_with_an_unusable_key_is_refused_before_any_process_is_started(brain: Home, broken: str) -> None:
    path = {"keyring": brain.keyring, "signers": brain.signers}.get(broken, brain.root / "keys" / broken)
    path.write_bytes(b"s3cret")
    with pytest.raises(CannotStart) as refused:
        control.start(brain, {"BRAIN_PORT": str(free_port())})
    assert refused.value.where == str(path)
    assert "s3cret" not in str(refused.value)
    assert not list(brain.run.glob("*.pid"))
    assert not list((brain.root / "logs").iterdir())


def test_a_key_ring_that_others_can_read_is_refused_with_what_to_do(brain: Home) -> None:
    brain.keyring.chmod(0o644)
    with pytest.raises(CannotStart) as refused:
        control.start(brain, {"BRAIN_PORT": str(free_port())})
    assert (refused.value.code, refused.value.remedy) == ("bad_keyring", "Set its mode to 600.")


def test_a_service_that_cannot_start_ends_the_start_with_its_reason(
    brain: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEP_SECONDS", "often")
    with pytest.raises(Refused) as refused:
        control.start(brain, {"BRAIN_PORT": str(free_port())})
    assert "drift" in refused.value.what
    assert "SWEEP_SECONDS" in refused.value.what
    assert "often" not in refused.value.what
    assert not home.runs(brain)
    assert not list(brain.run.glob("*.pid"))
