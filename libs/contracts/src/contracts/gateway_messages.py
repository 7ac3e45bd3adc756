"""What gateway is asked over NATS. Commands of the operator are sent by the console, which holds the brain's keys."""

from datetime import datetime
from uuid import UUID

import msgspec

from contracts.enums import Permission, PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.ids import BrainId, CommandId, GrantId, PrincipalId, TokenId

OPEN_BRAIN = "cmd.gateway.open_brain"
ADD_MEMBER = "cmd.gateway.add_member"
REMOVE_MEMBER = "cmd.gateway.remove_member"
CHANGE_ROLE = "cmd.gateway.change_role"
SET_GROUP = "cmd.gateway.set_group"
GRANT = "cmd.gateway.grant"
REVOKE_GRANT = "cmd.gateway.revoke_grant"
ISSUE_TOKEN = "cmd.gateway.issue_token"  # noqa: S105 - a subject
REVOKE_TOKEN = "cmd.gateway.revoke_token"  # noqa: S105 - a subject
SIGN_IN = "cmd.gateway.sign_in"
RECORD_RUN = "cmd.gateway.record_run"
SESSION = "ask.gateway.session"
WHY = "ask.gateway.why"

LONGEST_TOKEN_DAYS = 365
"""Days that a token with an end lasts at most."""


def session_cookie(brain: BrainId) -> str:
    """The name of a brain's session cookie: ports of one host share cookies, so that two brains need two names."""
    return f"brain_session_{brain.hex[:8]}"


class OpenBrain(msgspec.Struct, frozen=True, kw_only=True):
    """Operator: begin the brain with its first owner (role owner, tier admin, approve on `**`); everyone reads `**`.

    Said twice, true once.
    """

    command: CommandId
    owner: str


class AddMember(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: 1-64 of a-z, 0-9, hyphen. Needs role admin or owner."""

    command: CommandId
    by: PrincipalId
    name: str
    role: Role
    tier: Tier
    kind: PrincipalKind = PrincipalKind.PERSON


class RemoveMember(msgspec.Struct, frozen=True, kw_only=True):
    command: CommandId
    by: PrincipalId
    name: str


class ChangeRole(msgspec.Struct, frozen=True, kw_only=True):
    """Set a member's role and tier. Needs role admin or owner, and none of the roles concerned above one's own."""

    command: CommandId
    by: PrincipalId
    name: str
    role: Role
    tier: Tier


class SetGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group has exactly these members from now on, by name. Needs role admin or owner."""

    command: CommandId
    by: PrincipalId
    name: str
    members: tuple[str, ...]


class GrantTo(msgspec.Struct, frozen=True, kw_only=True):
    """`subject`: a member's or group's name. `scope`: `exact/path.md`, `prefix/**`, `**` or `category:name`."""

    command: CommandId
    by: PrincipalId
    subject: str
    permission: Permission
    scope: str


class RevokeFrom(msgspec.Struct, frozen=True, kw_only=True):
    command: CommandId
    by: PrincipalId
    subject: str
    permission: Permission
    scope: str


class IssueToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token for oneself, or an admin's for the `service` of that name. `tier` is never above its principal's own.

    `domains`: of a token of kind agent, the domains whose pages it may see; none named: those of any.
    """

    command: CommandId
    by: PrincipalId
    kind: TokenKind
    tier: Tier
    scopes: tuple[Scope, ...]
    days: int | None = 90
    service: str = ""
    domains: tuple[str, ...] = ()


class RevokeToken(msgspec.Struct, frozen=True, kw_only=True):
    command: CommandId
    by: PrincipalId
    token: TokenId


class SignIn(msgspec.Struct, frozen=True, kw_only=True):
    """Operator: a sign-in for a member. `link`: a one-time web link instead of a stored token."""

    command: CommandId
    name: str
    link: bool = False


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """A secret, shown once. `secret` is a `brain_...` token, or a one-time code for a link."""

    token: TokenId
    secret: str
    position: int
    archived: bool
    expires_at: datetime | None = None


class MemberAdded(msgspec.Struct, frozen=True, kw_only=True):
    member: PrincipalId
    position: int
    archived: bool


class GroupSet(msgspec.Struct, frozen=True, kw_only=True):
    group: PrincipalId
    position: int
    archived: bool


class GrantMade(msgspec.Struct, frozen=True, kw_only=True):
    grant: GrantId
    position: int
    archived: bool


class RecordRun(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a chat ended: the model used so many tokens. `acted`: it ran a tool that changes or makes something.

    A retry carries the same `run`.
    """

    run: UUID
    principal: PrincipalId
    tokens: int
    acted: bool


class RunRecorded(msgspec.Struct, frozen=True, kw_only=True):
    run: UUID


class AskSession(msgspec.Struct, frozen=True, kw_only=True):
    """Whose browser session is this? `cookie` is the session cookie's value."""

    cookie: str


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in active member. `csrf` binds forms to the session."""

    principal: PrincipalId
    name: str
    role: Role
    tier: Tier
    csrf: str


class AskWhy(msgspec.Struct, frozen=True, kw_only=True):
    """May `person` see `path`, and by which grant? `by` needs role admin or owner, or is that person."""

    by: PrincipalId
    person: str
    path: str


class Reasoning(msgspec.Struct, frozen=True, kw_only=True):
    """`permission` is the strongest that the grants give on this page, None where it is not visible.

    `visible` None: the asker sees no page at this path, so nothing is told of another's sight of it.
    """

    person: str
    path: str
    visible: bool | None
    permission: Permission | None
    reasons: tuple[str, ...]
    position: int
