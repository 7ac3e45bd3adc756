"""Access facts become rows; replaying them, or a part of them, changes nothing."""

from uuid import uuid4

import pytest

from access import lookup
from access.rule import GrantLine
from access.scopes import Prefix
from access_story import NOW, Story
from chassis.postgres import Pool, transaction
from contracts import access_facts as facts
from contracts import subjects
from contracts.enums import Gate, Permission, PrincipalKind, Role, Tier
from contracts.enums import Scope as TokenScope
from contracts.ids import PrincipalId, everyone


@pytest.fixture
def story() -> Story:
    return Story()


async def test_a_person_has_their_own_grants_their_groups_and_everyones(pool: Pool, story: Story) -> None:
    story.open()
    alice, robot = story.join("alice"), story.join("robot", PrincipalKind.SERVICE)
    team = PrincipalId(uuid4())
    profile = story.texts.keep(b'{"name":"team"}')
    story.say(
        subjects.access(story.brain, team), facts.GroupChanged(group=team, profile=profile, members=(alice, robot))
    )
    await story.project(pool)
    async with transaction(pool, story.brain) as db:
        person = await lookup.caller_for(db, story.brain, alice, None)
        service = await lookup.caller_for(db, story.brain, robot, None)
        assert person is not None
        assert service is not None
        assert person.subjects == {alice, team, everyone(story.brain)}
        assert service.subjects == {robot, team}
        assert await lookup.active_people(db) == 1
        assert await lookup.names(db, [alice, team]) == {alice: "alice", team: "team"}
        assert await lookup.group_by_name(db, "everyone") == everyone(story.brain)


async def test_whoever_leaves_is_no_caller_and_leaves_no_grant_or_token(pool: Pool, story: Story) -> None:
    alice = story.join("alice")
    story.grant(alice, "**")
    token = story.issue(alice, Tier.EMPLOYEE, "d1")
    story.say(subjects.access(story.brain, alice), facts.MemberLeft(member=alice))
    for _ in range(2):
        await story.project(pool)
        async with transaction(pool, story.brain) as db:
            assert await lookup.caller_for(db, story.brain, alice, None) is None
            assert await lookup.caller_for(db, story.brain, alice, token) is None
            assert await lookup.grants_for(db, [alice]) == []
            assert await lookup.credential(db, story.brain, "d1", NOW) is None
            left = await lookup.member_by_name(db, "alice")
            assert left is not None
            assert not left.active


async def test_a_token_narrows_its_person_and_dies_at_its_time_or_by_revocation(pool: Pool, story: Story) -> None:
    alice = story.join("alice", tier=Tier.MANAGER)
    wide = story.issue(alice, Tier.ADMIN, "wide")
    short = story.issue(alice, Tier.EMPLOYEE, "short", NOW)
    dead = story.issue(alice, Tier.EMPLOYEE, "dead")
    story.say(subjects.access(story.brain, alice), facts.TokenRevoked(token=dead, principal=alice))
    await story.project(pool)
    async with transaction(pool, story.brain) as db:
        caller = await lookup.caller_for(db, story.brain, alice, wide)
        assert caller is not None
        assert caller.tier is Tier.MANAGER
        assert caller.scopes == {TokenScope.READ}
        before = NOW.replace(hour=11)
        assert await lookup.caller_for(db, story.brain, alice, short, at=before) is not None
        assert await lookup.caller_for(db, story.brain, alice, short, at=NOW) is None
        assert await lookup.caller_for(db, story.brain, alice, dead) is None
        assert await lookup.caller_for(db, story.brain, PrincipalId(uuid4()), wide) is None
        assert [token.digest for token in await lookup.tokens_of(db, alice)] == ["wide", "short"]


async def test_a_credential_is_token_member_caller_and_position_in_one_read(pool: Pool, story: Story) -> None:
    story.open()
    alice = story.join("alice", tier=Tier.MANAGER)
    token = story.issue(alice, Tier.ADMIN, "d1", NOW)
    story.say(subjects.gate(story.brain, Gate.ACCESS), facts.GateMoved(cause=alice))
    await story.project(pool)
    async with transaction(pool, story.brain) as db:
        found = await lookup.credential(db, story.brain, "d1", NOW.replace(hour=11))
        assert found is not None
        assert (found.token.id, found.member.name, found.position) == (token, "alice", len(story.recorded))
        assert found.caller == await lookup.caller_for(db, story.brain, alice, token, at=NOW.replace(hour=11))
        assert await lookup.credential(db, story.brain, "d1", NOW) is None
        assert await lookup.credential(db, story.brain, "d2", NOW) is None


async def test_replays_and_parts_of_a_history_lead_to_the_same_rows(pool: Pool, story: Story) -> None:
    story.open()
    alice = story.join("alice")
    kept, gone = story.grant(alice, "topics/**", Permission.APPROVE), story.grant(alice, "category:x")
    story.say(subjects.access(story.brain, alice), facts.Revoked(grant=gone, subject=alice))
    story.say(subjects.access(story.brain, alice), facts.RoleChanged(member=alice, role=Role.ADMIN, tier=Tier.MANAGER))
    story.say(subjects.gate(story.brain, Gate.ACCESS), facts.GateMoved(cause=uuid4()))
    await story.project(pool)
    for start, end in ((0, None), (0, 3), (2, 5), (0, None)):
        await story.project(pool, start, end)
    async with transaction(pool, story.brain) as db:
        assert [grant.id for grant in await lookup.numbered_grants(db, [alice])] == [kept]
        assert await lookup.grants_for(db, [alice]) == [GrantLine(alice, Prefix("topics/"), Permission.APPROVE)]
        member = await lookup.member(db, alice)
        assert member is not None
        assert (member.role, member.tier) == (Role.ADMIN, Tier.MANAGER)
        last = len(story.recorded)
        assert (await lookup.gate_positions(db))[Gate.ACCESS] == last
        assert (await lookup.gate_positions(db))[Gate.FENCE] == 0
        mine = subjects.access(story.brain, alice)
        assert await lookup.positions(db, [mine, "evt.none"]) == {mine: last - 1, "evt.none": 0}


async def test_a_stored_scope_that_does_not_parse_refuses_the_token(pool: Pool, story: Story) -> None:
    alice = story.join("alice")
    token = story.issue(alice, Tier.EMPLOYEE, "odd")
    await story.project(pool)
    async with transaction(pool, story.brain) as db:
        await db.execute("update tokens set scopes = array['brain:read', 'brain:everything'] where id = $1", token)
        assert await lookup.caller_for(db, story.brain, alice, token) is None
        assert await lookup.credential(db, story.brain, "odd", NOW) is None


async def test_a_token_is_bound_to_its_domains_wherever_it_is_looked_up(pool: Pool, story: Story) -> None:
    alice = story.join("alice")
    any_page = story.issue(alice, Tier.EMPLOYEE, "da")
    bound = story.issue(alice, Tier.EMPLOYEE, "db", domains=("pricing", "legal"))
    await story.project(pool)
    async with transaction(pool, story.brain) as db:
        for token, digest, domains in ((any_page, "da", None), (bound, "db", frozenset({"pricing", "legal"}))):
            caller = await lookup.caller_for(db, story.brain, alice, token)
            credential = await lookup.credential(db, story.brain, digest, NOW)
            listed = await lookup.token(db, token)
            assert caller is not None
            assert credential is not None
            assert listed is not None
            assert caller.domains == credential.caller.domains == credential.token.domains == listed.domains == domains
        person = await lookup.caller_for(db, story.brain, alice, None)
        assert person is not None
        assert person.domains is None
