"""`brain secrets`, `brain prepare` and `brain open-brain`: what a deployment needs around its services."""

import asyncio
import os
from pathlib import Path
from uuid import uuid4

import asyncpg
import click
from nats.errors import Error as NatsError

from brain import output
from brain.deployment import opening
from brain.deployment import prepare as preparing
from brain.deployment import secrets as papers
from chassis.migrations import BadMigration
from chassis.settings import BadSettings, read
from contracts.errors import Refused, Unavailable
from eventlog.provision import Mismatch


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--postgres", default="postgres:5432", show_default=True, help="Where PostgreSQL will be, host:port.")
@click.option("--nats", default="nats:4222", show_default=True, help="Where NATS will be, host:port.")
@click.option("--public-url", required=True, help="The address of gateway that clients use.")
@click.option("--web-url", required=True, help="The address of the web that people use.")
@output.json_option
def secrets(folder: Path, postgres: str, nats: str, public_url: str, web_url: str, *, as_json: bool) -> None:
    """Make all passwords and keys of a brain that is to be deployed, in a new FOLDER with one folder a program."""
    place = papers.Place(postgres, nats, public_url, web_url)
    names = papers.write(folder, place, uuid4())
    lines = [
        f"Written to {folder}: {', '.join(names)}",
        "Keep content.keyring apart from backups of the database: without it no body can be read.",
    ]
    output.show({"folder": str(folder.resolve()), "parts": names}, lines, as_json=as_json)


@click.command()
@output.json_option
def prepare(*, as_json: bool) -> None:
    """Set up roles, schemas and streams on servers that run already, as the environment names them."""
    try:
        settings = read(preparing.Settings, os.environ)
        applied = asyncio.run(preparing.prepare(settings))
    except BadSettings as error:
        raise Refused("bad_settings", str(error), "environment") from None
    except (Mismatch, BadMigration) as error:
        raise Refused("not_prepared", str(error)) from None
    except (OSError, NatsError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
        raise Unavailable(f"a server does not answer: {type(error).__name__}") from error
    lines = [f"{schema:10} {', '.join(files) or 'nothing new'}" for schema, files in applied.items()]
    output.show({"applied": applied}, [*lines, "Database and streams are ready."], as_json=as_json)


@click.command("open-brain")
@click.argument("owner")
@output.json_option
def open_brain(*, owner: str, as_json: bool) -> None:
    """Begin a deployed brain with its first OWNER, and print a one-time link for that person's browser."""
    try:
        link = asyncio.run(opening.open_brain(read(opening.Settings, os.environ), owner))
    except BadSettings as error:
        raise Refused("bad_settings", str(error), "environment") from None
    except (OSError, NatsError) as error:
        raise Unavailable(f"NATS does not answer: {type(error).__name__}") from error
    output.show({"link": link}, [link], as_json=as_json)
