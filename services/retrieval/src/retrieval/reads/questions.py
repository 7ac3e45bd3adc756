"""A query's vector, asked of the embedder; it is the one thing that a search can do without."""

from typing import NamedTuple

from nats.aio.client import Client
from pgvector import HalfVector

from chassis import rpc
from contracts.embedder_messages import EMBED, Embed, Embedded
from contracts.errors import Refused, Unavailable
from retrieval.projections.vectors import DIM, vector

PATIENCE = 1.5
"""Seconds for a vector: many times what a model needs, and short enough that words alone still answer in time."""


class Question(NamedTuple):
    """A query's vector and the model that made it; no vector where none could be had."""

    vector: HalfVector | None
    model: str


class Questions:
    """Asks the embedder."""

    def __init__(self, nc: Client) -> None:
        self._nc = nc

    async def vector_of(self, query: str) -> Question:
        """The vector of a query; a vector of another length than the index holds serves no search."""
        try:
            embedded = await rpc.ask(self._nc, EMBED, Embed(query=query), Embedded, seconds=PATIENCE)
        except (Unavailable, Refused):
            return Question(None, "")
        if embedded.dim != DIM:
            return Question(None, "")
        return Question(vector(embedded.vector), embedded.model)
