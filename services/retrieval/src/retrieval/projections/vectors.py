"""Vectors: kept apart while their body is a draft, put to the passages of the page once it is live."""

import base64
from collections.abc import Sequence

import msgspec
import numpy as np
from pgvector import HalfVector

from chassis import sql
from chassis.postgres import Pooled
from contracts.catalogue import wire_type
from contracts.chunks import BodyEmbedded
from contracts.envelope import Recorded
from eventlog.projector import Apply
from retrieval.projections import pages

STATEMENTS = sql.load("retrieval.projections", "vectors.sql")
HEARS = frozenset({wire_type(BodyEmbedded)})
DIM = 384
"""Numbers in a vector that the index holds; a model with others serves no search here."""


def applying() -> Apply:
    """How a batch becomes rows, inside one transaction of the brain."""

    async def apply(db: Pooled, recorded: Sequence[Recorded[msgspec.Struct]]) -> None:
        facts = [(one.position, one.fact) for one in recorded if isinstance(one.fact, BodyEmbedded)]
        if not facts:
            return
        brain = recorded[0].envelope.brain
        rows = [
            (fact.body, chunk, fact.model, position)
            for position, fact in facts
            if fact.dim == DIM
            for chunk in fact.chunks
        ]
        await db.execute(pages.STATEMENTS.lock_index, str(brain))
        await db.executemany(
            STATEMENTS.put_part, [(brain, fact.body, fact.n, fact.of, position) for position, fact in facts]
        )
        await db.execute(
            STATEMENTS.put_vectors,
            brain,
            [body for body, *_ in rows],
            [chunk.key for _, chunk, *_ in rows],
            [chunk.vector_key for _, chunk, *_ in rows],
            [model for *_, model, _ in rows],
            [vector(chunk.vector) for _, chunk, *_ in rows],
            [position for *_, position in rows],
        )
        bodies = list({fact.body for _, fact in facts})
        await db.execute(pages.STATEMENTS.attach_vectors, brain, bodies)
        await db.execute(pages.STATEMENTS.drop_vectors, brain, bodies)

    return apply


def vector(encoded: str) -> HalfVector:
    """A vector as it travels (base64 of little-endian float16) as the database takes it."""
    return HalfVector(np.frombuffer(base64.b64decode(encoded), dtype="<f2"))
