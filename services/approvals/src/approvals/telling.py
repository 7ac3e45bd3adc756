"""What an approval brings about, in the words that lists, pages, buttons and the console share."""

from collections import Counter
from collections.abc import Sequence

from approvals.domain.draft import Change
from contracts.approvals_messages import CONFIRM
from contracts.enums import PageAction, ProposalKind

_ONE = {
    PageAction.CREATE.value: "new page",
    PageAction.EDIT.value: "edit of revision {}",
    PageAction.RENAME.value: "move of revision {} to this path",
    PageAction.DEPRECATE.value: "end of page (revision {})",
    CONFIRM: "confirmation of revision {}",
}
_MANY = {
    PageAction.CREATE: ("new", "new"),
    PageAction.EDIT: ("edit", "edits"),
    PageAction.RENAME: ("move", "moves"),
    PageAction.DEPRECATE: ("end", "ends"),
}
_TO_ONE = {
    PageAction.CREATE.value: "publish",
    PageAction.EDIT.value: "publish, replacing revision {}",
    PageAction.RENAME.value: "move this page, replacing revision {}",
    PageAction.DEPRECATE.value: "end this page",
    CONFIRM: "confirm that revision {} still holds",
}
_TO_MANY = {
    PageAction.CREATE: "publish",
    PageAction.EDIT: "replace",
    PageAction.RENAME: "move",
    PageAction.DEPRECATE: "end",
}
_KEPT = "text to keep as a capture"
_TO_KEEP = "keep as a capture"


def counts(concerned: Sequence[Change]) -> dict[PageAction, int]:
    """How many pages of each action there are; those that there are none of are left out."""
    found = Counter(one.does for one in concerned)
    return {action: found[action.value] for action in PageAction if found[action.value]}


def change(kind: ProposalKind, concerned: Sequence[Change]) -> str:
    """What would happen: "new page", "end of page (revision 3)", "12 new, 3 edits, 30 ends"."""
    if kind is ProposalKind.BUILD:
        return ", ".join(f"{many} {_MANY[action][many != 1]}" for action, many in counts(concerned).items())
    if not concerned:
        return "confirmation of a page that is not live" if kind is ProposalKind.REVIEW else _KEPT
    (only,) = concerned
    return of_page(only.does, only.base)


def of_page(does: str, base: int) -> str:
    """The same for one page, alone or in a build."""
    return _ONE[does].format(base)


def consent(kind: ProposalKind, concerned: Sequence[Change], *, last: bool) -> str:
    """What the button says that brings it about. `last`: no further approval is wanted."""
    vote = "Approve" if last else "Vote"
    if kind is ProposalKind.BUILD:
        told = ", ".join(f"{_TO_MANY[action]} {many}" for action, many in counts(concerned).items())
        return f"{vote}: {told}"
    if not concerned:
        return f"{'Accept and' if last else 'Vote to'} {_TO_KEEP}"
    (only,) = concerned
    told = _TO_ONE[only.does].format(only.base)
    if only.does == CONFIRM and last:
        return told.capitalize()
    return f"{vote} {'and' if last else 'to'} {told}"


def ends(concerned: Sequence[Change]) -> bool:
    """Whether a page would cease to be live."""
    return any(one.does == PageAction.DEPRECATE.value for one in concerned)
