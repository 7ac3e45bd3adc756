"""Given who stands where, when somebody asks, then these facts, or this refusal."""

from contextlib import suppress
from dataclasses import replace
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
from contracts.enums import Gate, Origin, Permission, PrincipalKind, Role, Tier, TokenKind
from contracts.enums import Scope as TokenScope
from contracts.errors import Refused
from contracts.gateway_messages import LONGEST_TOKEN_DAYS
from contracts.ids import SERVICES, BrainId, ContentId, GrantId, PrincipalId, TokenId, everyone
from gateway.domain import gates, grants, groups, members, opening, tokens, widening
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


def a_group(*inside: PrincipalId, grants: tuple[GrantLine, ...] = ()) -> groups.Group:
    return groups.Group(groups.group_id(BRAIN, "sales"), BODY, frozenset(inside), grants)


SALES = a_group()


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


@pytest.mark.parametrize(
    "name", ["everyone", "brain", "operator", "importer", *SERVICES, *(one.value for one in Origin)]
)
def test_what_the_brain_calls_itself_and_its_services_is_nobodys_name(name: str) -> None:
    for naming in (
        lambda: members.person(BRAIN, name, Role.MEMBER, Tier.EMPLOYEE),
        lambda: members.person(BRAIN, name, Role.MEMBER, Tier.EMPLOYEE, PrincipalKind.SERVICE),
        lambda: groups.group_id(BRAIN, name),
    ):
        with pytest.raises(Refused) as refused:
            naming()
        assert code(refused) == "name_taken"


def test_who_may_not_administer_does_not_learn_which_names_there_are() -> None:
    for member in (a_member("carol"), a_member("carol", active=False), None):
        with pytest.raises(Refused) as left:
            members.leave(BOB, member, CROWD)
        with pytest.raises(Refused) as changed:
            members.change_role(BOB, member, Role.MEMBER, Tier.EMPLOYEE, CROWD)
        assert (code(left), code(changed)) == ("forbidden", "forbidden")
    with pytest.raises(Refused) as refused:
        members.leave(ADA, None, CROWD)
    assert code(refused) == "no_such_member"


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
    ((whose, fact),) = groups.set_members(ADA, None, SALES, [BOB, ADA, BOB], CROWD)
    assert whose == SALES.id
    assert isinstance(fact, facts.GroupChanged)
    assert fact.members == tuple(sorted([ADA.id, BOB.id]))
    assert groups.set_members(ADA, None, a_group(*fact.members), [ADA, BOB], CROWD) == []
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
        groups.set_members(by, namesake, SALES, wanted, CROWD)
    assert code(refused) == reason


def test_nobody_sets_everyone_and_no_member_takes_a_groups_name() -> None:
    with pytest.raises(Refused) as refused:
        groups.group_id(BRAIN, "everyone")
    assert code(refused) == "name_taken"
    with pytest.raises(Refused) as refused:
        members.join(ADA, None, BOB, BODY, PrincipalId(uuid4()))
    assert code(refused) == "name_taken"


# the second admin

FAR_REACHING: list[tuple[Scope, Permission]] = [
    (Prefix(""), Permission.APPROVE),
    (Exact("a.md"), Permission.READ),
    (Category("hr"), Permission.READ),
]


@pytest.mark.parametrize(("scope", "permission"), FAR_REACHING)
def test_joining_a_group_that_holds_a_far_reaching_grant_takes_a_second_admin(
    scope: Scope, permission: Permission
) -> None:
    line = GrantLine(SALES.id, scope, permission)
    with pytest.raises(Refused) as refused:
        groups.set_members(ADA, None, a_group(BOB.id, grants=(line,)), [BOB, ADA], CROWD)
    assert (code(refused), refused.value.where) == ("second_admin_needed", "members")
    assert groups.set_members(ADA, None, a_group(BOB.id, grants=(line,)), [BOB, ADA], ALONE) != []
    assert groups.set_members(ALICE, None, a_group(BOB.id, grants=(line,)), [BOB, ADA], CROWD) != []
    assert groups.set_members(ADA, None, a_group(ADA.id, grants=(line,)), [BOB, ADA], CROWD) != []


def test_a_group_that_reads_ordinary_pages_may_be_joined_alone() -> None:
    line = GrantLine(SALES.id, Prefix("sales/"), Permission.SUGGEST)
    assert groups.set_members(ADA, None, a_group(grants=(line,)), [ADA], CROWD) != []


def test_raising_ones_own_tier_takes_a_second_admin_and_lowering_it_does_not() -> None:
    with pytest.raises(Refused) as refused:
        members.change_role(ADA, ADA, Role.ADMIN, Tier.ADMIN, CROWD)
    assert code(refused) == "second_admin_needed"
    assert members.change_role(ADA, ADA, Role.ADMIN, Tier.ADMIN, ALONE) != []
    assert members.change_role(ADA, ADA, Role.MEMBER, Tier.EMPLOYEE, CROWD) != []
    assert members.change_role(ALICE, ADA, Role.ADMIN, Tier.ADMIN, CROWD) != []


def test_a_higher_role_of_ones_own_widens_as_a_higher_tier_does() -> None:
    assert widening.widens(ADA, replace(ADA, role=Role.OWNER))
    assert widening.widens(ADA, replace(ADA, tier=Tier.ADMIN))
    assert not widening.widens(ADA, replace(ADA, role=Role.MEMBER, tier=Tier.EMPLOYEE))


_ASKS = st.tuples(
    st.sampled_from(["grant", "revoke", "set", "role"]),
    st.sampled_from(["ada", "bob", "sales", "legal"]),
    st.sampled_from([*FAR_REACHING, (Prefix("a/"), Permission.READ)]),
    st.frozensets(st.sampled_from([ADA, BOB])),
    st.sampled_from(Tier),
)


@given(asks=st.lists(_ASKS, max_size=12))
def test_whatever_an_admin_does_alone_he_ends_with_no_far_reaching_right_that_he_did_not_have(
    asks: list[tuple[str, str, tuple[Scope, Permission], frozenset[Member], Tier]],
) -> None:
    ada, ids = ADA, {"ada": ADA.id, "bob": BOB.id, "sales": SALES.id, "legal": PrincipalId(uuid4())}
    inside: dict[str, frozenset[PrincipalId]] = {"sales": frozenset({BOB.id}), "legal": frozenset({ADA.id})}
    held: dict[str, frozenset[GrantLine]] = dict.fromkeys(ids, frozenset())
    held["sales"] = frozenset({GrantLine(SALES.id, *FAR_REACHING[0])})
    for what, whom, (scope, permission), wanted, tier in asks:
        lines = held[whom]
        subject = Subject(
            ids[whom],
            whom,
            {"ada": ada, "bob": BOB}.get(whom),
            tuple(Grant(GRANT, line) for line in lines),
            includes_asker=ADA.id in inside.get(whom, ()),
        )
        line = GrantLine(ids[whom], scope, permission)
        with suppress(Refused):
            if what == "grant":
                grants.grant(ada, subject, (scope, permission), CROWD, GRANT, BODY)
                held[whom] = lines | {line}
            elif what == "revoke":
                grants.revoke(ada, subject, scope, permission)
                held[whom] = lines - {line}
            elif what == "role":
                members.change_role(ada, ada, Role.ADMIN, tier, CROWD)
                ada = replace(ada, tier=tier)
            elif whom in inside:
                group = groups.Group(ids[whom], BODY, inside[whom], tuple(lines))
                groups.set_members(ada, None, group, list(wanted), CROWD)
                inside[whom] = frozenset(member.id for member in wanted)
        counting = held["ada"].union(*(held[name] for name, there in inside.items() if ADA.id in there))
        assert not any(widening.far_reaching(line) for line in counting)
        assert ada.tier in {Tier.EMPLOYEE, ADA.tier}


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
    FAR_REACHING,
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
        (BOB, wanted(), LONGEST_TOKEN_DAYS + 1, "days_out_of_range"),
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


@pytest.mark.parametrize(
    ("kind", "domains"),
    [
        (TokenKind.PERSON, ("pricing",)),
        (TokenKind.CLIENT, ("pricing",)),
        (TokenKind.AGENT, ("",)),
        (TokenKind.AGENT, ("x" * 65,)),
        (TokenKind.AGENT, tuple(f"d{n}" for n in range(21))),
    ],
)
def test_only_tokens_of_agents_are_bound_to_a_few_domains(kind: TokenKind, domains: tuple[str, ...]) -> None:
    with pytest.raises(Refused) as refused:
        tokens.only_domains(kind, domains)
    assert code(refused) == "domains_refused"


def test_an_agents_token_may_be_bound_or_not() -> None:
    tokens.only_domains(TokenKind.AGENT, ())
    tokens.only_domains(TokenKind.PERSON, ())
    tokens.only_domains(TokenKind.AGENT, ("pricing", "x" * 64))
