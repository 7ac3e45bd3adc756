"""What the frontmatter of a page says once its quotes, escapes and folded lines are read."""

import re
from collections.abc import Iterator

import yaml

from content.reading import Piece, Reading

_BLOCK = re.compile(r"\A\ufeff?---[ \t]*(?:\r\n|\r|\n)(.*?)^---[ \t]*(?:$|\r)", re.DOTALL | re.MULTILINE)
_PLAIN_LINES = re.compile(
    r"(?:[ \t]*(?:(?:- +)*[^\s:'\"]+:(?:[ \t][^\n\r]*)?|-[ \t][^\n\r]*|\#[^\n\r]*)?(?:\r\n|\r|\n))*\Z"
)
_ESCAPES = re.compile(r"\\|''|[|>][-+0-9]*[ \t]*$", re.MULTILINE)


def decoded(text: str) -> Reading | None:
    """The keys and values of the block that opens `text`, as their reader gets them; None where they stand there so.

    Each key keeps its value beside it, so that a word of the one can give the other its meaning. Of a block that is
    no YAML this is what comes before the fault.
    """
    found = _BLOCK.match(text)
    if found is None or (_ESCAPES.search(found[1]) is None and _PLAIN_LINES.match(found[1]) is not None):
        return None
    begins = found.start(1)
    pieces: list[Piece] = []
    changed = False
    for value, start, end, is_key in _scalars(found[1]):
        source = begins + start
        written = found[1][start:end]
        quotes = 1 if written[:1] in ('"', "'") and written[1:-1] == value else 0
        copied = written[quotes : len(written) - quotes] == value
        changed = changed or not copied
        pieces.append(Piece(value, source + quotes, begins + end - quotes, copied=copied))
        pieces.append(Piece(": " if is_key else "\n", begins + end - 1, begins + end))
    return Reading(pieces) if changed else None


def _scalars(block: str) -> Iterator[tuple[str, int, int, bool]]:
    """Scalars in order: the value, where it stands in `block`, and whether it is a key.

    The pure-Python scanner is the one that pages are parsed with.
    """
    is_key = False
    try:
        for token in yaml.scan(block, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.ScalarToken):
                yield token.value, token.start_mark.index, token.end_mark.index, is_key
            is_key = isinstance(token, yaml.KeyToken)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return
