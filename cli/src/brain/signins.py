"""Sign-ins of people on this machine: one file each in the home, readable by its owner alone."""

import re

import msgspec

from brain.stack.home import Home, write_private
from contracts.errors import Refused

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DEFAULT = "default"


class SignIn(msgspec.Struct, frozen=True):
    """A person's name and the token that stands for them."""

    name: str
    token: str


def keep(home: Home, name: str, token: str) -> None:
    """Store a sign-in. The first one on a machine is who commands without `--as` run as."""
    home.signins.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(home.signins / f"{_checked(name)}.json", msgspec.json.encode(SignIn(name, token)))
    if not (home.signins / _DEFAULT).exists():
        write_private(home.signins / _DEFAULT, name.encode())


def find(home: Home, name: str | None) -> SignIn:
    """The stored sign-in of `name`, or of the first who signed in. Raises `Refused` (`not_signed_in`) without one."""
    try:
        wanted = _checked(name) if name else (home.signins / _DEFAULT).read_text(encoding="utf-8").strip()
        return msgspec.json.decode((home.signins / f"{wanted}.json").read_bytes(), type=SignIn)
    except (OSError, msgspec.MsgspecError):
        who = name or "anybody"
        what = f"There is no sign-in of {who} on this machine."
        raise Refused("not_signed_in", what, "--as", f"Run `brain signin {name or 'NAME'}`.") from None


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Refused("bad_name", "A member's name is made of a-z, 0-9 and single hyphens.", "--as", "Check it.")
    return name
