"""The console's routes about the audit: rows and their chain for admins, the trace of a request for whoever made it."""

from litestar.handlers import HTTPRouteHandler
from nats.aio.client import Client

from chassis.postgres import Pool, transaction
from contracts import gateway_audit as api
from contracts.enums import Role
from contracts.errors import Refused
from contracts.ids import BrainId
from gateway.audit.seals import Seals
from gateway.audit.tracing import audit_rows, trace
from gateway.audit.writer import ROWS, Audit
from gateway.credentials import Viewer
from gateway.domain.standing import administrator
from gateway.http.routes import Routes


class Audits:
    """Serves what was recorded. What this replica still holds is written before."""

    def __init__(self, pool: Pool, nc: Client, brain: BrainId, audit: Audit, seals: Seals) -> None:
        self._pool = pool
        self._nc = nc
        self._brain = brain
        self._audit = audit
        self._seals = seals

    def routes(self, routes: Routes) -> list[HTTPRouteHandler]:
        """Every route with its path, request and server."""
        return [
            routes.lines(api.AUDIT, api.AuditOf, self.rows),
            routes.reads(api.AUDIT_VERIFY, api.VerifyAfter, self.verify),
            routes.reads(api.TRACE, api.TraceOf, self.trace),
        ]

    async def rows(self, viewer: Viewer, asked: api.AuditOf) -> list[api.AuditRow]:
        """A page of the audit, the oldest row first."""
        administrator(viewer.member)
        if not 1 <= asked.limit <= api.LARGEST_PAGE or not 0 <= asked.after < 2**63:
            raise Refused(
                "limit_out_of_range", f"A page has 1 to {api.LARGEST_PAGE} rows.", "limit", "Choose a number there."
            )
        await self._audit.flush()
        wanted = (asked.since, asked.until, asked.operation, asked.principal)
        async with transaction(self._pool, self._brain, readonly=True) as db:
            return list(audit_rows(await db.fetch(ROWS.rows_after, self._brain, asked.after, *wanted, asked.limit)))

    async def verify(self, viewer: Viewer, asked: api.VerifyAfter) -> api.Verified:
        """Whether the chain holds, a stretch at a time."""
        administrator(viewer.member)
        return await self._seals.verify(asked.after)

    async def trace(self, viewer: Viewer, asked: api.TraceOf) -> api.Trace:
        """One's own request, or anybody's for an admin. Another's is answered like one that there never was."""
        await self._audit.flush()
        everybody = viewer.member.role in {Role.ADMIN, Role.OWNER}
        return await trace(self._pool, self._nc, self._brain, asked.request, None if everybody else viewer.member.id)
