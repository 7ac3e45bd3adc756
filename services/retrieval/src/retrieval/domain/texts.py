"""Titles and queries as they are compared: folded, on one line, without what cannot be seen."""

import unicodedata

from contracts.errors import Refused

SHORTEST = 2
"""Characters of a query (domain rule)."""
LONGEST = 2_000
"""Characters of a query: several times the longest question that people ask, and quick to stem."""

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def title_key(title: str) -> str:
    """How a title is compared: case-folded, each run of white space one space, composed characters."""
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())


def clean_query(query: str) -> str:
    """A query as it is searched: control, format and direction characters are spaces, runs of white space one.

    Raises `Refused`: query_too_short below 2 characters, query_too_long above 2,000.
    """
    if len(query) > LONGEST:
        raise Refused(
            "query_too_long",
            f"A query has at most {LONGEST} characters.",
            "query",
            "Ask for what you want to find in a sentence or a few words.",
        )
    seen = "".join(" " if unicodedata.category(char) in _INVISIBLE else char for char in query)
    cleaned = " ".join(seen.split())
    if len(cleaned) < SHORTEST:
        raise Refused(
            "query_too_short",
            f"A query has at least {SHORTEST} characters that can be seen.",
            "query",
            "Ask with a word, a title or a sentence.",
        )
    return cleaned


def spoken_path(path: str) -> str:
    """A path as words: `topics/pricing/discount-ceiling.md` says "topics pricing discount ceiling"."""
    return path.removesuffix(".md").replace("/", " ").replace("-", " ")
