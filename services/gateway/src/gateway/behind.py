"""What viewers ask of the services behind, whatever the door. It names ids, never grants."""

from collections.abc import Sequence

from nats.aio.client import Client

from chassis import rpc
from contracts import approvals_messages, retrieval_messages
from contracts.enums import Origin, ProposalKind
from contracts.ids import CommandId, PageId
from contracts.retrieval_messages import AllContested, Asker, Hits, PageHits, PageView
from gateway.audit import trail
from gateway.credentials import Viewer
from gateway.seen import Seen

ASKED_SECONDS = 8.0
"""How long an answer from behind is waited for."""


class Behind:
    """Asks retrieval and approvals. All of it raises what they refuse, and `Unavailable`."""

    def __init__(self, nc: Client, seen: Seen) -> None:
        self._nc = nc
        self._seen = seen

    async def titles(self, viewer: Viewer, query: str, limit: int) -> PageHits:
        """Pages by title, path or words of either."""
        asked = retrieval_messages.FindPage(
            asker=_asker(viewer), query=query, limit=limit, position=viewer.position, own=self._seen.own(viewer)
        )
        found = await rpc.ask(self._nc, retrieval_messages.FIND_PAGE, asked, PageHits, seconds=ASKED_SECONDS)
        trail.current().saw_titles(found)
        return found

    async def passages(self, viewer: Viewer, query: str, limit: int, domains: Sequence[str] = ()) -> Hits:
        """Passages for a query, of any domain or of these."""
        asked = retrieval_messages.Search(
            asker=_asker(viewer),
            query=query,
            limit=limit,
            domains=tuple(domains),
            position=viewer.position,
            own=self._seen.own(viewer),
        )
        found = await rpc.ask(self._nc, retrieval_messages.SEARCH, asked, Hits, seconds=ASKED_SECONDS)
        trail.current().saw_passages(found)
        return found

    async def page(self, viewer: Viewer, path: str) -> PageView:
        """One page, by path or node id. A hidden one and one that there is not are refused alike (no_such_page)."""
        asked = retrieval_messages.ReadPage(
            asker=_asker(viewer), path=path, rights=viewer.position, own=self._seen.own(viewer)
        )
        return await rpc.ask(self._nc, retrieval_messages.READ_PAGE, asked, PageView, seconds=ASKED_SECONDS)

    async def contested(
        self,
        viewer: Viewer,
        *,
        limit: int,
        pages: tuple[PageId, ...] = (),
        domains: Sequence[str] = (),
        seconds: float = ASKED_SECONDS,
    ) -> AllContested:
        """What is open: of these pages or of any, of these domains or of any."""
        asked = retrieval_messages.FindContested(
            asker=_asker(viewer),
            pages=pages,
            limit=limit,
            domains=tuple(domains),
            position=viewer.position,
            own=self._seen.own(viewer),
        )
        return await rpc.ask(self._nc, retrieval_messages.CONTESTED, asked, AllContested, seconds=seconds)

    async def file(
        self, viewer: Viewer, command: CommandId, kind: ProposalKind, title: str, body: str, nodes: Sequence[str]
    ) -> approvals_messages.Submitted:
        """A text for the inbox, which the viewer's next read will know of."""
        asked = approvals_messages.SubmitText(
            command=command,
            author=viewer.member.id,
            origin=Origin.AGENT,
            kind=kind,
            title=title,
            body=body,
            nodes=tuple(nodes),
        )
        filed = await rpc.ask(
            self._nc, approvals_messages.SUBMIT_TEXT, asked, approvals_messages.Submitted, seconds=ASKED_SECONDS
        )
        self._seen.note(viewer.member.id, filed.position)
        trail.current().wrote(filed.position, command, filed.proposal)
        return filed


def registered(proposal: object, kind: str) -> str:
    """The receipt of a text, in words."""
    return f"Registered.\nInbox id: [{proposal}]\nKind: {kind}\nStatus: pending"


def _asker(viewer: Viewer) -> Asker:
    return Asker(principal=viewer.member.id, token=viewer.token.id)
