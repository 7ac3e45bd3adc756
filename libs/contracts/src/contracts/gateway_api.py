"""What the console asks of gateway over HTTP, as JSON with the bearer of a person's sign-in.

Each path stands with its method, request and reply. Paths take no parameters; a GET takes its request as a query.
A refusal is `{"error": {"code", "what", "where", "remedy", "request_id"}}` with 400 (not JSON), 401, 403, 404,
409 (the world has moved), 413, 422 (a field or rule), 429 (too many in this minute) or 503, both with Retry-After.
"""

from datetime import date, datetime

import msgspec

from contracts.enums import Permission, PrincipalKind, Reason, Role, Scope, Tier, TokenKind
from contracts.ids import CommandId, ImportId, PageId, PrincipalId, ProposalId, TokenId
from contracts.ingest_messages import ImportFile, ImportOptions

WHOAMI = "/api/v1/whoami"  # GET -> WhoAmI
MEMBERS = "/api/v1/members"  # GET -> MemberLines
MEMBER_ADD = "/api/v1/members/add"  # POST NewMember -> gateway_messages.MemberAdded
MEMBER_REMOVE = "/api/v1/members/remove"  # POST MemberName -> replies.Accepted
MEMBER_ROLE = "/api/v1/members/role"  # POST MemberRole -> replies.Accepted
GROUPS = "/api/v1/groups"  # GET -> GroupLines
GROUP_SET = "/api/v1/groups/set"  # POST Group -> gateway_messages.GroupSet
GRANTS = "/api/v1/grants"  # GET GrantsOf -> GrantLines
GRANT_ADD = "/api/v1/grants/add"  # POST GrantText -> gateway_messages.GrantMade
GRANT_REVOKE = "/api/v1/grants/revoke"  # POST GrantText -> replies.Accepted
TOKENS = "/api/v1/tokens"  # GET -> TokenLines
TOKEN_ISSUE = "/api/v1/tokens/issue"  # noqa: S105 - a path. POST NewToken -> gateway_messages.Issued
TOKEN_REVOKE = "/api/v1/tokens/revoke"  # noqa: S105 - a path. POST TokenName -> replies.Accepted
WHY = "/api/v1/why"  # GET Why -> gateway_messages.Reasoning
PROPOSALS = "/api/v1/proposals"  # GET ProposalsAfter -> approvals_messages.ProposalLines
PROPOSAL = "/api/v1/proposal"  # GET OneProposal -> approvals_messages.ProposalView
APPROVE = "/api/v1/proposals/approve"  # POST Approve -> approvals_messages.Decided
REJECT = "/api/v1/proposals/reject"  # POST Reject -> approvals_messages.Decided
WITHDRAW = "/api/v1/proposals/withdraw"  # POST WithdrawText -> replies.Accepted
IMPORT_PART = "/api/v1/import/part"  # POST ImportPart -> ingest_messages.ImportedPart
IMPORT_FINISH = "/api/v1/import/finish"  # POST ImportEnd -> ingest_messages.Imported
LIMITS = "/api/v1/limits"  # GET -> LimitLines
LIMIT_SET = "/api/v1/limits/set"  # POST NewLimit -> LimitLines
COSTS = "/api/v1/costs"  # GET CostsOf -> CostLines


class WhoAmI(msgspec.Struct, frozen=True, kw_only=True):
    """Who is signed in."""

    principal: PrincipalId
    name: str
    role: Role
    tier: Tier


class MemberLine(msgspec.Struct, frozen=True, kw_only=True):
    """An active member."""

    id: PrincipalId
    name: str
    kind: PrincipalKind
    role: Role
    tier: Tier


class MemberLines(msgspec.Struct, frozen=True, kw_only=True):
    members: tuple[MemberLine, ...]


class NewMember(msgspec.Struct, frozen=True, kw_only=True):
    """A retry carries the same `command`; without one gateway makes it. So in every request below."""

    name: str
    role: Role = Role.MEMBER
    tier: Tier = Tier.EMPLOYEE
    kind: PrincipalKind = PrincipalKind.PERSON
    command: CommandId | None = None


class MemberName(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    command: CommandId | None = None


class MemberRole(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    role: Role
    tier: Tier
    command: CommandId | None = None


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """`members`: the names of all its members from now on."""

    name: str
    members: tuple[str, ...]
    command: CommandId | None = None


class GroupLine(msgspec.Struct, frozen=True, kw_only=True):
    """`members`: the names of its active members, None for `everyone`, to whom everybody belongs."""

    name: str
    members: tuple[str, ...] | None


class GroupLines(msgspec.Struct, frozen=True, kw_only=True):
    """Every group, by name. Needs role admin or owner."""

    groups: tuple[GroupLine, ...]


class GrantsOf(msgspec.Struct, frozen=True, kw_only=True):
    """A member's or group's name; "" is the asker. Others' grants are for admins."""

    subject: str = ""


class GrantLine(msgspec.Struct, frozen=True, kw_only=True):
    """`subject`: the name of the member or group that holds the grant."""

    subject: str
    permission: Permission
    scope: str


class GrantLines(msgspec.Struct, frozen=True, kw_only=True):
    grants: tuple[GrantLine, ...]


class GrantText(msgspec.Struct, frozen=True, kw_only=True):
    """`subject`: a member's or group's name. `scope`: `exact/path.md`, `prefix/**`, `**` or `category:name`."""

    subject: str
    permission: Permission
    scope: str
    command: CommandId | None = None


class TokenLine(msgspec.Struct, frozen=True, kw_only=True):
    """A token of the asker, never its secret. `domains` None: it sees pages of any."""

    id: TokenId
    kind: TokenKind
    tier: Tier
    scopes: tuple[Scope, ...]
    expires_at: datetime | None
    domains: tuple[str, ...] | None = None


class TokenLines(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[TokenLine, ...]


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token for the asker, or an admin's for the service of that name. `days` None: it does not expire.

    `domains`: of a token of kind agent, the domains whose pages it may see; none named: those of any.
    """

    tier: Tier
    scopes: tuple[Scope, ...] = (Scope.READ,)
    kind: TokenKind = TokenKind.PERSON
    days: int | None = 90
    service: str = ""
    domains: tuple[str, ...] = ()
    command: CommandId | None = None


class TokenName(msgspec.Struct, frozen=True, kw_only=True):
    token: TokenId
    command: CommandId | None = None


class Why(msgspec.Struct, frozen=True, kw_only=True):
    person: str
    path: str


class ProposalsAfter(msgspec.Struct, frozen=True, kw_only=True):
    """`after`: the cursor that the page before gave as `next`."""

    after: str = ""
    limit: int = 200


class OneProposal(msgspec.Struct, frozen=True, kw_only=True):
    """`page`: which page of a build to read, none for the list of them."""

    proposal: ProposalId
    page: PageId | None = None


class Approve(msgspec.Struct, frozen=True, kw_only=True):
    """`digest`: what `approvals_messages.ProposalLine.digest` was when it was read."""

    proposal: ProposalId
    digest: str
    command: CommandId | None = None


class Reject(msgspec.Struct, frozen=True, kw_only=True):
    proposal: ProposalId
    reason: Reason
    note: str = ""
    digest: str | None = None
    command: CommandId | None = None


class WithdrawText(msgspec.Struct, frozen=True, kw_only=True):
    proposal: ProposalId
    command: CommandId | None = None


class ImportPart(msgspec.Struct, frozen=True, kw_only=True):
    """As `ingest_messages.ImportFiles`, of the person who is signed in. At most 1 MiB as JSON."""

    import_id: ImportId
    part: int
    options: ImportOptions
    files: tuple[ImportFile, ...]
    colliding: tuple[str, ...] = ()


class ImportEnd(msgspec.Struct, frozen=True, kw_only=True):
    """As `ingest_messages.FinishImport`, of the person who is signed in."""

    import_id: ImportId
    options: ImportOptions
    sync: bool = False
    present: tuple[str, ...] = ()


class LimitLine(msgspec.Struct, frozen=True, kw_only=True):
    """How many calls in a minute; `counts` says which. `changed_by` and `changed_at`: who set it last, and when."""

    name: str
    per_minute: int
    default: int
    counts: str
    changed_by: PrincipalId | None = None
    changed_at: datetime | None = None


class LimitLines(msgspec.Struct, frozen=True, kw_only=True):
    limits: tuple[LimitLine, ...]


class NewLimit(msgspec.Struct, frozen=True, kw_only=True):
    """`per_minute` None is the default. Needs role admin or owner."""

    name: str
    per_minute: int | None = None


class CostsOf(msgspec.Struct, frozen=True, kw_only=True):
    """The last so many days, today among them. Needs role admin or owner."""

    days: int = 30


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """A day (UTC) and category. `refused` calls are in no other number; `tokens` are those of models."""

    day: date
    category: str
    billable: bool
    calls: int
    refused: int
    tokens: int


class CostLines(msgspec.Struct, frozen=True, kw_only=True):
    costs: tuple[CostLine, ...]
