"""Sign-ins of people on this machine: one file each in the home, readable by its owner alone."""

import re

import msgspec

from brain.stack.home import Home, write_private
from contracts.errors import Refused

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class SignIn(msgspec.Struct, frozen=True):
    """A person's name and the token that stands for them."""

    name: str
    token: str


def keep(home: Home, name: str, token: str) -> None:
    """Store a sign-in. Raises `bad_name` for what cannot be a member's name."""
    if not _NAME.fullmatch(name):
        raise Refused("bad_name", "A member's name is made of a-z, 0-9 and single hyphens.", "NAME", "Check it.")
    home.signins.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(home.signins / f"{name}.json", msgspec.json.encode(SignIn(name, token)))


def named(name: str | None) -> str:
    """Whom a command acts as. Raises `Refused` (`not_signed_in`) where nobody is named, or nobody can be called so."""
    if not name:
        what, remedy = (
            "This command acts as a person, and none is named.",
            "Add `--as NAME`, once `brain signin NAME` was run here.",
        )
        raise Refused("not_signed_in", what, "--as", remedy)
    if not _NAME.fullmatch(name):
        what, remedy = "Nobody is signed in under such a name.", "A name is made of a-z, 0-9 and single hyphens."
        raise Refused("not_signed_in", what, "--as", remedy)
    return name


def find(home: Home, name: str | None) -> SignIn:
    """The stored sign-in of `name`. Raises `Refused`: `not_signed_in` without one, `no_brain` in an empty home."""
    wanted = named(name)
    home.papers()
    try:
        return msgspec.json.decode((home.signins / f"{wanted}.json").read_bytes(), type=SignIn)
    except (OSError, msgspec.MsgspecError):
        what = f"There is no sign-in of {wanted} on this machine."
        raise Refused("not_signed_in", what, "--as", f"Run `brain signin {wanted}`.") from None
