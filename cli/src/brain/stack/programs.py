"""What is run for a brain: its two servers and its six services, each with exactly the settings that it needs."""

import signal
import sys
from collections.abc import Mapping

from brain.stack import child, nats, postgres
from brain.stack.home import Home, Ports
from brain.stack.members import ROLE_OF, SECOND_ROLES, SERVES_HTTP
from chassis.settings import Secret

DATABASE = "brain"

_PASSED_ON = (
    "OTLP_ENDPOINT",
    "BRAIN_TRACE_FILE",
    "BRAIN_LOG_LEVEL",
    "EMBEDDER_PROFILE",
    "EMBEDDER_URL",
    "EMBEDDER_MODEL",
    "SWEEP_SECONDS",
)


def cluster(home: Home, ports: Ports) -> postgres.Cluster:
    """The PostgreSQL of this home."""
    password = Secret(home.papers().postgres)
    return postgres.Cluster(home.root / "postgres", ports.postgres, password, home.log("postgres"))


def bus(home: Home, ports: Ports) -> nats.Bus:
    """The NATS of this home."""
    password = Secret(home.papers().nats)
    return nats.Bus(home.root / "nats", ports.nats, ports.nats_monitor, password, home.log("nats"))


def dsn(home: Home, ports: Ports, role: str) -> Secret:
    """The address of the brain's database for one role."""
    return cluster(home, ports).dsn(role, home.role_password(role), DATABASE)


def urls(ports: Ports) -> dict[str, str]:
    """Where people and clients go."""
    host = f"http://{postgres.LOOPBACK}"
    return {"web": f"{host}:{ports.approvals}", "mcp": f"{host}:{ports.gateway}/api/mcp"}


def service(name: str, home: Home, ports: Ports, environ: Mapping[str, str]) -> child.Program:
    """One service as a process.

    `environ` is the supervisor's: of it, OTLP_ENDPOINT, BRAIN_TRACE_FILE and what begins with the service's name
    (`EMBEDDER_PROFILE`) are passed on. `APPROVALS_NATS_URL` is another way to the bus for that one service.
    """
    papers = home.papers()
    env = {
        "BRAIN_ID": str(papers.brain),
        "BRAIN_KEYRING": str(home.keyring),
        "BRAIN_SIGNING_KEY": str(home.signing_key(name)),
        "BRAIN_SIGNERS": str(home.signers),
        "NATS_URL": bus(home, ports).url.reveal(),
        "POSTGRES_DSN": dsn(home, ports, ROLE_OF[name]).reveal(),
        "HEALTH_PORT": str(ports.health(name)),
        "PUBLIC_URL": f"http://{postgres.LOOPBACK}:{ports.gateway}",
        "WEB_URL": urls(ports)["web"],
    }
    if name in SERVES_HTTP:
        env["HTTP_PORT"] = str(ports.first + SERVES_HTTP[name])
    for variable, role in SECOND_ROLES.get(name, {}).items():
        env[variable] = dsn(home, ports, role).reveal()
    own = f"{name.upper()}_"
    env |= {key: value for key, value in environ.items() if value and (key in _PASSED_ON or key.startswith(own))}
    env["NATS_URL"] = env.pop(f"{own}NATS_URL", env["NATS_URL"])
    argv = (*child.with_parent(signal.SIGTERM), sys.executable, "-m", name)
    return child.Program(name, argv, home.log(name), env=env)
