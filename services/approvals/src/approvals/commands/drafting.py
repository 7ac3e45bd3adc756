"""Page writes as drafts: bytes read and checked, the page found, its path stored."""

import asyncio
from collections.abc import Mapping, Sequence

from approvals.desk import Desk
from approvals.domain.decision import owner_missing
from approvals.domain.draft import Declared, Draft, Known, declared
from approvals.domain.page import Live
from approvals.domain.sight import Person
from approvals.domain.writing import Aim, Written, aim, check_may_suggest
from approvals.ledger import loading
from chassis.postgres import Pooled
from content.bodies import Put, Slot
from content.errors import ContentMissing
from contracts.approvals_messages import PageWrite
from contracts.content import ContentRef
from contracts.enums import PageAction
from contracts.errors import Refused
from contracts.ids import CommandId, ContentId, PageId, content_id, derived, parse_node_id
from contracts.proposals import PageDraft
from corpus import paths
from corpus.errors import Malformed
from corpus.page import normalise


async def drafts(
    desk: Desk,
    db: Pooled,
    writer: Person,
    command: CommandId,
    writes: Sequence[PageWrite],
    standing: Mapping[PageId, Draft],
) -> list[Draft]:
    """Writes as drafts, in order. `standing`: what is on the branch already.

    Raises `Refused`: the codes of `corpus` with path and line, `path_twice`, `body_missing`, `no_such_page`,
    `id_not_own`, `forbidden`, `owner_missing`. Stores the paths in the caller's transaction.
    """
    written = await _read(desk, db, writes)
    named = {own for one in written if (own := _named(one)) is not None}
    pages = await loading.pages(db, named, [one.path for one in written])
    at_path = {known.path: known for known in pages.values() if isinstance(known.state, Live)}
    minted = {one.path: page for page, one in standing.items()}
    aims = []
    for one in written:
        new = minted.get(one.path) or PageId(derived(desk.brain, command, one.path))
        aimed = aim(one, writer, at_path=at_path.get(one.path), by_id=pages, minted=new)
        check_may_suggest(one, aimed, writer)
        aims.append(aimed)
    await _check_owners(db, written)
    stored = await _store_paths(desk, db, command, written, aims)
    return [_draft(one, aimed, path, desk) for one, aimed, path in zip(written, aims, stored, strict=True)]


def check_path(path: str) -> str:
    """The path, if it follows the grammar. Raises `Refused`."""
    try:
        return paths.check(path)
    except Malformed as malformed:
        raise refusal(malformed, "path") from None


def refusal(malformed: Malformed, where: str) -> Refused:
    """A fault of the text, told with its place."""
    place = where if malformed.line is None else f"{where}, line {malformed.line}, column {malformed.column or 1}"
    return Refused(malformed.code, malformed.what, place, "Correct it there and send it again.")


async def _read(desk: Desk, db: Pooled, writes: Sequence[PageWrite]) -> list[Written]:
    seen: set[str] = set()
    for write in writes:
        if check_path(write.path) in seen:
            raise Refused("path_twice", "One path is written twice in one request.", write.path, "Write it once.")
        seen.add(write.path)
    kept = [write for write in writes if write.action is not PageAction.DEPRECATE]
    try:
        bodies = await desk.bodies.exact(db, [write.body for write in kept])
    except ContentMissing:
        raise Refused("body_missing", "The bytes of a page are not stored.", "body", "Store them first.") from None
    said = await asyncio.to_thread(_declare, kept, bodies)
    return [Written(write.path, write.action, write.body, said.get(write.path)) for write in writes]


def _declare(writes: Sequence[PageWrite], bodies: Mapping[ContentId, bytes]) -> dict[str, Declared]:
    return {write.path: _declared(write.path, bodies[write.body.id]) for write in writes}


def _declared(path: str, body: bytes) -> Declared:
    try:
        said, normal = declared(body), normalise(body)
    except Malformed as malformed:
        raise refusal(malformed, path) from None
    if normal != body:
        what = "The page has a byte order mark or line ends other than LF."
        raise Refused("not_normal", what, path, "Send it as UTF-8 with LF.")
    return said


def _named(one: Written) -> PageId | None:
    return None if one.declared is None or one.declared.id is None else parse_node_id(one.declared.id)


async def _check_owners(db: Pooled, written: Sequence[Written]) -> None:
    names = {one.declared.owner for one in written if one.declared is not None and one.declared.owner is not None}
    known = await loading.owners(db, names)
    for one in written:
        if one.declared is not None and (one.declared.owner or "") not in known:
            raise owner_missing(one.path)


async def _store_paths(
    desk: Desk, db: Pooled, command: CommandId, written: Sequence[Written], aims: Sequence[Aim]
) -> list[ContentRef]:
    """The bodies that hold the paths: the live page's own where the path stays."""
    unmoved: dict[str, ContentRef] = {
        one.path: aimed.against.path_ref
        for one, aimed in zip(written, aims, strict=True)
        if aimed.against is not None and aimed.against.path == one.path
    }
    puts = [
        Put(content_id(command, f"path/{one.path}"), one.path.encode(), Slot.PATH)
        for one in written
        if one.path not in unmoved
    ]
    refs = await desk.store.put(db, desk.brain, puts) if puts else []
    for put, ref in zip(puts, refs, strict=True):
        desk.bodies.remember_path(ref, put.body.decode())
    stored = unmoved | {put.body.decode(): ref for put, ref in zip(puts, refs, strict=True)}
    return [stored[one.path] for one in written]


def _draft(one: Written, aimed: Aim, path: ContentRef, desk: Desk) -> Draft:
    live = aimed.against
    if one.declared is None:
        assert live is not None
        assert isinstance(live.state, Live)
        return Draft(_page_draft(aimed, live.state.body, path), one.path, _as_live(live))
    desk.bodies.remember(one.body, one.declared)
    return Draft(_page_draft(aimed, one.body, path), one.path, one.declared)


def _page_draft(aimed: Aim, body: ContentRef, path: ContentRef) -> PageDraft:
    live = None if aimed.against is None else aimed.against.state
    return PageDraft(
        page=aimed.page,
        action=aimed.action,
        base=live.revision if isinstance(live, Live) else 0,
        body=body,
        path=path,
        previous=live.body if isinstance(live, Live) else None,
    )


def _as_live(known: Known) -> Declared:
    """Of a page that is to end, what is known of it; its bytes are read again when the proposal is projected."""
    placed, state = known.placed, known.state
    assert isinstance(state, Live)
    return Declared(
        title=known.title,
        digest="",
        owner=None,
        access=placed.access,
        reach=placed.reach,
        category=placed.category,
        domain=placed.domain,
        weight=known.weight,
        owner_decides=known.owner_decides,
        knowledge=state.knowledge,
        review_days=state.review_days,
    )
