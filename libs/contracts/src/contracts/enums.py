"""Closed sets that facts may hold; each value is a word of the glossary."""

from enum import Enum


class Role(Enum):
    """What a member may administer, in rising order. A role reveals no content."""

    MEMBER = "member"
    MANAGER = "manager"
    ADMIN = "admin"
    OWNER = "owner"


class Tier(Enum):
    """How far up the access levels a viewer sees, in rising order."""

    EMPLOYEE = "employee"
    MANAGER = "manager"
    ADMIN = "admin"


class PrincipalKind(Enum):
    PERSON = "person"
    SERVICE = "service"


class Permission(Enum):
    """Ordered: read < suggest < approve."""

    READ = "read"
    SUGGEST = "suggest"
    APPROVE = "approve"


class TokenKind(Enum):
    """The credential kinds that this release issues. `signin` is a person's sign-in on a machine or in a browser.

    `agent`: an API key of a program, for REST under `/tools` and for the same four tools over MCP.
    """

    PERSON = "person"
    CLIENT = "client"
    AGENT = "agent"
    SIGNIN = "signin"


class Scope(Enum):
    READ = "brain:read"
    PROPOSE = "brain:propose"


class Access(Enum):
    """Which viewer tiers a page is for."""

    PUBLIC = "public"
    DEPARTMENT = "department"
    PROJECT = "project"
    MANAGER = "manager"
    HR = "hr"
    EXECUTIVE = "executive"
    RESTRICTED = "restricted"


class Reach(Enum):
    """Which grants reach a page: any, only those that name it or its category, or none. On the page: `sensitivity`."""

    ORDINARY = "ordinary"
    NAMED_ONLY = "restricted"
    SEALED = "sealed"


class Knowledge(Enum):
    VERIFIED = "verified"
    HYPOTHESIS = "hypothesis"
    UNRESOLVED = "unresolved"


class AuthorKind(Enum):
    PERSON = "person"
    BOT = "bot"


class Region(Enum):
    """Where the bytes of a capture were processed."""

    LOCAL = "local"


class Refusal(Enum):
    """Why a capture was refused. The category only: never what matched."""

    CREDENTIAL = "credential"
    PAYMENT_CARD = "payment_card"
    BANK_ACCOUNT = "bank_account"
    NATIONAL_ID = "national_id"
    INVALID_UTF8 = "invalid_utf8"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    FRONTMATTER = "frontmatter"
    PATH = "path"
    PATH_COLLISION = "path_collision"
    EMPTY = "empty"
    FORBIDDEN = "forbidden"


class Gate(Enum):
    """The literal histories that decisions race against."""

    FENCE = "fence"
    ACCESS = "access"
    POLICY = "policy"
    PATH = "path"


class ProposalKind(Enum):
    PAGE = "page"
    BUILD = "build"
    REVIEW = "review"
    OBSERVATION = "observation"
    CORRECTION = "correction"
    PROPOSAL = "proposal"
    WORK_OUTPUT = "work_output"


class PageAction(Enum):
    CREATE = "create"
    EDIT = "edit"
    RENAME = "rename"
    DEPRECATE = "deprecate"


class Origin(Enum):
    PERSON = "person"
    AGENT = "agent"
    IMPORT = "import"
    FRESHNESS = "freshness"


class Verdict(Enum):
    APPROVE = "approve"
    REJECT = "reject"


class Reason(Enum):
    """Why a proposal was rejected; a client may parse it."""

    WRONG = "wrong"
    DUPLICATE = "duplicate"
    NOT_CANON_WORTHY = "not_canon_worthy"
    BAD_DRAFT = "bad_draft"
    OTHER = "other"


class Outcome(Enum):
    APPROVED = "approved"
    REJECTED = "rejected"


class LogStream(Enum):
    EVT = "EVT"
    CAP = "CAP"
