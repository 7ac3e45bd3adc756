"""Settings: read at once, complete or refused, and never echoed."""

from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from chassis.settings import BadSettings, Secret, read


class Settings(msgspec.Struct, frozen=True):
    brain_id: UUID
    postgres_dsn: Secret
    health_port: int
    brain_roles: tuple[str, ...] = ("serve", "project")
    brain_trace_file: Path | None = None


GIVEN = {
    "BRAIN_ID": "6f1c1f5e-0f57-4f6b-9f3c-111111111111",
    "POSTGRES_DSN": "postgres://gateway:hunter2@db/brain",
    "HEALTH_PORT": "8470",
}


def test_values_take_the_type_of_their_field() -> None:
    settings = read(Settings, GIVEN | {"BRAIN_ROLES": "serve, react", "BRAIN_TRACE_FILE": "/tmp/spans"})
    assert settings.brain_id == UUID(GIVEN["BRAIN_ID"])
    assert settings.health_port == 8470
    assert settings.brain_roles == ("serve", "react")
    assert settings.brain_trace_file == Path("/tmp/spans")


def test_everything_that_is_wrong_is_named_at_once_and_no_value_is() -> None:
    with pytest.raises(BadSettings) as refused:
        read(Settings, {"POSTGRES_DSN": "postgres://u:hunter2@db/x", "HEALTH_PORT": "hunter2", "BRAIN_ID": ""})
    assert refused.value.missing == ("BRAIN_ID",)
    assert refused.value.unusable == ("HEALTH_PORT",)
    assert "hunter2" not in str(refused.value)


def test_a_secret_can_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "dsn").write_text("postgres://from/file\n")
    given = {name: value for name, value in GIVEN.items() if name != "POSTGRES_DSN"}
    settings = read(Settings, given | {"POSTGRES_DSN_FILE": str(tmp_path / "dsn")})
    assert settings.postgres_dsn.reveal() == "postgres://from/file"


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(BadSettings) as refused:
        read(Settings, {"BRAIN_ID": GIVEN["BRAIN_ID"], "HEALTH_PORT": "1", "POSTGRES_DSN_FILE": "/nowhere"})
    assert refused.value.unusable == ("POSTGRES_DSN_FILE",)


def test_a_secret_hides_in_every_printed_form() -> None:
    settings = read(Settings, GIVEN)
    secret = settings.postgres_dsn
    printed = f"{settings!r} {secret} {secret!r} {secret:>10}" + str([secret])
    assert "hunter2" not in printed
