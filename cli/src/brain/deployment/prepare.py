"""What has to stand before the services of a deployed brain start: roles, schemas, streams. Safe to run again."""

import asyncio
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import nats as nats_client

from brain.deployment import addresses
from brain.stack import setup
from brain.stack.members import LOGIN_ROLES
from brain.stack.programs import DATABASE
from chassis.settings import Secret
from contracts.errors import Refused
from eventlog.provision import provision, require_sync

_SECONDS = 10
_REPLICAS = (1, 3)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the environment variable of the same name in upper case.

    `superuser_dsn`: an address whose role may make roles and databases. `role_passwords`: a JSON file with a password
    for each login role. `nats_monitor`: the server's monitoring address, asked whether it syncs every write.
    `stream_replicas`: copies of every stream, 1 or 3; a cluster of three servers wants 3.
    """

    nats_url: Secret
    nats_monitor: str
    superuser_dsn: Secret
    role_passwords: Path
    stream_replicas: int = 1


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL that somebody else runs."""

    address: Secret

    def superuser(self, database: str = "postgres") -> Secret:
        """The address of `database` for set-up."""
        return Secret(urlsplit(self.address.reveal())._replace(path=f"/{database}").geturl())

    def login(self, role: str, password: Secret, database: str) -> Secret:
        """The address of `database` for a login role."""
        parts = urlsplit(self.address.reveal())
        place = parts.netloc.rpartition("@")[2]
        return Secret(parts._replace(netloc=f"{role}:{password.reveal()}@{place}", path=f"/{database}").geturl())


def passwords(path: Path) -> dict[str, Secret]:
    """Read the file of passwords. Raises `Refused` for a file that does not have one for each login role."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        found = {}
    missing = [role for role in LOGIN_ROLES if not found.get(role)]
    if missing:
        what = "Passwords of database roles are missing: " + ", ".join(missing)
        raise Refused("passwords_missing", what, str(path), "Make them with `brain secrets`.")
    return {role: Secret(found[role]) for role in LOGIN_ROLES}


async def prepare(settings: Settings) -> dict[str, list[str]]:
    """Set up the database and the streams; the migrations applied, by schema.

    Raises `Refused` for unusable addresses, copies or passwords, `eventlog.provision.Mismatch` for a server of NATS
    that does not sync every write or whose streams differ, and `chassis.migrations.BadMigration` for a migration that
    fails.
    """
    addresses.dsn(settings.superuser_dsn.reveal(), "SUPERUSER_DSN")
    if settings.stream_replicas not in _REPLICAS:
        raise Refused("bad_replicas", "A stream has 1 or 3 copies.", "STREAM_REPLICAS", "Set it to one of them.")
    server = Server(settings.superuser_dsn)
    words = passwords(settings.role_passwords)
    require_sync(await asyncio.to_thread(_varz, settings.nats_monitor))
    await setup.roles(server, words)
    await setup.database(server, DATABASE)
    applied = await setup.schemas(server.login("migrator", words["migrator"], DATABASE))
    client = await nats_client.connect(settings.nats_url.reveal(), allow_reconnect=False)
    try:
        await provision(client, replicas=settings.stream_replicas)
    finally:
        await client.close()
    return applied


def _varz(monitor: str) -> bytes:
    if urlsplit(monitor).scheme != "http":
        raise Refused("bad_address", "The monitoring address of NATS begins with http://", "NATS_MONITOR")
    with urllib.request.urlopen(f"{monitor}/varz", timeout=_SECONDS) as reply:  # noqa: S310 - the scheme was checked
        body: bytes = reply.read()
    return body
