"""Which characters a text of the inbox may hold: a reader must see everything that is there, in its order."""

import re
import unicodedata
from collections.abc import Iterable

from contracts.errors import Refused

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, of what turns order or has no width, of halves, and of line ends."""
_LAYOUT = frozenset({"\t", "\n"})
_FIRST_PRINTABLE = " "
_NODE = re.compile("n_[0-9a-f]{32}")


def check_title(title: str) -> None:
    """A title is one line of visible characters. Raises `title_malformed`."""
    for number, character in enumerate(title, start=1):
        if unicodedata.category(character) in _UNSEEN:
            what = "A title is one line, without control, direction or zero-width characters."
            raise Refused("title_malformed", what, _place("title", number, character), "Write it without them.")


def check_body(body: str) -> None:
    """A body may hold tabs and newlines, and no other control character. Raises `body_malformed`."""
    for number, character in enumerate(body, start=1):
        if character < _FIRST_PRINTABLE and character not in _LAYOUT:
            what = "A text has no control characters but tabs and newlines."
            raise Refused("body_malformed", what, _place("body", number, character), "Send it without them.")


def check_nodes(nodes: Iterable[str]) -> None:
    """A text names nodes as readers see them. Raises `node_malformed`."""
    for number, node in enumerate(nodes, start=1):
        if _NODE.fullmatch(node) is None:
            what, remedy = "A node id is n_ and 32 hexadecimal digits.", "Send the ids that search and read_page show."
            raise Refused("node_malformed", what, f"nodes, number {number}", remedy)


def _place(field: str, number: int, character: str) -> str:
    return f"{field}, character {number} (U+{ord(character):04X})"
