"""The applications that may ask a person for access."""

import unicodedata

import msgspec

LONGEST_NAME = 120

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Client(msgspec.Struct, frozen=True):
    """One application. `host` is where its description stands, empty for one that registered itself."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    method: str
    secret_digest: str = ""
    host: str = ""


def readable(name: str) -> str:
    """A name as a person may be shown it: nothing unseen, nothing that turns the text around, and not long."""
    kept = "".join(" " if each.isspace() else each for each in name)
    seen = "".join(each for each in kept if unicodedata.category(each) not in _UNSEEN)
    return " ".join(seen.split())[:LONGEST_NAME]


def is_document(client_id: str) -> bool:
    """Whether this id is the address of a client's own description."""
    return client_id.lower().startswith("https:")
