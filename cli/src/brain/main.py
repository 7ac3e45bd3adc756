"""The console script: finds the command, runs it, and turns what it raises into an exit code."""

import importlib
import io
import keyword
import os
import sys
import traceback
from collections.abc import Sequence

import click

from brain import VERSION, output
from brain.groups import Group
from contracts.errors import FORBIDDEN, Refused, Unavailable

OK, FAILED, USAGE, NOT_SIGNED_IN, FORBIDDEN_CODE, UNAVAILABLE = range(6)
"""The exit codes that scripts rely on."""

_SIGNED_OUT = frozenset({"not_signed_in", "unauthorized"})

COMMANDS = {
    "up": "stack",
    "down": "stack",
    "status": "stack",
    "welcome": "welcome",
    "import": "importing",
    "proposals": "review",
    "approve": "review",
    "reject": "review",
    "withdraw": "review",
    "whoami": "people",
    "member": "people",
    "group": "people",
    "signin": "people",
    "grant": "rights",
    "why": "rights",
    "token": "rights",
    "limits": "usage",
    "costs": "usage",
    "audit": "audit",
    "trace": "audit",
    "search": "reading",
    "read": "reading",
    "log": "ledger",
    "rebuild": "rebuild",
    "secrets": "deployment",
    "prepare": "deployment",
    "open-brain": "deployment",
}
"""Where each command lives: a module of `brain.commands`, with a command of that name."""


class Lazy(Group):
    """A group whose commands are imported when they are used: `brain --help` and `brain status` stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"brain.commands.{COMMANDS[cmd_name]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if keyword.iskeyword(name) else name)
        return command


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="%(prog)s %(version)s")
def brain() -> None:
    """Company Brain: what a company knows, approved by its people.

    BRAIN_HOME is the data folder (default: .brain beside the virtual environment), BRAIN_PORT the first port (8460).
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code."""
    as_json = "--json" in arguments
    try:
        code = brain.main(list(arguments), prog_name="brain", standalone_mode=False)
    except click.UsageError as error:
        if not as_json:
            error.show()
            return USAGE
        return output.fail(Refused("usage", error.format_message(), "", "See --help."), USAGE, as_json=True)
    except click.Abort:
        return output.fail(Refused("interrupted", "Interrupted."), FAILED, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - whatever it is, a script gets one object and an exit code
        if os.environ.get("BRAIN_LOG_LEVEL") == "debug":
            traceback.print_exc()
        told = judged(error)
        return output.fail(told, _code_of(told), as_json=as_json)
    return code if isinstance(code, int) else OK


def judged(error: Exception) -> Refused | Unavailable:
    """What a command that failed tells: what was refused or did not answer, and never the text of anything else."""
    import asyncpg  # noqa: PLC0415 - with the next one a tenth of a second that commands without failure do without
    from nats.errors import Error as NatsError  # noqa: PLC0415 - as above

    if isinstance(error, Refused | Unavailable):
        return error
    if isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        return Unavailable(f"the database does not answer as it should ({type(error).__name__})")
    if isinstance(error, NatsError | ConnectionError | TimeoutError):
        return Unavailable(f"a part of the brain does not answer ({type(error).__name__})")
    if isinstance(error, UnicodeError):
        return Refused("usage", "An argument holds what is not text in UTF-8.", "", "See --help.")
    remedy = "BRAIN_LOG_LEVEL=debug shows where."
    return Refused("internal", f"The command failed inside ({type(error).__name__}).", "", remedy)


def _code_of(error: Refused | Unavailable) -> int:
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    if error.code == "usage":
        return USAGE
    if error.code in _SIGNED_OUT:
        return NOT_SIGNED_IN
    if error.code in FORBIDDEN:
        return FORBIDDEN_CODE
    return UNAVAILABLE if error.code == "no_brain" else FAILED


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows less than UTF-8 is told all the same
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
