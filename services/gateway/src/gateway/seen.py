"""What a caller has written through this process, so that his next read is not older than that."""

from collections import OrderedDict

from contracts.ids import PrincipalId
from gateway.credentials import Viewer

REMEMBERED = 10_000
"""Principals whose last write is kept in mind; the least recent is forgotten."""


class Seen:
    """Last acknowledged position by principal."""

    def __init__(self) -> None:
        self._last: OrderedDict[PrincipalId, int] = OrderedDict()

    def note(self, principal: PrincipalId, position: int) -> None:
        """The principal was told that his write stands there."""
        self._last[principal] = max(position, self._last.pop(principal, 0))
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def own(self, viewer: Viewer) -> int:
        """Where the viewer's own last write stands, 0 where none is known."""
        return self._last.get(viewer.member.id, 0)
