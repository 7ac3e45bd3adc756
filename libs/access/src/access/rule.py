"""The one rule of sight. A page is visible when a grant covers it, the tier includes it and the domains admit it.

`predicate.sql` says the same in SQL; a property test holds the two equal on random worlds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from access.scopes import Category, Exact, Prefix, Scope, parse_scope, written
from contracts.enums import Access, Permission, Reach, Tier
from contracts.enums import Scope as TokenScope
from contracts.errors import Refused
from contracts.ids import PrincipalId

__all__ = [
    "LEVELS",
    "Caller",
    "Category",
    "Exact",
    "GrantLine",
    "PageClass",
    "Prefix",
    "Scope",
    "covers",
    "explain",
    "lower_tier",
    "parse_scope",
    "permission",
    "rank",
    "reaching",
    "written",
]

LEVELS: dict[Tier, frozenset[Access]] = {
    Tier.EMPLOYEE: frozenset({Access.PUBLIC, Access.DEPARTMENT}),
    Tier.MANAGER: frozenset({Access.PUBLIC, Access.DEPARTMENT, Access.PROJECT, Access.MANAGER}),
    Tier.ADMIN: frozenset(Access),
}
"""The access levels inside each viewer tier. An admin tier lifts this limit, never the grants."""

_RANKS = {Permission.READ: 1, Permission.SUGGEST: 2, Permission.APPROVE: 3}
_TIERS = list(Tier)


@dataclass(frozen=True, slots=True)
class PageClass:
    """What decides who may see a page: where it stands and what its bytes declare."""

    path: str
    access: Access
    reach: Reach
    category: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class GrantLine:
    """A grant as it counts: to whom, on what, how far."""

    subject: PrincipalId
    scope: Scope
    permission: Permission


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a principal with all its subjects (itself, its groups), under the ceilings of its token.

    `domains` None: the token names none, so every page passes; else a page without a domain is invisible.
    """

    principal: PrincipalId
    subjects: frozenset[PrincipalId]
    tier: Tier
    domains: frozenset[str] | None = None
    scopes: frozenset[TokenScope] = frozenset()


def rank(permission: Permission) -> int:
    """1 read, 2 suggest, 3 approve: the stronger includes the weaker."""
    return _RANKS[permission]


def lower_tier(one: Tier, other: Tier) -> Tier:
    """The narrower of two tiers: what a token can see is never more than its person can."""
    return min(one, other, key=_TIERS.index)


def covers(scope: Scope, page: PageClass) -> bool:
    """Whether a scope reaches a page: a prefix only ordinary ones, a path or category restricted too, none sealed."""
    if page.reach is Reach.SEALED:
        return False
    match scope:
        case Prefix(prefix):
            return page.reach is Reach.ORDINARY and page.path.startswith(prefix)
        case Exact(path):
            return page.path == path
        case Category(name):
            return page.category == name


def permission(grants: Iterable[GrantLine], caller: Caller, page: PageClass) -> Permission | None:
    """The strongest permission the caller holds on the page, None where the page does not exist for him."""
    if page.access not in LEVELS[caller.tier]:
        return None
    if caller.domains is not None and page.domain not in caller.domains:
        return None
    held = [line.permission for line in grants if line.subject in caller.subjects and covers(line.scope, page)]
    return max(held, key=rank, default=None)


def explain(
    grants: Iterable[GrantLine], caller: Caller, page: PageClass, names: Mapping[PrincipalId, str]
) -> list[str]:
    """The same decision in words, one reason a line, for whoever may administer grants.

    `names`: of the groups that hold a grant. A page without a category may be one whose category is not known here:
    what grants on a category do to it is told with an if.
    """
    covering, others, by_category = [], [], []
    for line in grants:
        if line.subject not in caller.subjects:
            continue
        told = f"{_whose(line, caller, names)} grant of {line.permission.value} on {written(line.scope)}"
        if covers(line.scope, page):
            covering.append(f"{told} covers it")
        elif page.reach is Reach.NAMED_ONLY and isinstance(line.scope, Prefix):
            others.append(f"{told} is a prefix, which never reaches a restricted page")
        elif page.reach is not Reach.SEALED and page.category is None and isinstance(line.scope, Category):
            by_category.append(f"{told} covers it if it is of that category")
    reasons = [*covering, *others, *by_category]
    if page.reach is Reach.SEALED:
        reasons.append("the page is sealed: no grant reaches it")
    elif not covering:
        reasons.append("no grant covers it by its path" if by_category else "no grant covers it")
    if page.access not in LEVELS[caller.tier]:
        reasons.append(f"access level {page.access.value} is above tier {caller.tier.value}")
    if caller.domains is not None and page.domain not in caller.domains:
        reasons.append("its domain is outside the token's domains")
    return reasons


def reaching(grants: Iterable[GrantLine], caller: Caller, path: str, names: Mapping[PrincipalId, str]) -> list[str]:
    """Which of the caller's grants would reach a page at `path`, one a line, said without knowing of any page there.

    `names`: of the groups that hold a grant. Nothing reaches what is no path of a page.
    """
    try:
        spot = parse_scope(path)
    except Refused:
        return []
    if not isinstance(spot, Exact):
        return []
    reasons = []
    for line in grants:
        if line.subject not in caller.subjects:
            continue
        told = f"{_whose(line, caller, names)} grant of {line.permission.value}"
        match line.scope:
            case Exact(named) if named == spot.path:
                reasons.append(f"{told} on {named} would reach a page here")
            case Prefix(prefix) if spot.path.startswith(prefix):
                reasons.append(f"{told} on {written(line.scope)} would reach an ordinary page here")
            case Category():
                reasons.append(f"{told} on {written(line.scope)} would reach a page of that category here")
            case _:
                pass
    return reasons


def _whose(line: GrantLine, caller: Caller, names: Mapping[PrincipalId, str]) -> str:
    return "own" if line.subject == caller.principal else f"group {names[line.subject]}'s"
