"""Find: pages by path, title or words of either."""

from collections.abc import Callable
from datetime import datetime

from chassis import sql
from contracts.enums import Knowledge
from contracts.ids import node_id
from contracts.retrieval_messages import FindPage, PageHit, PageHits
from retrieval.domain import trust
from retrieval.domain.texts import clean_query, spoken_path, title_key
from retrieval.reads.sight import Sights

STATEMENTS = sql.load("retrieval.reads", "pages.sql")
MOST = 20


class Finding:
    """Answers `ask.retrieval.find_page`."""

    def __init__(self, sights: Sights, clock: Callable[[], datetime]) -> None:
        self._sights = sights
        self._clock = clock

    async def find(self, asked: FindPage) -> PageHits:
        """The pages that fit best; the one at exactly this path, or with exactly this title, first."""
        query = clean_query(asked.query)
        limit = max(1, min(asked.limit, MOST))
        async with self._sights.of(asked) as sight:
            rows = await sight.db.fetch(
                STATEMENTS.find_pages, query, title_key(query), spoken_path(query), limit, *sight.rule
            )
            position = await sight.position()
            empty = "" if rows else await sight.emptiness()
        now = self._clock()
        pages = tuple(
            PageHit(
                path=row["path"],
                id=node_id(row["page"]),
                title=row["title"],
                type=row["type"],
                trust=trust.trust(Knowledge(row["knowledge"]), row["verified_at"], row["review_days"], now),
            )
            for row in rows
        )
        return PageHits(pages=pages, empty=empty, position=position)
