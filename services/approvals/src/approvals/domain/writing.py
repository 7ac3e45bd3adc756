"""What a page write means: a new page, an edit of the live one, a rename, or the end of a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from approvals.domain.draft import Declared, Known
from approvals.domain.page import Live
from approvals.domain.sight import Person
from contracts.content import ContentRef
from contracts.enums import PageAction, Permission
from contracts.errors import Refused
from contracts.ids import PageId, parse_node_id


@dataclass(frozen=True, slots=True)
class Written:
    """A write, read: its path, its bytes and what they declare (None for the end of a page)."""

    path: str
    action: PageAction
    body: ContentRef
    declared: Declared | None


@dataclass(frozen=True, slots=True)
class Aim:
    """Which page a write is about, against which revision. `against` None: a new page."""

    page: PageId
    action: PageAction
    against: Known | None


def aim(
    written: Written,
    writer: Person,
    *,
    at_path: Known | None,
    by_id: Mapping[PageId, Known],
    minted: PageId,
) -> Aim:
    """Find the page that a write is about, as far as its writer may know.

    A live page that the writer cannot see behaves as if its path were free; that the path is taken is told when the
    proposal is decided on. `minted`: the id of a page that is new here. Raises `no_such_page`, `id_not_own`.
    """
    live = _visible(at_path, writer)
    if written.declared is None:
        if live is None:
            raise Refused(
                "no_such_page", "There is no such page.", written.path, "Name the path of a page that is live."
            )
        return Aim(live.page, PageAction.DEPRECATE, live)
    if written.declared.id is not None:
        own = parse_node_id(written.declared.id)
        if live is not None and own == live.page:
            return Aim(live.page, PageAction.EDIT, live)
        if own == minted:
            return Aim(minted, PageAction.CREATE, None)
        named = None if own is None else _visible(by_id.get(own), writer)
        if live is not None or named is None:
            raise Refused(
                "id_not_own",
                "The id in the frontmatter is not this page's own.",
                written.path,
                "Leave the key id out; the brain gives it.",
            )
        return Aim(named.page, PageAction.RENAME, named)
    if live is None:
        return Aim(minted, PageAction.CREATE, None)
    return Aim(live.page, PageAction.EDIT, live)


def check_may_suggest(written: Written, aimed: Aim, writer: Person) -> None:
    """A page edit needs suggest on the page, a new page on what it would become, a rename on both.

    Raises `forbidden`.
    """
    concerned = [] if aimed.against is None else [aimed.against.placed]
    if written.declared is not None and (aimed.against is None or aimed.against.path != written.path):
        concerned.append(written.declared.placed(written.path))
    if not all(writer.holds(Permission.SUGGEST, page) for page in concerned):
        raise Refused(
            "forbidden",
            "You may not propose a change of this page.",
            written.path,
            "Ask an admin for a grant of suggest on its path.",
        )


def _visible(known: Known | None, writer: Person) -> Known | None:
    if known is None or not isinstance(known.state, Live) or not writer.holds(Permission.READ, known.placed):
        return None
    return known
