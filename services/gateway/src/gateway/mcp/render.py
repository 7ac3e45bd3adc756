"""Results as text for any client. What comes from the corpus stands only in here, as it is."""

from contracts.retrieval_messages import Hits, PageHits, PageView, Receipt

TEXT_LIMIT = 50_000
"""Characters of a page's text in one answer: clients cut results beyond about 25,000 tokens."""

NOTHING = "No governed knowledge on this."

_EMPTY = {
    "nothing_granted": "nothing_granted: no grant lets you read anything in this brain.",
    "no_match": "no_match: nothing that you may see matches.",
    "index_behind": "index_behind: the index has not caught up; try again in a moment.",
    "source_unavailable": "source_unavailable: a source that was asked for cannot be read.",
}


def hits(found: Hits) -> str:
    """Passages in order, each with its node id, trust and receipt."""
    if not found.hits:
        return _nothing(found.empty)
    blocks = [f"trust: {found.trust}"]
    if found.degraded:
        blocks[0] += f"; answered without: {', '.join(found.degraded)}"
    for number, hit in enumerate(found.hits, start=1):
        place = " > ".join(hit.heading)
        head = f"{number}. [{hit.id}] {hit.title} ({hit.path})" + (f" > {place}" if place else "")
        blocks.append(f"{head}\n{hit.trust}; {receipt(hit.receipt)}\n{hit.text}")
    return "\n\n".join(blocks)


def pages(found: PageHits) -> str:
    """Pages in order, one a line."""
    if not found.pages:
        return _nothing(found.empty)
    return "\n".join(f"[{page.id}] {page.title} ({page.path}) {page.type}; {page.trust}" for page in found.pages)


def part(view: PageView, offset: int) -> tuple[str, int | None]:
    """As much of a page's text as one answer holds, and where it goes on."""
    text = view.text[offset : offset + TEXT_LIMIT]
    end = offset + len(text)
    return text, end if end < len(view.text) else None


def page(view: PageView, text: str, following: int | None) -> str:
    """A page's metadata, then its text or the part asked for."""
    lines = [
        f"[{view.id}] {view.title} ({view.path})",
        f"Type: {view.type}",
        f"Owner: {view.owner or 'nobody'}",
        f"Access: {view.access.value}",
        f"Trust: {view.trust}",
        f"Receipt: {receipt(view.receipt)}",
    ]
    if view.verified is not None:
        lines.append(f"Verified: {view.verified.isoformat()}")
    if view.review_by is not None:
        lines.append(f"Review by: {view.review_by.isoformat()}")
    lines += [f"Relation: {each.verb} [{each.id}] {each.title}" for each in view.relations]
    lines += [f"Figure: {each.name} = {each.value} {each.unit}".rstrip() for each in view.figures]
    lines += [f"Source: {source}" for source in view.sources]
    lines += [f"Withheld: {count} from {source}" for source, count in sorted(view.withheld.items())]
    body = "\n".join(lines) + f"\n\n{text}"
    return body if following is None else f"{body}\n\n(The text goes on: read again with offset {following}.)"


def receipt(stands_on: Receipt) -> str:
    """What an answer stands on, in a line."""
    approved = f"revision {stands_on.revision} approved by {stands_on.approver} at {stands_on.approved_at.isoformat()}"
    return f"{approved}, sha256 {stands_on.digest}"


def _nothing(why: str) -> str:
    return f"{NOTHING} {_EMPTY.get(why, why)}"
