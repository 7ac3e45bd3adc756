"""One name for each operation, whatever door it came by, and the doors themselves."""

from enum import Enum

from contracts import gateway_api as api
from contracts import gateway_audit as audit
from gateway.mcp.protocol import ENDPOINTS
from gateway.oauth import discovery


class Door(Enum):
    """A way into this service."""

    MCP = "mcp"
    CONSOLE = "console"
    REST = "rest"
    OAUTH = "oauth"
    BROWSER = "browser"
    BUS = "bus"
    OTHER = "other"


AUTHENTICATE = "authenticate"
"""What a call is that nobody stands behind, whatever it would have become."""
SIGNED_OUT = "not_signed_in"
MESSAGE = "mcp_message"
"""A message of MCP that was refused before it could be read."""
UNKNOWN_TOOL = "unknown_tool"
UNKNOWN_METHOD = "unknown_method"
READ_PAGE = "read_page"

CONSOLE = {
    api.WHOAMI: "whoami",
    api.MEMBERS: "list_members",
    api.MEMBER_ADD: "add_member",
    api.MEMBER_REMOVE: "remove_member",
    api.MEMBER_ROLE: "change_role",
    api.GROUPS: "list_groups",
    api.GROUP_SET: "set_group",
    api.GRANTS: "list_grants",
    api.GRANT_ADD: "grant",
    api.GRANT_REVOKE: "revoke_grant",
    api.TOKENS: "list_tokens",
    api.TOKEN_ISSUE: "issue_token",
    api.TOKEN_REVOKE: "revoke_token",
    api.WHY: "why",
    api.PROPOSALS: "list_proposals",
    api.PROPOSAL: "read_proposal",
    api.APPROVE: "approve_proposal",
    api.REJECT: "reject_proposal",
    api.WITHDRAW: "withdraw_proposal",
    api.IMPORT_PART: "import_part",
    api.IMPORT_FINISH: "finish_import",
    api.LIMITS: "list_limits",
    api.LIMIT_SET: "set_limit",
    api.COSTS: "list_costs",
    audit.AUDIT: "read_audit",
    audit.AUDIT_VERIFY: "verify_audit",
    audit.TRACE: "trace_request",
}
"""By path. Where the bus has the same command, it has the same name."""

_REST = {
    ("POST", "/tools/query"): "query",
    ("GET", "/tools/conflicts"): "list_conflicts",
    ("POST", "/tools/proposals"): "propose_update",
    ("GET", "/tools/openapi.json"): "rest_description",
}
_OAUTH = {
    discovery.AUTHORIZE: "oauth_authorize",
    discovery.CONSENT: "oauth_consent",
    discovery.REGISTER: "oauth_register",
    discovery.TOKEN: "oauth_token",
    discovery.REVOKE: "oauth_revoke",
}
_BROWSER = {"/signin": "use_signin_link", "/signout": "sign_out"}
_METHODS = {
    "initialize": "initialize",
    "ping": "ping",
    "server/discover": "discover",
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "resources/read": READ_PAGE,
    "prompts/list": "list_prompts",
    "prompts/get": "get_prompt",
    "completion/complete": "complete",
}


def by_path(method: str, path: str) -> tuple[Door, str, bool]:
    """The door of an HTTP request, what it is as far as its path tells, and whether it may change something."""
    plain = path.rstrip("/")
    posted = method == "POST"
    if plain in ENDPOINTS:
        return Door.MCP, MESSAGE, False
    if plain in CONSOLE:
        return Door.CONSOLE, CONSOLE[plain], posted
    if plain.startswith("/tools/"):
        return _of_agents(method, plain)
    if plain in _BROWSER:
        return Door.BROWSER, _BROWSER[plain], True
    if plain in _OAUTH or plain.startswith("/.well-known/"):
        return Door.OAUTH, _OAUTH.get(plain, "oauth_discovery"), posted and plain in _OAUTH
    return (Door.CONSOLE if plain.startswith("/api/v1/") else Door.OTHER), "unknown_route", False


def _of_agents(method: str, plain: str) -> tuple[Door, str, bool]:
    entry = method == "GET" and plain.startswith("/tools/entries/")
    operation = "get_entry" if entry else _REST.get((method, plain), "unknown_route")
    return Door.REST, operation, operation == "propose_update"


def by_method(method: str) -> str:
    """What a message of MCP asks for that is no call of a tool."""
    return "notify" if method.startswith("notifications/") or not method else _METHODS.get(method, UNKNOWN_METHOD)
