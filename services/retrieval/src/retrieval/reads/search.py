"""Search: passages for a query, by words and by meaning, fused."""

from collections.abc import Callable
from datetime import datetime

from chassis import sql
from contracts.enums import Knowledge
from contracts.ids import node_id
from contracts.retrieval_messages import Hit, Hits, Receipt, Search
from retrieval.domain import trust
from retrieval.domain.texts import clean_query, title_key
from retrieval.projections.pages import CROSSOVER
from retrieval.reads.questions import Questions
from retrieval.reads.sight import INDEX_BEHIND, Sights

STATEMENTS = sql.load("retrieval.reads", "search.sql")

CANDIDATES = 50
"""Passages that each arm offers. Measured: more change nothing among the first ten."""
POSTINGS = 60_000
"""Postings read for one query, the rarest words first: some 15 ms of work."""
MOST = 20


class Searches:
    """Answers `ask.retrieval.search`."""

    def __init__(
        self, sights: Sights, questions: Questions, clock: Callable[[], datetime], *, exact: int = CROSSOVER
    ) -> None:
        self._sights = sights
        self._questions = questions
        self._clock = clock
        self._exact = exact

    async def search(self, asked: Search) -> Hits:
        """The best passages. Without an embedder it answers by words alone and says so in `degraded`."""
        query = clean_query(asked.query)
        question = await self._questions.vector_of(query)
        async with self._sights.of(asked) as sight:
            rows = await sight.db.fetch(
                STATEMENTS.search,
                query,
                title_key(query),
                question.vector,
                question.model,
                max(1, min(asked.limit, MOST)),
                CANDIDATES,
                POSTINGS,
                self._exact,
                *sight.rule,
            )
            position = await sight.position()
            texts = await sight.without_withheld([row["body"] for row in rows])
            empty = "" if rows else await sight.emptiness()
            degraded = [INDEX_BEHIND] if sight.behind else []
        now = self._clock()
        hits = []
        for row, text in zip(rows, texts, strict=True):
            label = trust.trust(Knowledge(row["knowledge"]), row["verified_at"], row["review_days"], now)
            receipt = Receipt(
                page=row["page"],
                revision=row["revision"],
                digest=row["digest"],
                approver=row["approver"],
                approved_at=row["approved_at"],
                verified_at=row["verified_at"],
                position=row["position"],
            )
            hits.append(
                Hit(
                    path=row["path"],
                    id=node_id(row["page"]),
                    title=row["title"],
                    heading=tuple(row["heading"]),
                    text=text,
                    trust=label,
                    score=round(row["score"], 6),
                    receipt=receipt,
                )
            )
        if question.vector is None or any(row["compared"] == 0 for row in rows):
            degraded.append("vectors")
        return Hits(
            hits=tuple(hits),
            trust=trust.weakest(hit.trust for hit in hits),
            empty=empty,
            degraded=tuple(degraded),
            position=position,
        )
