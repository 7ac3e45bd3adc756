"""After a fault: is everything that was acknowledged there exactly once, everywhere, and nothing else?"""

from collections import Counter
from dataclasses import dataclass

import inside
from contracts.ids import fact_id
from loads import Load, Page


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a fault cost. `lost` and `twice` say where: log, archive or a read model."""

    acknowledged: int
    lost: tuple[str, ...]
    twice: tuple[str, ...]
    heal: float

    def line(self, fault: str) -> str:
        """One line for a person."""
        return (
            f"{fault}: {self.acknowledged} acknowledged, {len(self.lost)} lost, {len(self.twice)} duplicated,"
            f" healed in {self.heal:.1f} s"
        )


async def judge(within: inside.Inside, load: Load, heal: float) -> Verdict:
    """Wait until archive and read models have caught up, and compare them with what was acknowledged."""
    await within.settled()
    stored = await within.messages("EVT")
    in_log = Counter(one.id for one in stored)
    rows = await within.rows(
        "select position, fact_id, subject, body from archive.facts where brain = $1 and stream = 'EVT'"
    )
    in_archive = Counter(str(row["fact_id"]) for row in rows)
    copies = {row["position"]: (row["subject"], bytes(row["body"])) for row in rows}
    differs = [one.position for one in stored if copies.get(one.position) != (one.subject, one.body)]
    assert differs == [], "log and archive differ"
    places = {
        "log": in_log,
        "archive": in_archive,
        "proposals": await _counted(within, "select proposal::text as name from approvals.proposals where brain = $1"),
        "votes": await _counted(within, "select command::text as name from approvals.votes where brain = $1"),
        "pages": await _counted(within, "select path as name from approvals.pages where brain = $1 and live"),
        "index": await _counted(within, "select path as name from retrieval.pages where brain = $1 and live"),
    }
    lost, twice = [], [f"fact {name} in the log" for name, times in in_log.items() if times > 1]
    for page in load.pages:
        for place, name in _names(page):
            times = places[place][name]
            if times == 0:
                lost.append(f"{page.path} in {place}")
            if times > 1:
                twice.append(f"{page.path} in {place}")
    return Verdict(load.acknowledged, tuple(lost), tuple(twice), heal)


def _names(page: Page) -> list[tuple[str, str]]:
    """Where an acknowledged page has to stand, and under which name."""
    found = []
    if page.submitted is not None:
        said = str(fact_id(page.submit, 0))
        found += [("log", said), ("archive", said), ("proposals", str(page.proposal))]
    if page.decided is not None:
        said = str(fact_id(page.decide, 0))
        found += [("log", said), ("archive", said), ("votes", str(page.decide))]
        found += [("pages", page.path), ("index", page.path)]
    return found


async def _counted(within: inside.Inside, query: str) -> Counter[str]:
    return Counter(str(row["name"]) for row in await within.rows(query))
