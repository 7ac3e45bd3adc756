"""The closed sets of words that a page's frontmatter may use."""

import enum


class PageType(enum.StrEnum):
    """What a page is about; `label` is the fixed English name shown to people and agents."""

    ORGANIZATION = "organization"
    PERSON = "person"
    DEPARTMENT = "department"
    PROJECT = "project"
    AGENT = "agent"
    PROCESS = "process"
    TOOL = "tool"
    STRATEGY = "strategy"
    DATA_SOURCE = "data_source"
    POLICY = "policy"
    TOPIC = "topic"

    @property
    def label(self) -> str:
        """The type as it is printed: only two differ from the word that is written."""
        if self is PageType.PROCESS:
            return "SOP / process"
        return self.value.replace("_", " ")


class ChangePolicy(enum.StrEnum):
    """Whether every change is decided under the policy, or the owner's own decision is enough."""

    GATE = "gate"
    OWNER = "owner"


class Access(enum.StrEnum):
    """Which viewer tiers may read a page. Not to be mixed with `Reach`, which also has a word "restricted"."""

    PUBLIC = "public"
    DEPARTMENT = "department"
    PROJECT = "project"
    MANAGER = "manager"
    HR = "hr"
    EXECUTIVE = "executive"
    RESTRICTED = "restricted"


class Reach(enum.StrEnum):
    """The page's `sensitivity`: which forms of grant reach it at all."""

    ORDINARY = "ordinary"
    NAMED_ONLY = "restricted"
    SEALED = "sealed"


class Criticality(enum.StrEnum):
    """How much rests on the page; sets the review window where the page names none."""

    OPERATIONAL = "operational"
    BEDROCK = "bedrock"

    @property
    def review_days(self) -> int:
        """Days until a review is due by default (domain rule: 90, and 180 for bedrock)."""
        return 180 if self is Criticality.BEDROCK else 90


class Knowledge(enum.StrEnum):
    """How sure the brain is."""

    VERIFIED = "verified"
    HYPOTHESIS = "hypothesis"
    UNRESOLVED = "unresolved"


class Verb(enum.StrEnum):
    """What one page says of another. The written form is the printed one; underscores are read as spaces."""

    IS_PART_OF = "is part of"
    BELONGS_TO = "belongs to"
    MANAGES = "manages"
    WORKS_ON = "works on"
    OWNS = "owns"
    USES = "uses"
    DEPENDS_ON = "depends on"
    GOVERNS = "governs"
    CAN_ACCESS = "can access"
    SUPPORTS = "supports"
    CHAMPIONS = "champions"
    TARGETS = "targets"
    NEEDS_CLARIFICATION_WITH = "needs clarification with"

    @classmethod
    def _missing_(cls, value: object) -> "Verb | None":
        if not isinstance(value, str) or "_" not in value:
            return None
        spaced = value.replace("_", " ")
        return next((verb for verb in cls if verb.value == spaced), None)
