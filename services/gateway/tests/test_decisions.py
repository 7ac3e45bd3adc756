"""Given who stands where, when somebody asks, then these facts, or this refusal."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.records import Grant, Member, Token
from access.rule import GrantLine
from access.scopes import Category, Exact, Prefix, Scope
from contracts import access_facts as facts
from contracts import subjects
from contracts.content import ContentRef
from contracts.enums import Gate, Permission, PrincipalKind, Role, Tier, TokenKind
from contracts.enums import Scope as TokenScope
from contracts.errors import Refused
from contracts.ids import BrainId, ContentId, GrantId, PrincipalId, TokenId, everyone
from gateway.domain import gates, grants, groups, members, opening, tokens
from gateway.domain.standing import Standing, Subject

BRAIN = BrainId(uuid4())
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BODY = ContentRef(ContentId(uuid4()), "0" * 64)
GRANT = GrantId(uuid4())
FRESH = (TokenId(uuid4()), "d" * 64)
CROWD = Standing(owners=2, administrators=3)
ALONE = Standing(owners=1, administrators=1)


def a_member(name: str = "bob", role: Role = Role.MEMBER, tier: Tier = Tier.EMPLOYEE, *, active: bool = True) -> Member:
    made = members.person(BRAIN, name, role, tier)
    return made if active else Member(made.id, made.kind, made.name, made.role, made.tier, active=False)


ALICE = a_member("alice", Role.OWNER, Tier.ADMIN)
ADA = a_member("ada", Role.ADMIN, Tier.MANAGER)
BOB = a_member()


def a_subject(member: Member = BOB, *held: tuple[Scope, Permission], includes_asker: bool = False) -> Subject:
    lines = tuple(Grant(GrantId(uuid4()), GrantLine(member.id, scope, permission)) for scope, permission in held)
    return Subject(member.id, member.name, member, lines, includes_asker)


def code(refused: pytest.ExceptionInfo[Refused]) -> str:
    return refused.value.code


# joining, leaving, roles


def test_an_admin_adds_a_member() -> None:
    said = members.join(ADA, None, BOB, BODY)
    assert said == [
        (
            BOB.id,
            facts.MemberJoined(
                member=BOB.id, kind=PrincipalKind.PERSON, profile=BODY, role=Role.MEMBER, tier=Tier.EMPLOYEE
            ),
        )
    ]


def test_the_same_member_added_again_is_already_there() -> None:
    assert members.join(ADA, BOB, BOB, BODY) == []


@pytest.mark.parametrize("before", [a_member(role=Role.MANAGER), a_member(active=False)])
def test_a_name_that_is_or_was_taken_is_not_given_again(before: Member) -> None:
    with pytest.raises(Refused) as refused:
        members.join(ADA, before, BOB, BODY)
    assert code(refused) == "name_taken"


@pytest.mark.parametrize(("by", "reason"), [(None, "not_a_member"), (BOB, "forbidden"), (ADA, "forbidden")])
def test_nobody_gives_a_role_above_his_own(by: Member | None, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        members.join(by, None, a_member("eve", Role.OWNER), BODY)
    assert code(refused) == reason


@pytest.mark.parametrize("name", ["", "Bob", "b b", "-b", "b-", "b--b", "bøb", "b" * 65, "b\n"])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        members.check_name(name)
    assert code(refused) == "name_malformed"


def test_a_groups_name_is_no_members_name() -> None:
    with pytest.raises(Refused) as refused:
        members.check_name("everyone")
    assert code(refused) == "name_taken"


def test_an_admin_ends_a_membership_and_anyone_ends_his_own() -> None:
    assert members.leave(ADA, BOB, CROWD) == [(BOB.id, facts.MemberLeft(member=BOB.id))]
    assert members.leave(BOB, BOB, CROWD) == [(BOB.id, facts.MemberLeft(member=BOB.id))]
    assert members.leave(ADA, a_member(active=False), CROWD) == []
    with pytest.raises(Refused) as refused:
        members.leave(BOB, a_member("carol"), CROWD)
    assert code(refused) == "forbidden"
    with pytest.raises(Refused) as refused:
        members.leave(ADA, ALICE, CROWD)
    assert code(refused) == "forbidden"


def test_the_last_owner_neither_leaves_nor_steps_down() -> None:
    with pytest.raises(Refused) as refused:
        members.leave(ALICE, ALICE, ALONE)
    assert code(refused) == "last_owner"
    with pytest.raises(Refused) as refused:
        members.change_role(ALICE, ALICE, Role.ADMIN, Tier.ADMIN, ALONE)
    assert code(refused) == "last_owner"
    assert members.leave(ALICE, ALICE, CROWD) != []


def test_a_role_changes_once_and_not_beyond_the_askers_own() -> None:
    said = members.change_role(ADA, BOB, Role.MANAGER, Tier.MANAGER, CROWD)
    assert said == [(BOB.id, facts.RoleChanged(member=BOB.id, role=Role.MANAGER, tier=Tier.MANAGER))]
    assert members.change_role(ADA, BOB, BOB.role, BOB.tier, CROWD) == []
    for asker, member, role in ((ADA, BOB, Role.OWNER), (ADA, ALICE, Role.MEMBER), (BOB, BOB, Role.ADMIN)):
        with pytest.raises(Refused) as refused:
            members.change_role(asker, member, role, Tier.EMPLOYEE, CROWD)
        assert code(refused) == "forbidden"


def test_a_group_has_exactly_the_members_it_was_given_last() -> None:
    group = (groups.group_id(BRAIN, "sales"), BODY)
    ((whose, fact),) = groups.set_members(ADA, None, (), [BOB, ADA, BOB], group)
    assert whose == group[0]
    assert isinstance(fact, facts.GroupChanged)
    assert fact.members == tuple(sorted([ADA.id, BOB.id]))
    assert groups.set_members(ADA, None, fact.members, [ADA, BOB], group) == []
    assert gates.narrows(fact, members=[a_member("carol").id])
    assert not gates.narrows(fact, members=[BOB.id])


@pytest.mark.parametrize(
    ("by", "namesake", "wanted", "reason"),
    [
        (BOB, None, [BOB], "forbidden"),
        (ADA, BOB, [BOB], "name_taken"),
        (ADA, None, [BOB, None], "no_such_member"),
        (ADA, None, [a_member(active=False)], "no_such_member"),
    ],
)
def test_a_group_of_strangers_or_by_a_stranger_is_refused(
    by: Member, namesake: Member | None, wanted: list[Member | None], reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        groups.set_members(by, namesake, (), wanted, (groups.group_id(BRAIN, "sales"), BODY))
    assert code(refused) == reason


def test_nobody_sets_everyone_and_no_member_takes_a_groups_name() -> None:
    with pytest.raises(Refused) as refused:
        groups.group_id(BRAIN, "everyone")
    assert code(refused) == "name_taken"
    with pytest.raises(Refused) as refused:
        members.join(ADA, None, BOB, BODY, PrincipalId(uuid4()))
    assert code(refused) == "name_taken"


# grants


def test_an_admin_grants_and_a_grant_that_is_held_is_not_given_twice() -> None:
    wanted = (Prefix("topics/"), Permission.READ)
    said = grants.grant(ADA, a_subject(), wanted, CROWD, GRANT, BODY)
    assert said == [(BOB.id, facts.Granted(grant=GRANT, subject=BOB.id, scope=BODY, permission=Permission.READ))]
    assert grants.grant(ADA, a_subject(BOB, wanted), wanted, CROWD, GRANT, BODY) == []


def test_a_member_without_the_role_grants_nothing() -> None:
    with pytest.raises(Refused) as refused:
        grants.grant(BOB, a_subject(), (Prefix(""), Permission.READ), CROWD, GRANT, BODY)
    assert code(refused) == "forbidden"


@pytest.mark.parametrize("subject", [None, a_subject(a_member(active=False))])
def test_nobody_who_is_not_there_is_granted_anything(subject: Subject | None) -> None:
    with pytest.raises(Refused) as refused:
        grants.grant(ADA, subject, (Prefix(""), Permission.READ), CROWD, GRANT, BODY)
    assert code(refused) == "no_such_member"


@pytest.mark.parametrize(
    ("scope", "permission"),
    [(Prefix(""), Permission.APPROVE), (Exact("a.md"), Permission.READ), (Category("hr"), Permission.READ)],
)
@pytest.mark.parametrize("subject", [a_subject(ADA), a_subject(BOB, includes_asker=True)])
def test_a_far_reaching_grant_to_oneself_takes_a_second_admin(
    scope: Scope, permission: Permission, subject: Subject
) -> None:
    with pytest.raises(Refused) as refused:
        grants.grant(ADA, subject, (scope, permission), CROWD, GRANT, BODY)
    assert code(refused) == "second_admin_needed"
    assert grants.grant(ADA, subject, (scope, permission), ALONE, GRANT, BODY) != []


def test_reading_ordinary_pages_may_be_granted_to_oneself() -> None:
    assert grants.grant(ADA, a_subject(ADA), (Prefix("topics/"), Permission.READ), CROWD, GRANT, BODY) != []


def test_a_grant_is_revoked_exactly_as_it_was_given() -> None:
    held = (Prefix("topics/"), Permission.APPROVE)
    subject = a_subject(BOB, held)
    assert grants.revoke(ADA, subject, *held) == [(BOB.id, facts.Revoked(grant=subject.grants[0].id, subject=BOB.id))]
    for scope, permission in ((Prefix("topics/"), Permission.READ), (Prefix(""), Permission.APPROVE)):
        with pytest.raises(Refused) as refused:
            grants.revoke(ADA, subject, scope, permission)
        assert code(refused) == "no_such_grant"


# tokens


def wanted(
    kind: TokenKind = TokenKind.PERSON, tier: Tier = Tier.EMPLOYEE, *scopes: TokenScope
) -> tuple[TokenKind, Tier, frozenset[TokenScope]]:
    return kind, tier, frozenset(scopes)


def test_a_member_issues_a_token_that_always_reads_and_carries_its_end() -> None:
    ((whose, fact),) = tokens.issue(BOB, BOB, wanted(TokenKind.CLIENT), FRESH, NOW, 90)
    assert whose == BOB.id
    assert isinstance(fact, facts.TokenIssued)
    assert fact.scopes == (TokenScope.READ,)
    assert fact.expires_at == NOW + timedelta(days=90)
    assert (fact.token, fact.digest) == FRESH


@pytest.mark.parametrize(
    ("by", "asked", "days", "reason"),
    [
        (None, wanted(), 90, "not_a_member"),
        (a_member(active=False), wanted(), 90, "not_a_member"),
        (BOB, wanted(tier=Tier.MANAGER), 90, "tier_too_low"),
        (BOB, wanted(TokenKind.SIGNIN), 90, "kind_refused"),
        (BOB, wanted(), 0, "days_out_of_range"),
        (BOB, wanted(), 366, "days_out_of_range"),
    ],
)
def test_a_token_is_never_more_than_its_person(
    by: Member | None, asked: tuple[TokenKind, Tier, frozenset[TokenScope]], days: int, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        tokens.issue(by, by, asked, FRESH, NOW, days)
    assert code(refused) == reason


def test_an_admin_issues_tokens_for_services_and_for_no_other_person() -> None:
    robot = members.person(BRAIN, "robot", Role.MEMBER, Tier.EMPLOYEE, PrincipalKind.SERVICE)
    ((whose, _),) = tokens.issue(ADA, robot, wanted(), FRESH, NOW, None)
    assert whose == robot.id
    for by, holder, reason in (
        (ADA, BOB, "no_such_member"),
        (ADA, None, "no_such_member"),
        (BOB, robot, "forbidden"),
    ):
        with pytest.raises(Refused) as refused:
            tokens.issue(by, holder, wanted(), FRESH, NOW, None)
        assert code(refused) == reason


def test_a_sign_in_is_for_an_active_person_with_his_tier_and_every_scope() -> None:
    ((_, fact),) = tokens.sign_in(ALICE, FRESH, NOW)
    assert isinstance(fact, facts.TokenIssued)
    assert (fact.kind, fact.tier, fact.scopes) == (TokenKind.SIGNIN, Tier.ADMIN, tuple(TokenScope))
    robot = members.person(BRAIN, "robot", Role.MEMBER, Tier.EMPLOYEE, PrincipalKind.SERVICE)
    for nobody in (None, robot, a_member(active=False)):
        with pytest.raises(Refused) as refused:
            tokens.sign_in(nobody, FRESH, NOW)
        assert code(refused) == "no_such_member"


def test_a_token_is_revoked_by_its_person_or_an_admin_and_does_not_exist_for_others() -> None:
    token = Token(FRESH[0], BOB.id, TokenKind.PERSON, Tier.EMPLOYEE, frozenset(), FRESH[1], None)
    for by in (BOB, ADA):
        assert tokens.revoke(by, token, token.id) == [(BOB.id, facts.TokenRevoked(token=token.id, principal=BOB.id))]
    for nobody, found in ((a_member("eve"), token), (None, token), (ADA, None)):
        with pytest.raises(Refused) as refused:
            tokens.revoke(nobody, found, token.id)
        assert code(refused) == "no_such_token"


# opening and gates


def test_a_brain_opens_once_with_an_owner_who_approves_and_everyone_who_reads() -> None:
    bodies = opening.Bodies(BODY, BODY, BODY, BODY)
    said = opening.open_brain(BRAIN, False, ALICE, bodies, (GRANT, GRANT))
    assert [type(fact).__name__ for _, fact in said] == ["BrainOpened", "MemberJoined", "Granted", "Granted"]
    assert [fact.permission for _, fact in said if isinstance(fact, facts.Granted)] == [
        Permission.APPROVE,
        Permission.READ,
    ]
    assert said[-1][0] == subjects.access(BRAIN, everyone(BRAIN))
    assert opening.open_brain(BRAIN, True, ALICE, bodies, (GRANT, GRANT)) == []


@pytest.mark.parametrize(
    ("fact", "narrowing"),
    [
        (facts.MemberLeft(member=BOB.id), True),
        (facts.Revoked(grant=GRANT, subject=BOB.id), True),
        (facts.TokenRevoked(token=FRESH[0], principal=BOB.id), True),
        (facts.RoleChanged(member=BOB.id, role=Role.ADMIN, tier=Tier.EMPLOYEE), True),
        (facts.RoleChanged(member=BOB.id, role=Role.MEMBER, tier=Tier.ADMIN), True),
        (facts.RoleChanged(member=BOB.id, role=Role.OWNER, tier=Tier.ADMIN), False),
        (facts.Granted(grant=GRANT, subject=BOB.id, scope=BODY, permission=Permission.READ), False),
    ],
)
def test_whatever_narrows_sight_moves_the_fence_with_the_access_gate(fact: msgspec.Struct, narrowing: bool) -> None:
    assert gates.narrows(fact, Role.ADMIN, Tier.MANAGER) is narrowing
    mine = (subjects.access(BRAIN, BOB.id), fact)
    moved = [subject for subject, _ in gates.gated(BRAIN, [mine], BOB.id, narrowing=narrowing)[1:]]
    fence = [subjects.gate(BRAIN, Gate.FENCE)] if narrowing else []
    assert moved == [subjects.gate(BRAIN, Gate.ACCESS), *fence]


@given(
    asks=st.lists(
        st.tuples(
            st.sampled_from([Prefix(""), Prefix("a/"), Exact("a.md")]), st.sampled_from(Permission), st.booleans()
        )
    )
)
def test_any_sequence_of_grants_and_revocations_leaves_each_scope_held_at_most_once(
    asks: list[tuple[Scope, Permission, bool]],
) -> None:
    held: dict[tuple[Scope, Permission], Grant] = {}
    for scope, permission, giving in asks:
        subject = Subject(BOB.id, "bob", BOB, tuple(held.values()))
        grant = GrantId(uuid4())
        if giving:
            said = grants.grant(ADA, subject, (scope, permission), CROWD, grant, BODY)
            assert bool(said) is ((scope, permission) not in held)
            if said:
                held[scope, permission] = Grant(grant, GrantLine(PrincipalId(BOB.id), scope, permission))
        elif (scope, permission) in held:
            ((_, fact),) = grants.revoke(ADA, subject, scope, permission)
            assert fact == facts.Revoked(grant=held.pop((scope, permission)).id, subject=BOB.id)
