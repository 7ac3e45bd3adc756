from uuid import UUID

import pytest

from access.rule import (
    Caller,
    Category,
    Exact,
    GrantLine,
    PageClass,
    Prefix,
    Scope,
    explain,
    lower_tier,
    permission,
    reaching,
)
from contracts.enums import Access, Permission, Reach, Tier
from contracts.ids import PrincipalId

ALICE = PrincipalId(UUID(int=1))
TEAM = PrincipalId(UUID(int=2))
OTHER = PrincipalId(UUID(int=3))
NAMES = {TEAM: "team"}


def a_caller(tier: Tier = Tier.ADMIN, domains: frozenset[str] | None = None) -> Caller:
    return Caller(principal=ALICE, subjects=frozenset({ALICE, TEAM}), tier=tier, domains=domains)


def a_page(
    reach: Reach = Reach.ORDINARY, access: Access = Access.DEPARTMENT, domain: str | None = "pricing"
) -> PageClass:
    return PageClass("topics/pricing/ceiling.md", access, reach, "commercial", domain)


def held(scope: Scope, permission: Permission = Permission.READ, subject: PrincipalId = ALICE) -> GrantLine:
    return GrantLine(subject, scope, permission)


def test_without_a_grant_nothing_is_visible_whatever_the_tier() -> None:
    assert permission([], a_caller(), a_page()) is None
    assert permission([held(Prefix(""), subject=OTHER)], a_caller(), a_page()) is None


@pytest.mark.parametrize("scope", [Prefix(""), Prefix("topics/"), Exact("topics/pricing/ceiling.md")])
def test_a_path_form_covers_what_it_names(scope: Scope) -> None:
    assert permission([held(scope)], a_caller(), a_page()) is Permission.READ


@pytest.mark.parametrize("scope", [Prefix("topics/prices/"), Exact("topics/pricing.md"), Category("legal")])
def test_another_scope_does_not_cover(scope: Scope) -> None:
    assert permission([held(scope)], a_caller(), a_page()) is None


def test_the_strongest_matching_grant_counts_and_a_group_grants_too() -> None:
    grants = [held(Prefix(""), Permission.SUGGEST), held(Category("commercial"), Permission.APPROVE, TEAM)]
    assert permission(grants, a_caller(), a_page()) is Permission.APPROVE


def test_a_prefix_never_reaches_a_restricted_page_but_its_path_and_its_category_do() -> None:
    page = a_page(Reach.NAMED_ONLY)
    assert permission([held(Prefix(""), Permission.APPROVE)], a_caller(), page) is None
    assert permission([held(Exact(page.path))], a_caller(), page) is Permission.READ
    assert permission([held(Category("commercial"))], a_caller(), page) is Permission.READ


def test_nothing_reaches_a_sealed_page() -> None:
    page = a_page(Reach.SEALED)
    grants = [held(scope, Permission.APPROVE) for scope in (Prefix(""), Exact(page.path), Category("commercial"))]
    assert permission(grants, a_caller(), page) is None


@pytest.mark.parametrize(
    ("tier", "seen"),
    [
        (Tier.EMPLOYEE, {Access.PUBLIC, Access.DEPARTMENT}),
        (Tier.MANAGER, {Access.PUBLIC, Access.DEPARTMENT, Access.PROJECT, Access.MANAGER}),
        (Tier.ADMIN, set(Access)),
    ],
)
def test_a_tier_includes_exactly_its_levels(tier: Tier, seen: set[Access]) -> None:
    grants = [held(Prefix(""))]
    visible = {access for access in Access if permission(grants, a_caller(tier), a_page(access=access)) is not None}
    assert visible == seen


def test_a_tokens_domains_hide_other_domains_and_pages_without_one() -> None:
    caller = a_caller(domains=frozenset({"pricing"}))
    grants = [held(Prefix(""))]
    assert permission(grants, caller, a_page()) is Permission.READ
    assert permission(grants, caller, a_page(domain="org")) is None
    assert permission(grants, caller, a_page(domain=None)) is None


def test_a_tokens_tier_is_never_above_its_persons() -> None:
    assert lower_tier(Tier.EMPLOYEE, Tier.ADMIN) is Tier.EMPLOYEE
    assert lower_tier(Tier.ADMIN, Tier.MANAGER) is Tier.MANAGER


def test_grants_that_would_reach_a_path_are_told_without_a_page() -> None:
    grants = [
        held(Prefix("topics/"), Permission.APPROVE),
        held(Exact("topics/a.md")),
        held(Category("hr"), subject=TEAM),
        held(Prefix("people/")),
        held(Exact("topics/b.md")),
        held(Prefix(""), subject=PrincipalId(UUID(int=99))),
    ]
    assert reaching(grants, a_caller(), "topics/a.md", NAMES) == [
        "own grant of approve on topics/** would reach an ordinary page here",
        "own grant of read on topics/a.md would reach a page here",
        "group team's grant of read on category:hr would reach a page of that category here",
    ]


@pytest.mark.parametrize("path", ["", "**", "topics/**", "../x", "topics/A.md", "category:hr", "n_" + "0" * 32])
def test_no_grant_reaches_what_is_no_path_of_a_page(path: str) -> None:
    assert reaching([held(Prefix("")), held(Category("hr"))], a_caller(), path, NAMES) == []


def test_reasons_name_the_grant_that_covers_and_what_stands_against() -> None:
    grants = [held(Prefix(""), subject=TEAM)]
    assert explain(grants, a_caller(), a_page(), NAMES) == ["group team's grant of read on ** covers it"]
    against = explain(grants, a_caller(Tier.EMPLOYEE), a_page(Reach.NAMED_ONLY, Access.EXECUTIVE), NAMES)
    assert against == [
        "group team's grant of read on ** is a prefix, which never reaches a restricted page",
        "no grant covers it",
        "access level executive is above tier employee",
    ]


def test_what_a_grant_on_a_category_does_to_a_page_of_unknown_category_is_told_with_an_if() -> None:
    page = PageClass("hr/salary-bands.md", Access.EXECUTIVE, Reach.NAMED_ONLY)
    by_category = held(Category("salaries"), Permission.APPROVE)
    assert explain([by_category], a_caller(), page, NAMES) == [
        "own grant of approve on category:salaries covers it if it is of that category",
        "no grant covers it by its path",
    ]
    covering = held(Exact(page.path))
    assert explain([by_category, covering], a_caller(), page, NAMES) == [
        "own grant of read on hr/salary-bands.md covers it",
        "own grant of approve on category:salaries covers it if it is of that category",
    ]
    assert explain([by_category], a_caller(), PageClass(page.path, Access.EXECUTIVE, Reach.SEALED), NAMES) == [
        "the page is sealed: no grant reaches it"
    ]
