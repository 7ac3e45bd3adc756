"""Contested: what pages say is open, of themselves or between each other. Nothing is detected here."""

from chassis import sql
from contracts.ids import node_id
from contracts.retrieval_messages import AllContested, Contested, FindContested
from retrieval.reads.sight import Sights

STATEMENTS = sql.load("retrieval.reads", "contested.sql")

MOST = 100


class Contentions:
    """Answers `ask.retrieval.contested`."""

    def __init__(self, sights: Sights) -> None:
        self._sights = sights

    async def find(self, asked: FindContested) -> AllContested:
        """Pages that are unresolved, and relations that are or that need clarification, by path."""
        limit = max(1, min(asked.limit, MOST))
        async with self._sights.of(asked) as sight:
            rows = await sight.db.fetch(STATEMENTS.contested, list(asked.pages) or None, limit + 1, *sight.rule)
            position = await sight.position()
            empty = "" if rows else await sight.emptiness()
        found = tuple(
            Contested(
                path=row["path"],
                id=node_id(row["page"]),
                title=row["title"],
                reason=row["reason"],
                other=row["other_path"] or "",
                other_id="" if row["other"] is None else node_id(row["other"]),
                other_title=row["other_title"] or "",
            )
            for row in rows[:limit]
        )
        return AllContested(contested=found, more=len(rows) > limit, empty=empty, position=position)
