"""What a command prints: lines for people, or exactly one JSON object on stdout."""

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import click
import msgspec

from contracts.errors import Refused, Unavailable

F = TypeVar("F", bound=Callable[..., object])


def json_option(command: F) -> F:
    """The option `--json` that every command takes."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")(command)


def show(result: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    else:
        for line in lines:
            click.echo(line)
    sys.stdout.flush()


def fail(error: Refused | Unavailable, code: int, *, as_json: bool) -> int:
    """Print why there is no result; gives back `code`."""
    if isinstance(error, Refused):
        told = {"code": error.code, "what": error.what, "where": error.where, "remedy": error.remedy}
    else:
        told = {"code": "unavailable", "what": error.what, "where": "", "remedy": "Try again, or see `brain status`."}
    if as_json:
        show({"error": told}, (), as_json=True)
    else:
        place = f" ({told['where']})" if told["where"] else ""
        click.echo(f"brain: {told['what']}{place} {told['remedy']}".rstrip(), err=True)
    return code


def note(text: str) -> None:
    """Progress for a person: on stderr, so that stdout stays the result."""
    click.echo(text, err=True)
