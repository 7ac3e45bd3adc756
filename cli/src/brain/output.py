"""What a command prints: lines for people, or exactly one JSON object on stdout."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import click
import msgspec

from contracts.errors import Refused, Unavailable

F = TypeVar("F", bound=Callable[..., object])

_LOWEST_OF_U, _SURROGATES = 0xA0, range(0xD800, 0xE000)
_UNSEEN = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f"  # C0, DEL and C1: what terminals obey
    "\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f"  # no width, or it turns what follows
    "\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"  # new lines, and more of both
    "\\ud800-\\udfff\\U000e0000-\\U000e007f]"  # what no encoding takes, and letters that nothing shows
)


def json_option(command: F) -> F:
    """The option `--json` that every command takes."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")(command)


def visible(text: str, *, lines: bool = False) -> str:
    r"""`text` with every character that a terminal obeys or hides spelled out: `\x1b`, `U+202E`.

    `lines`: this is a body of several lines, whose line ends and tabs stay.
    """
    if lines:
        text = text.replace("\r\n", "\n")
    return _UNSEEN.sub(lambda found: found[0] if lines and found[0] in "\n\t" else _spelled(found[0]), text)


def _spelled(character: str) -> str:
    point = ord(character)
    if point < _LOWEST_OF_U:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point in _SURROGATES else f"U+{point:04X}"


def sentence(text: str) -> str:
    """`text` with a full stop, unless it ends in a mark of its own."""
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def count(number: int, thing: str) -> str:
    """A number of things in words: `1 page`, `2 pages`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def show(result: object, lines: Iterable[str], *, as_json: bool, body: str = "") -> None:
    """Print a result: as JSON, or `body` and then `lines`, each of which stays one line."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    else:
        if body:
            click.echo(visible(body, lines=True))
        for line in lines:
            click.echo(visible(line))
    sys.stdout.flush()


def fail(error: Refused | Unavailable, code: int, *, as_json: bool) -> int:
    """Print why there is no result; gives back `code`."""
    if isinstance(error, Refused):
        told = {"code": error.code, "what": error.what, "where": error.where, "remedy": error.remedy}
    else:
        told = {"code": "unavailable", "what": error.what, "where": "", "remedy": "Try again, or see `brain status`."}
    if as_json:
        whole = {key: text.encode("utf-8", "backslashreplace").decode() for key, text in told.items()}
        show({"error": whole}, (), as_json=True)
    else:
        place = f" ({visible(told['where'])})" if told["where"] else ""
        said = f"brain: {sentence(visible(told['what'], lines=True))}{place} {visible(told['remedy'])}"
        click.echo(said.rstrip(), err=True)
    return code


def note(text: str) -> None:
    """Progress for a person: on stderr, so that stdout stays the result."""
    click.echo(visible(text), err=True)
