"""The papers of a deployed brain: one folder for each of its programs, holding only what that program may know.

A folder is mounted as it is in containers and becomes a Secret as it is in Kubernetes.
"""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import msgspec

from brain.deployment import addresses
from brain.stack.home import write_private
from brain.stack.members import LOGIN_ROLES, ROLE_OF, SECOND_ROLES, SERVICES
from brain.stack.nats import USER
from brain.stack.programs import DATABASE
from content.keyring import KeyRing
from contracts.errors import Refused
from eventlog.signing import create_key

SUPERUSER = "postgres"
SIGN = ("gateway", "ingest", "embedder", "approvals")
"""Services that say facts."""

READ_BODIES = (*SIGN, "retrieval")
"""Services that open bodies of the content store."""

_PASSWORD_BYTES = 24


@dataclass(frozen=True, slots=True)
class Place:
    """Where the servers of a deployed brain are reached, as `host:port`, and the addresses that people use."""

    postgres: str
    nats: str
    public_url: str
    web_url: str

    def check(self) -> None:
        """Raise `Refused` for the first that is no address."""
        addresses.server(self.postgres, "--postgres")
        addresses.server(self.nats, "--nats")
        addresses.web(self.public_url, "--public-url")
        addresses.web(self.web_url, "--web-url")


def _password() -> str:
    return secrets.token_urlsafe(_PASSWORD_BYTES)


@dataclass(frozen=True, slots=True)
class Passwords:
    """Passwords made for one brain, of which none was ever used before."""

    superuser: str = field(default_factory=_password)
    nats: str = field(default_factory=_password)
    roles: dict[str, str] = field(default_factory=lambda: {role: _password() for role in LOGIN_ROLES})


def write(folder: Path, place: Place, brain: UUID) -> list[str]:
    """Write the papers of the brain `brain` into a new `folder`; the names of the folders inside.

    Every file is its owner's alone (0600). Raises `Refused` for an address that is none, and where the folder is not
    empty or cannot be made: nothing is written then, and nothing is ever overwritten.
    """
    place.check()
    try:
        if folder.exists() and any(folder.iterdir()):
            what = "There is something in this folder already."
            raise Refused("folder_not_empty", what, str(folder), "Name a new one.")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        what = f"The folder cannot be made: {error.strerror}."
        raise Refused("folder_unusable", what, str(folder), "Name another one.") from None
    passwords = Passwords()
    nats_url = f"nats://{USER}:{passwords.nats}@{place.nats}"
    names = (*SERVICES, "nats", "postgres", "prepare")
    for name in names:
        (folder / name).mkdir(mode=0o700)
    signers = {service: create_key(folder / service / "signing.key") for service in SIGN}
    ring, *copies = (folder / service / "content.keyring" for service in READ_BODIES)
    KeyRing.create(ring)
    for copy in copies:
        write_private(copy, ring.read_bytes())
    for service in SERVICES:
        addresses = {"POSTGRES_DSN": ROLE_OF[service], **SECOND_ROLES.get(service, {})}
        for variable, role in addresses.items():
            _text(folder / service / variable, _dsn(place, role, passwords.roles[role], DATABASE))
        _text(folder / service / "NATS_URL", nats_url)
        write_private(folder / service / "signers.json", msgspec.json.encode(signers))
    _text(folder / "nats" / "authorization.conf", f'authorization {{ user: {USER}, password: "{passwords.nats}" }}')
    _text(folder / "postgres" / "POSTGRES_PASSWORD", passwords.superuser)
    _text(folder / "prepare" / "NATS_URL", nats_url)
    _text(folder / "prepare" / "SUPERUSER_DSN", _dsn(place, SUPERUSER, passwords.superuser, "postgres"))
    write_private(folder / "prepare" / "roles.json", msgspec.json.encode(passwords.roles))
    _environment(folder / "brain.env", BRAIN_ID=str(brain), PUBLIC_URL=place.public_url, WEB_URL=place.web_url)
    owner = f"{os.getuid()}:{os.getgid()}"
    _environment(folder / "compose.env", BRAIN_SECRETS=str(folder.resolve()), BRAIN_USER=owner)
    return list(names)


def _dsn(place: Place, role: str, password: str, database: str) -> str:
    return f"postgres://{role}:{password}@{place.postgres}/{database}"


def _text(path: Path, text: str) -> None:
    write_private(path, f"{text}\n".encode())


def _environment(path: Path, **settings: str) -> None:
    _text(path, "\n".join(f"{name}={value}" for name, value in settings.items()))
