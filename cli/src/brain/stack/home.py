"""A brain's home: one folder, its own only, with its id, its passwords, its keys, its data and its logs.

It is `.brain` beside the virtual environment that runs the command (so: in the checkout), or `BRAIN_HOME`.
"""

import fcntl
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from brain.stack.members import LOGIN_ROLES, SERVICES, SIGNERS
from chassis.settings import Secret
from content.keyring import KeyRing
from contracts.errors import Refused
from eventlog.signing import Signer, Verifier, create_key

FIRST_PORT = 8460
_LOWEST_PORT, _HIGHEST_PORT = 1024, 65535 - 20
_PASSWORD_BYTES = 24


class Papers(msgspec.Struct, frozen=True):
    """What `brain.json` holds: the brain's id and every password of its embedded servers."""

    brain: UUID
    postgres: str
    nats: str
    roles: dict[str, str]


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one brain, all counted from its first."""

    first: int

    @property
    def gateway(self) -> int:
        """HTTP of gateway: MCP and the API."""
        return self.first

    @property
    def approvals(self) -> int:
        """HTTP of approvals: the web."""
        return self.first + 1

    @property
    def nats(self) -> int:
        """Clients of NATS."""
        return self.first + 2

    @property
    def nats_monitor(self) -> int:
        """NATS' own numbers."""
        return self.first + 3

    @property
    def postgres(self) -> int:
        """PostgreSQL."""
        return self.first + 4

    def health(self, service: str) -> int:
        """`/livez`, `/readyz` and `/metrics` of a service."""
        return self.first + 10 + SERVICES.index(service)

    def all(self) -> list[int]:
        """Every one of them."""
        own = [self.gateway, self.approvals, self.nats, self.nats_monitor, self.postgres]
        return own + [self.health(service) for service in SERVICES]


@dataclass(frozen=True, slots=True)
class Home:
    """The folder and what lies where in it."""

    root: Path

    @property
    def papers_file(self) -> Path:
        """Id and passwords, mode 0600."""
        return self.root / "brain.json"

    @property
    def keyring(self) -> Path:
        """The keys that bodies are wrapped under: back this file up apart from everything else."""
        return self.root / "keys" / "content.keyring"

    @property
    def signers(self) -> Path:
        """Every service's public signing key."""
        return self.root / "keys" / "signers.json"

    def signing_key(self, signer: str) -> Path:
        """The private signing key of a service, or of the operator."""
        return self.root / "keys" / f"{signer}.key"

    @property
    def signins(self) -> Path:
        """Sign-ins of people on this machine."""
        return self.root / "signins"

    @property
    def run(self) -> Path:
        """Pid files, the lock, and the first port, while the brain runs."""
        return self.root / "run"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.root / "logs" / f"{name}.log"

    def pid(self, name: str) -> int | None:
        """The pid that a process noted, if it did."""
        try:
            return int((self.run / f"{name}.pid").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def note_pid(self, name: str, pid: int | None) -> None:
        """Note a pid, or strike it out."""
        path = self.run / f"{name}.pid"
        if pid is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(f"{pid}\n", encoding="ascii")

    def papers(self) -> Papers:
        """Read `brain.json`. Raises `Refused` where there is no brain in this home."""
        try:
            return msgspec.json.decode(self.papers_file.read_bytes(), type=Papers)
        except FileNotFoundError:
            raise Refused("no_brain", "There is no brain in this home.", str(self.root), "Run `brain up`.") from None
        except msgspec.MsgspecError:
            raise Refused("damaged_home", "brain.json is not whole.", str(self.papers_file), "Restore it.") from None

    def role_password(self, role: str) -> Secret:
        """The password of a database role."""
        return Secret(self.papers().roles[role])


def locate(environ: Mapping[str, str]) -> Home:
    """The home that BRAIN_HOME names, else `.brain` beside the virtual environment."""
    named = environ.get("BRAIN_HOME", "")
    return Home(Path(named).expanduser().resolve() if named else Path(sys.prefix).resolve().parent / ".brain")


def first_port(environ: Mapping[str, str], home: Home) -> int:
    """The first port: the running brain's own, else BRAIN_PORT, else 8460. Raises `Refused` for an unusable one."""
    text = environ.get("BRAIN_PORT", "") or str(FIRST_PORT)
    if not text.isascii() or not text.isdigit() or not _LOWEST_PORT <= int(text) <= _HIGHEST_PORT:
        what = f"A port is a number from {_LOWEST_PORT} to {_HIGHEST_PORT}."
        raise Refused("bad_port", what, "BRAIN_PORT", "Choose another.")
    try:
        return int((home.run / "port").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return int(text)


def prepare(home: Home) -> Papers:
    """Make what the home lacks: folders (0700), id and passwords, key ring, signing keys. Nothing is overwritten."""
    for folder in (home.root, home.root / "keys", home.root / "logs", home.run, home.signins):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not home.papers_file.exists():
        passwords = {role: secrets.token_urlsafe(_PASSWORD_BYTES) for role in LOGIN_ROLES}
        papers = Papers(
            uuid4(), secrets.token_urlsafe(_PASSWORD_BYTES), secrets.token_urlsafe(_PASSWORD_BYTES), passwords
        )
        write_private(home.papers_file, msgspec.json.format(msgspec.json.encode(papers)))
    if not home.keyring.exists():
        KeyRing.create(home.keyring)
    if not home.signers.exists():
        for signer in SIGNERS:
            home.signing_key(signer).unlink(missing_ok=True)
        public = {signer: create_key(home.signing_key(signer)) for signer in SIGNERS}
        write_private(home.signers, msgspec.json.encode(public))
    return home.papers()


def check(home: Home) -> None:
    """Read every key that services will read. Raises `CannotStart` for the first that is unusable."""
    KeyRing.load(home.keyring)
    Verifier.load(home.signers)
    for signer in SIGNERS:
        Signer.load(home.signing_key(signer), signer)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    draft.rename(path)


@contextmanager
def held(home: Home) -> Iterator[bool]:
    """Try to hold the home for a supervisor while the block runs; False when another one holds it."""
    with (home.run / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def runs(home: Home) -> bool:
    """Whether a supervisor holds this home."""
    if not home.run.is_dir():
        return False
    with held(home) as free:
        return not free
