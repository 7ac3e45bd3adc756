"""From the exact bytes of a page to what is indexed of it."""

import hashlib
from collections import Counter
from datetime import date
from uuid import UUID

import msgspec

from contracts.ids import parse_node_id
from corpus import chunks, page
from corpus.language import detect
from retrieval.domain.texts import spoken_path, title_key


class Passage(msgspec.Struct, frozen=True):
    """A passage as a row. `fingerprint` stays the same across an edit exactly where nothing of the passage changed.

    `copy` counts passages of one page with one fingerprint, from 0. `said` is the text whose words are indexed.
    """

    ordinal: int
    key: str
    fingerprint: str
    copy: int
    heading: tuple[str, ...]
    body: str
    start: int
    end: int
    language: str
    said: str


class RelationRow(msgspec.Struct, frozen=True):
    """A relation as written: its other end is `target` (an id) or `target_path`."""

    verb: str
    target: UUID | None
    target_path: str | None
    knowledge: str


class FigureRow(msgspec.Struct, frozen=True):
    name: str
    value: str
    unit: str
    as_of: date | None
    source: str


class Indexed(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the index takes from a page's bytes. `digest`: SHA-256 of them, in hex."""

    title: str
    title_key: str
    said: str
    type: str
    category: str | None
    domain: str | None
    as_of: date | None
    digest: str
    passages: tuple[Passage, ...]
    relations: tuple[RelationRow, ...]
    figures: tuple[FigureRow, ...]


def index(body: bytes, path: str, secret: bytes) -> Indexed:
    """What is indexed of a page; `secret` keys its passages. Raises `corpus.errors.Malformed`."""
    parsed = page.parse(body)
    front = parsed.front
    language = detect(f"{front.title}\n{parsed.text}")
    return Indexed(
        title=front.title,
        title_key=title_key(front.title),
        said=f"{front.title} {spoken_path(path)}",
        type=front.type.value,
        category=front.category,
        domain=front.domain,
        as_of=front.as_of,
        digest=hashlib.sha256(body).hexdigest(),
        passages=tuple(_passages(parsed, secret, language)),
        relations=tuple(_relation(relation) for relation in front.relations),
        figures=tuple(
            FigureRow(figure.name, figure.value, figure.unit or "", figure.as_of, figure.source or "")
            for figure in front.figures
        ),
    )


def _relation(relation: page.Relation) -> RelationRow:
    target = parse_node_id(relation.to)
    knowledge = relation.knowledge or page.Knowledge.HYPOTHESIS
    return RelationRow(relation.verb.value, target, relation.to if target is None else None, knowledge.value)


def _passages(parsed: page.Page, secret: bytes, language: str) -> list[Passage]:
    """The chunks of the text; a page without any is found by its title and summary all the same."""
    title = parsed.front.title
    found = chunks.chunk(parsed.text) or [chunks.Chunk((), 0, 0, page.summary(parsed) or title)]
    seen: Counter[str] = Counter()
    rows = []
    for ordinal, chunk in enumerate(found):
        key = chunks.chunk_key(secret, chunk)
        fingerprint = hashlib.sha256(f"{key}\x1f{language}\x1f{title}".encode()).hexdigest()
        rows.append(
            Passage(
                ordinal=ordinal,
                key=key,
                fingerprint=fingerprint,
                copy=seen[fingerprint],
                heading=chunk.heading,
                body=chunk.body,
                start=chunk.start,
                end=chunk.end,
                language=language,
                said=chunks.context(title, chunk),
            )
        )
        seen[fingerprint] += 1
    return rows
