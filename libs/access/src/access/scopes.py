"""What a grant covers: one page, everything under a prefix, or a category. Never two of them."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from contracts.errors import Refused

PATH_LENGTH = 255
"""Characters of a canonical page path (the path grammar), and so of a path form."""
CATEGORY_LENGTH = 64
SEGMENTS = 8
_SEGMENT = "[a-z0-9]+(?:-[a-z0-9]+)*"
_EXACT = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*\.md")
_PREFIX = re.compile(rf"(?:{_SEGMENT}/)*\*\*")
_CATEGORY = re.compile(r"[^\s\x00-\x1f\x7f/*:](?:[^\x00-\x1f\x7f/*:]*[^\s\x00-\x1f\x7f/*:])?")


@dataclass(frozen=True, slots=True)
class Exact:
    """The page at this path, and no other."""

    path: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Every page whose path starts with this; it ends in a slash, or is empty and means all paths."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Category:
    """Every page of this category, wherever it stands."""

    name: str


Scope: TypeAlias = Exact | Prefix | Category


def parse_scope(text: str) -> Scope:
    """Read `exact/path.md`, `prefix/**`, `**` or `category:name`. Raises `Refused` (scope_malformed); never repairs."""
    if text.startswith("category:"):
        name = text.removeprefix("category:")
        if len(name) <= CATEGORY_LENGTH and _CATEGORY.fullmatch(name):
            return Category(name)
    elif len(text) <= PATH_LENGTH and text.count("/") < SEGMENTS:
        if _PREFIX.fullmatch(text):
            return Prefix(text.removesuffix("**"))
        if _EXACT.fullmatch(text):
            return Exact(text)
    raise Refused(
        "scope_malformed",
        "A grant covers one page, a prefix or a category; this is none of them.",
        "scope",
        "Write exact/path.md, prefix/**, ** or category:name, in lower-case segments of a-z, 0-9 and single hyphens.",
    )


def written(scope: Scope) -> str:
    """The text that `parse_scope` reads back as this scope."""
    match scope:
        case Exact(path):
            return path
        case Prefix(prefix):
            return f"{prefix}**"
        case Category(name):
            return f"category:{name}"
