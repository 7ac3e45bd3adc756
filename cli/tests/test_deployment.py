"""What a deployment needs around its services: papers, roles, schemas and streams, and the first owner's command."""

from pathlib import Path
from uuid import uuid4

import asyncpg
import msgspec
import nats as nats_client
import pytest

from brain.deployment import prepare, secrets
from brain.main import run
from brain.stack.home import write_private
from brain.stack.members import LOGIN_ROLES, SCHEMAS, SERVICES
from chassis.settings import Secret
from content.keyring import KeyRing
from contracts.errors import Refused
from contracts.topology import STREAMS
from eventlog.signing import Signer, Verifier
from servers import NatsServer, Postgres

PLACE = secrets.Place("db:5432", "bus:4222", "https://brain.example.com", "https://web.example.com")


def _word(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    secrets.write(folder, PLACE, uuid4())
    return folder


def test_papers_are_their_owner_s_alone(papers: Path) -> None:
    assert papers.stat().st_mode & 0o777 == 0o700
    for path in papers.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_papers_open_what_they_are_for(papers: Path) -> None:
    ring = KeyRing.load(papers / "gateway" / "content.keyring")
    for service in secrets.READ_BODIES:
        assert KeyRing.load(papers / service / "content.keyring").chunk_key == ring.chunk_key
    known = Verifier.load(papers / "drift" / "signers.json").keys
    assert set(known) == set(secrets.SIGN)
    for service in secrets.SIGN:
        signer = Signer.load(papers / service / "signing.key", service)
        assert signer.key.public_key() == known[service]


def test_a_program_gets_its_own_password_of_the_database_and_no_other(papers: Path) -> None:
    roles = msgspec.json.decode((papers / "prepare" / "roles.json").read_bytes(), type=dict[str, str])
    assert set(roles) == set(LOGIN_ROLES)
    assert len(set(roles.values())) == len(roles)
    for service in SERVICES:
        mine = {_word(path).split("@")[0] for path in (papers / service).glob("*_DSN")}
        words = "".join(path.read_bytes().decode("latin-1") for path in (papers / service).iterdir())
        seen = {role for role, password in roles.items() if password in words}
        assert mine == {f"postgres://{role}:{roles[role]}" for role in seen}


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--public-url", "not a url"),
        ("--public-url", "brain.example.com"),
        ("--web-url", "x"),
        ("--web-url", "https://"),
        ("--web-url", "https://a b"),
        ("--web-url", "https://user:word@web.example.com"),
        ("--web-url", "https://web.example.com/?a=b"),
        ("--web-url", "https://web.example.com\nBRAIN_ID=x"),
        ("--web-url", "javascript:alert(1)"),
        ("--web-url", "http://web:99999"),
        ("--postgres", "db"),
        ("--postgres", "db:0"),
        ("--nats", "bus:port"),
        ("--nats", 'bus:4222"'),
    ],
)
def test_an_address_that_is_none_is_refused_before_anything_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str, text: str
) -> None:
    folder = tmp_path / "papers"
    addresses = {"--public-url": "https://brain.example.com", "--web-url": "http://[::1]:8461", option: text}
    words = [word for pair in addresses.items() for word in pair]
    assert run(["secrets", str(folder), *words, "--json"]) == 1
    told = msgspec.json.decode(capfd.readouterr().out)["error"]
    assert (told["code"], told["where"]) == ("bad_address", option)
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match="folder_unusable"):
        secrets.write(tmp_path / "file" / "papers", PLACE, uuid4())


def test_papers_are_never_written_over(papers: Path) -> None:
    before = _word(papers / "gateway" / "NATS_URL")
    with pytest.raises(Refused, match="folder_not_empty"):
        secrets.write(papers, PLACE, uuid4())
    assert _word(papers / "gateway" / "NATS_URL") == before


def test_two_brains_share_no_secret(papers: Path, tmp_path: Path) -> None:
    secrets.write(tmp_path / "other", PLACE, uuid4())
    for path in (each for each in papers.rglob("*") if each.is_file()):
        assert path.read_bytes() != (tmp_path / "other" / path.relative_to(papers)).read_bytes(), path


def test_prepare_names_every_setting_that_is_missing(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NATS_URL", "NATS_MONITOR", "SUPERUSER_DSN", "ROLE_PASSWORDS"):
        monkeypatch.delenv(name, raising=False)
    assert run(["prepare", "--json"]) == 1
    assert "set NATS_URL, NATS_MONITOR, SUPERUSER_DSN, ROLE_PASSWORDS" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"superuser_dsn": Secret("db:5432")}, "SUPERUSER_DSN"),
        ({"superuser_dsn": Secret("postgres://u:w@db:port/x")}, "SUPERUSER_DSN"),
        ({"stream_replicas": 2}, "STREAM_REPLICAS"),
    ],
)
async def test_prepare_refuses_a_setting_that_cannot_be_meant_by_its_name(
    tmp_path: Path, change: dict[str, object], where: str
) -> None:
    settings = prepare.Settings(
        nats_url=Secret("nats://bus:4222"),
        nats_monitor="http://bus:8222",
        superuser_dsn=Secret("postgres://postgres:w@db:5432/postgres"),
        role_passwords=tmp_path / "none",
    )
    with pytest.raises(Refused) as refused:
        await prepare.prepare(msgspec.structs.replace(settings, **change))
    assert refused.value.where == where


def test_a_password_that_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "roles.json"
    path.write_bytes(msgspec.json.encode(dict.fromkeys(LOGIN_ROLES[1:], "x")))
    with pytest.raises(Refused) as refused:
        prepare.passwords(path)
    assert refused.value.what == f"Passwords of database roles are missing: {LOGIN_ROLES[0]}"


async def test_servers_are_prepared_once_and_found_prepared_after_that(
    postgres_server: Postgres, nats_server: NatsServer, tmp_path: Path
) -> None:
    passwords = tmp_path / "roles.json"
    write_private(
        passwords,
        msgspec.json.encode({role: password.reveal() for role, password in postgres_server.passwords.items()}),
    )
    settings = prepare.Settings(
        nats_url=Secret(nats_server.url),
        nats_monitor=nats_server.monitor,
        superuser_dsn=Secret(postgres_server.dsn("postgres", "postgres")),
        role_passwords=passwords,
    )
    first = await prepare.prepare(settings)
    assert set(first) == {schema.name for schema in SCHEMAS}
    assert all(first.values())
    assert not any((await prepare.prepare(settings)).values())
    connection = await asyncpg.connect(postgres_server.dsn("gateway", "brain"))
    assert await connection.fetchval("select count(*) from gateway.members") == 0
    await connection.close()
    client = await nats_client.connect(nats_server.url, allow_reconnect=False)
    assert {each.config.name for each in await client.jetstream().streams_info()} >= {each.name for each in STREAMS}
    await client.close()
