"""The console's routes that others carry out: proposals and decisions of approvals, imports of ingest."""

from collections.abc import Callable
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from nats.aio.client import Client

from chassis import rpc
from contracts import approvals_messages, gateway_api, ingest_messages
from contracts.enums import Verdict
from contracts.ids import CommandId
from contracts.replies import Accepted
from gateway.credentials import Viewer
from gateway.http.routes import Routes
from gateway.seen import Seen

DECIDING_SECONDS = 110.0
"""A decision may wait for vectors; the console itself waits 120."""
IMPORTING_SECONDS = 110.0


class Work:
    """Forwards what a signed-in person wants done to the service that does it, in his name."""

    def __init__(self, nc: Client, seen: Seen, new_id: Callable[[], UUID]) -> None:
        self._nc = nc
        self._seen = seen
        self._new_id = new_id

    def routes(self, routes: Routes) -> list[HTTPRouteHandler]:
        """Every route with its path, request and server."""
        api = gateway_api
        return [
            routes.reads(api.PROPOSALS, api.ProposalsAfter, self.proposals),
            routes.reads(api.PROPOSAL, api.OneProposal, self.proposal),
            routes.writes(api.APPROVE, api.Approve, self.approve),
            routes.writes(api.REJECT, api.Reject, self.reject),
            routes.writes(api.WITHDRAW, api.WithdrawText, self.withdraw),
            routes.writes(api.IMPORT_PART, api.ImportPart, self.import_part),
            routes.writes(api.IMPORT_FINISH, api.ImportEnd, self.finish_import),
        ]

    async def proposals(self, viewer: Viewer, asked: gateway_api.ProposalsAfter) -> approvals_messages.ProposalLines:
        """Open proposals that the person may see."""
        query = approvals_messages.AskProposals(by=viewer.member.id, after=asked.after, limit=asked.limit)
        return await rpc.ask(
            self._nc, approvals_messages.PROPOSALS, query, approvals_messages.ProposalLines, seconds=10.0
        )

    async def proposal(self, viewer: Viewer, asked: gateway_api.OneProposal) -> approvals_messages.ProposalView:
        """One proposal with the exact stored bytes, as the person may see it."""
        query = approvals_messages.AskProposal(by=viewer.member.id, proposal=asked.proposal, page=asked.page)
        return await rpc.ask(
            self._nc, approvals_messages.PROPOSAL, query, approvals_messages.ProposalView, seconds=10.0
        )

    async def approve(self, viewer: Viewer, asked: gateway_api.Approve) -> approvals_messages.Decided:
        """Approve exactly the bytes of this digest."""
        return await self._decide(
            approvals_messages.Decide(
                command=self._command(asked.command),
                by=viewer.member.id,
                proposal=asked.proposal,
                verdict=Verdict.APPROVE,
                digest=asked.digest,
            )
        )

    async def reject(self, viewer: Viewer, asked: gateway_api.Reject) -> approvals_messages.Decided:
        """Reject, with a reason."""
        return await self._decide(
            approvals_messages.Decide(
                command=self._command(asked.command),
                by=viewer.member.id,
                proposal=asked.proposal,
                verdict=Verdict.REJECT,
                digest=asked.digest,
                reason=asked.reason,
                note=asked.note,
            )
        )

    async def withdraw(self, viewer: Viewer, asked: gateway_api.WithdrawText) -> Accepted:
        """Take one's own proposal back."""
        command = approvals_messages.Withdraw(
            command=self._command(asked.command), by=viewer.member.id, proposal=asked.proposal
        )
        taken = await rpc.ask(self._nc, approvals_messages.WITHDRAW, command, Accepted, seconds=10.0)
        self._seen.note(viewer.member.id, taken.position)
        return taken

    async def import_part(self, viewer: Viewer, asked: gateway_api.ImportPart) -> ingest_messages.ImportedPart:
        """One part of an import."""
        command = ingest_messages.ImportFiles(
            import_id=asked.import_id,
            part=asked.part,
            by=viewer.member.id,
            options=asked.options,
            files=asked.files,
            colliding=asked.colliding,
        )
        return await rpc.ask(
            self._nc,
            ingest_messages.IMPORT_FILES,
            command,
            ingest_messages.ImportedPart,
            seconds=IMPORTING_SECONDS,
        )

    async def finish_import(self, viewer: Viewer, asked: gateway_api.ImportEnd) -> ingest_messages.Imported:
        """Submit what the parts wrote."""
        command = ingest_messages.FinishImport(
            import_id=asked.import_id,
            by=viewer.member.id,
            options=asked.options,
            sync=asked.sync,
            present=asked.present,
        )
        return await rpc.ask(
            self._nc,
            ingest_messages.FINISH_IMPORT,
            command,
            ingest_messages.Imported,
            seconds=IMPORTING_SECONDS,
        )

    async def _decide(self, command: approvals_messages.Decide) -> approvals_messages.Decided:
        decided = await rpc.ask(
            self._nc, approvals_messages.DECIDE, command, approvals_messages.Decided, seconds=DECIDING_SECONDS
        )
        self._seen.note(command.by, decided.position)
        return decided

    def _command(self, given: CommandId | None) -> CommandId:
        return given if given is not None else CommandId(self._new_id())
