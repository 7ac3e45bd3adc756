"""`brain up`, `brain down`, `brain status`."""

import asyncio
import os

import click

from brain import console, output
from brain.stack import control, supervisor
from brain.stack.home import Home, Ports, first_port, locate
from brain.stack.programs import urls
from chassis import log
from contracts.errors import Refused

UNAVAILABLE = 5


@click.command()
@click.option("--detach", is_flag=True, help="Return when the brain is ready; it goes on in the background.")
@click.option("--owner", default="alice", show_default=True, help="Who a new brain belongs to, signed in here.")
@output.json_option
def up(*, detach: bool, owner: str, as_json: bool) -> None:
    """Start the brain of this machine: its database, its bus and its six services. A new one gets its owner."""
    home = locate(os.environ)
    if detach:
        started = control.start(home, os.environ)
        console.begin(home, owner)
        status = control.status(home, os.environ)
        word = "The brain is up" if started else "The brain was up already"
        output.show(status, [f"{word}: {home.root}", *_addresses(status.urls)], as_json=as_json)
        return
    log.configure("supervisor", "warning")
    port = first_port(os.environ, home)

    async def ready() -> None:
        (home.run / "ready").touch()
        await asyncio.to_thread(console.begin, home, owner)
        told = {"ready": True, "urls": urls(Ports(port))}
        output.show(told, [f"The brain is up: {home.root}", *_addresses(urls(Ports(port)))], as_json=as_json)

    try:
        asyncio.run(supervisor.supervise(home, port, os.environ, ready))
    except Refused:
        raise
    except Exception as error:
        raise Refused("start_failed", supervisor.explain(error), str(home.root)) from error


@click.command()
@output.json_option
def down(*, as_json: bool) -> None:
    """Stop the brain of this machine. Its data stays."""
    home = locate(os.environ)
    stopped = control.stop(home)
    lines = [f"The brain is down: {home.root}"] if stopped else _nothing_ran(home)
    output.show({"stopped": stopped, "home": str(home.root)}, lines, as_json=as_json)


def _nothing_ran(home: Home) -> list[str]:
    return [f"No brain was running in {home.root}.", "BRAIN_HOME=FOLDER before the command names another one."]


@click.command()
@output.json_option
def status(*, as_json: bool) -> int:
    """Show which services are ready, and why one is not. Exit code 5 unless all are."""
    seen = control.status(locate(os.environ), os.environ)
    lines = [
        f"{name:10} {'ready' if service.ready else _reasons(service.reasons)}"
        for name, service in seen.services.items()
    ]
    lines += [*_addresses(seen.urls), f"position   {seen.position if seen.position is not None else 'unknown'}"]
    output.show(seen, lines, as_json=as_json)
    return 0 if seen.ready else UNAVAILABLE


def _addresses(addresses: dict[str, str]) -> list[str]:
    return [f"{name:10} {address}" for name, address in addresses.items()]


def _reasons(reasons: dict[str, str]) -> str:
    return "ready" if not reasons else "not ready: " + ", ".join(f"{part} {why}" for part, why in reasons.items())
