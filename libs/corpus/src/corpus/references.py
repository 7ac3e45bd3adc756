"""Capture references: the text by which a page names the source material of a claim."""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

import msgspec

from corpus.errors import Malformed

SCHEME = "capture:"
_WORD = re.compile(r"""capture:[^\s<>()\[\]{}"'`|,;]+""")
_SENTENCE_END = ".:!?*_…"


class Reference(msgspec.Struct, frozen=True):
    """A capture by its source and the source's own id for it."""

    source: str
    external_id: str

    @property
    def text(self) -> str:
        """The one canonical spelling."""
        return capture_reference(self.source, self.external_id)


def capture_reference(source: str, external_id: str) -> str:
    """`capture:<source>/<external id>`, percent-encoded outside letters, digits, `.`, `_`, `-` (and `/` in the id).

    Punctuation at the very end is encoded too, so that a sentence's full stop after a reference is never part of it.
    """
    if not source or not external_id or "\0" in source + external_id:
        raise Malformed("invalid_reference", "A capture reference needs a source and an external id without NUL.")
    try:
        encoded = _encoded(source, "") + "/" + _encoded(external_id, "/")
    except UnicodeEncodeError:
        raise Malformed("invalid_reference", "A capture reference holds half of a surrogate pair.") from None
    end = "".join(f"%{ord(c):02X}" for c in encoded[len(encoded.rstrip("._")) :])
    return SCHEME + encoded.rstrip("._") + end


def _encoded(text: str, safe: str) -> str:
    return quote(text, safe=safe).replace("~", "%7E")


def parse_reference(text: str) -> Reference | None:
    """The capture that `text` names, or nothing where it is not a whole reference."""
    source, slash, external_id = text.removeprefix(SCHEME).partition("/")
    if not text.startswith(SCHEME) or not (slash and source and external_id) or _WORD.fullmatch(text) is None:
        return None
    try:
        reference = Reference(unquote(source, errors="strict"), unquote(external_id, errors="strict"))
        capture_reference(reference.source, reference.external_id)
    except (UnicodeDecodeError, Malformed):
        return None
    return reference


def find(text: str) -> Iterator[tuple[int, int, Reference]]:
    """Every reference in running text with its span, closing punctuation of the sentence left out."""
    for match in _WORD.finditer(text):
        word = match[0].rstrip(_SENTENCE_END)
        reference = parse_reference(word)
        if reference is not None:
            yield match.start(), match.start() + len(word), reference
