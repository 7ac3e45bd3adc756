"""The console's routes about members, groups, grants and tokens: requests of a signed-in person become commands."""

from collections.abc import Callable
from uuid import UUID

from litestar.handlers import HTTPRouteHandler

from access import lookup
from access.scopes import written
from chassis.postgres import Pool, transaction
from contracts import gateway_api, gateway_messages
from contracts.enums import Scope
from contracts.ids import BrainId, CommandId, PrincipalId
from contracts.replies import Accepted
from gateway.credentials import Viewer
from gateway.domain.standing import administrator, no_such_member
from gateway.http.routes import Nothing, Routes
from gateway.membership import Membership
from gateway.reasoning import Reasons
from gateway.tokens import Tokens


class Console:
    """Serves what gateway itself decides and knows."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        commands: tuple[Membership, Tokens, Reasons],
        new_id: Callable[[], UUID],
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._membership, self._tokens, self._reasons = commands
        self._new_id = new_id

    def routes(self, routes: Routes) -> list[HTTPRouteHandler]:
        """Every route with its path, request and server."""
        api = gateway_api
        return [
            routes.reads(api.WHOAMI, Nothing, self.whoami),
            routes.reads(api.MEMBERS, Nothing, self.members),
            routes.writes(api.MEMBER_ADD, api.NewMember, self.add_member),
            routes.writes(api.MEMBER_REMOVE, api.MemberName, self.remove_member),
            routes.writes(api.MEMBER_ROLE, api.MemberRole, self.change_role),
            routes.reads(api.GROUPS, Nothing, self.groups),
            routes.writes(api.GROUP_SET, api.Group, self.set_group),
            routes.reads(api.GRANTS, api.GrantsOf, self.grants),
            routes.writes(api.GRANT_ADD, api.GrantText, self.grant),
            routes.writes(api.GRANT_REVOKE, api.GrantText, self.revoke_grant),
            routes.reads(api.TOKENS, Nothing, self.tokens),
            routes.writes(api.TOKEN_ISSUE, api.NewToken, self.issue_token),
            routes.writes(api.TOKEN_REVOKE, api.TokenName, self.revoke_token),
            routes.reads(api.WHY, api.Why, self.why),
        ]

    async def whoami(self, viewer: Viewer, _asked: Nothing) -> gateway_api.WhoAmI:
        """Who is signed in."""
        me = viewer.member
        return gateway_api.WhoAmI(principal=me.id, name=me.name, role=me.role, tier=me.tier)

    async def members(self, _viewer: Viewer, _asked: Nothing) -> gateway_api.MemberLines:
        """Who belongs: every member may know."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            found = await lookup.members(db)
        return gateway_api.MemberLines(
            members=tuple(
                gateway_api.MemberLine(id=each.id, name=each.name, kind=each.kind, role=each.role, tier=each.tier)
                for each in found
            )
        )

    async def add_member(self, viewer: Viewer, asked: gateway_api.NewMember) -> gateway_messages.MemberAdded:
        """Let somebody join."""
        return await self._membership.add_member(
            gateway_messages.AddMember(
                command=self._command(asked.command),
                by=viewer.member.id,
                name=asked.name,
                role=asked.role,
                tier=asked.tier,
                kind=asked.kind,
            )
        )

    async def remove_member(self, viewer: Viewer, asked: gateway_api.MemberName) -> Accepted:
        """End a membership."""
        command = self._command(asked.command)
        return await self._membership.remove_member(
            gateway_messages.RemoveMember(command=command, by=viewer.member.id, name=asked.name)
        )

    async def change_role(self, viewer: Viewer, asked: gateway_api.MemberRole) -> Accepted:
        """Set role and tier."""
        return await self._membership.change_role(
            gateway_messages.ChangeRole(
                command=self._command(asked.command),
                by=viewer.member.id,
                name=asked.name,
                role=asked.role,
                tier=asked.tier,
            )
        )

    async def groups(self, viewer: Viewer, _asked: Nothing) -> gateway_api.GroupLines:
        """Every group with its members, for an admin."""
        administrator(viewer.member)
        async with transaction(self._pool, self._brain, readonly=True) as db:
            found = await lookup.groups(db)
        lines = (gateway_api.GroupLine(name=name, members=members) for name, members in found.items())
        return gateway_api.GroupLines(groups=tuple(lines))

    async def set_group(self, viewer: Viewer, asked: gateway_api.Group) -> gateway_messages.GroupSet:
        """Let a group have exactly these members."""
        return await self._membership.set_group(
            gateway_messages.SetGroup(
                command=self._command(asked.command), by=viewer.member.id, name=asked.name, members=asked.members
            )
        )

    async def grants(self, viewer: Viewer, asked: gateway_api.GrantsOf) -> gateway_api.GrantLines:
        """What a member or group holds: one's own with those of one's groups, or another's for an admin."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            subjects: list[PrincipalId] = list(viewer.caller.subjects)
            if asked.subject and asked.subject != viewer.member.name:
                administrator(viewer.member)
                member = await lookup.member_by_name(db, asked.subject)
                found = member.id if member is not None else await lookup.group_by_name(db, asked.subject)
                if found is None:
                    raise no_such_member("subject")
                subjects = [found]
            lines = await lookup.grants_for(db, subjects)
            names = await lookup.names(db, {line.subject for line in lines})
        return gateway_api.GrantLines(
            grants=tuple(
                gateway_api.GrantLine(
                    subject=names[line.subject], permission=line.permission, scope=written(line.scope)
                )
                for line in lines
            )
        )

    async def grant(self, viewer: Viewer, asked: gateway_api.GrantText) -> gateway_messages.GrantMade:
        """Give a permission."""
        return await self._membership.grant(
            gateway_messages.GrantTo(
                command=self._command(asked.command),
                by=viewer.member.id,
                subject=asked.subject,
                permission=asked.permission,
                scope=asked.scope,
            )
        )

    async def revoke_grant(self, viewer: Viewer, asked: gateway_api.GrantText) -> Accepted:
        """Take a permission back."""
        return await self._membership.revoke(
            gateway_messages.RevokeFrom(
                command=self._command(asked.command),
                by=viewer.member.id,
                subject=asked.subject,
                permission=asked.permission,
                scope=asked.scope,
            )
        )

    async def tokens(self, viewer: Viewer, _asked: Nothing) -> gateway_api.TokenLines:
        """One's own tokens."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            found = await lookup.tokens_of(db, viewer.member.id)
        return gateway_api.TokenLines(
            tokens=tuple(
                gateway_api.TokenLine(
                    id=token.id,
                    kind=token.kind,
                    tier=token.tier,
                    scopes=tuple(scope for scope in Scope if scope in (token.scopes or ())),
                    expires_at=token.expires_at,
                    domains=None if token.domains is None else tuple(sorted(token.domains)),
                )
                for token in found
            )
        )

    async def issue_token(self, viewer: Viewer, asked: gateway_api.NewToken) -> gateway_messages.Issued:
        """A token for oneself or a service; its secret is in this reply and nowhere else."""
        return await self._tokens.issue(
            gateway_messages.IssueToken(
                command=self._command(asked.command),
                by=viewer.member.id,
                kind=asked.kind,
                tier=asked.tier,
                scopes=asked.scopes,
                days=asked.days,
                service=asked.service,
                domains=asked.domains,
            )
        )

    async def revoke_token(self, viewer: Viewer, asked: gateway_api.TokenName) -> Accepted:
        """Kill a token."""
        command = self._command(asked.command)
        return await self._tokens.revoke(
            gateway_messages.RevokeToken(command=command, by=viewer.member.id, token=asked.token)
        )

    async def why(self, viewer: Viewer, asked: gateway_api.Why) -> gateway_messages.Reasoning:
        """May this person see this path, and by which grant?"""
        return await self._reasons.why(
            gateway_messages.AskWhy(by=viewer.member.id, person=asked.person, path=asked.path)
        )

    def _command(self, given: CommandId | None) -> CommandId:
        return given if given is not None else CommandId(self._new_id())
