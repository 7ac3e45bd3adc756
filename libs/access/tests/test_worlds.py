"""Whatever was said about members, groups, grants and tokens: the index in SQL shows what the pure rule admits."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from access import lookup, rule
from access.projection import applying
from access.rule import Caller, GrantLine, PageClass
from access.scopes import parse_scope
from access_story import NOW, Story
from chassis.postgres import Pool, Pooled, connect, transaction
from contracts import access_facts as facts
from contracts import subjects
from contracts.enums import Access, Permission, PrincipalKind, Reach, Role, Tier
from contracts.ids import GrantId, PrincipalId, TokenId, everyone
from servers import Database

PATHS = ["a.md", "a/b.md", "a/b/c.md", "ab/c.md"]
SCOPES = ["**", "a/**", "a/b/**", "ab/**", *PATHS, "category:x", "category:y"]
CATEGORIES, DOMAINS = ["x", "y"], ["pricing", "org"]
PAGE = """
insert into pages (
    brain, page, live, path, title, title_key, words, type, owner, access, reach, category, domain, knowledge,
    revision, body, commitment, digest, approver, approved_at, review_days, passages, position, source_seq
)
values (
    $1, $2, true, $3, '', '', array[]::text[], 'topic', $2, $4, $5, $6, $7, 'verified',
    1, $2, '', '', $2, $8, 90, 1, 1, 1
)
"""


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token as it was issued."""

    principal: PrincipalId
    tier: Tier
    domains: tuple[str, ...]
    expires_at: datetime | None


@dataclass(slots=True)
class World:
    """What was said, as facts and as a model that is kept by hand."""

    story: Story = field(default_factory=Story)
    kinds: dict[PrincipalId, PrincipalKind] = field(default_factory=dict)
    tiers: dict[PrincipalId, Tier] = field(default_factory=dict)
    """Of the active members."""
    groups: dict[PrincipalId, frozenset[PrincipalId]] = field(default_factory=dict)
    grants: dict[GrantId, GrantLine] = field(default_factory=dict)
    tokens: dict[TokenId, Bearer] = field(default_factory=dict)

    def caller(self, who: PrincipalId, token: Bearer | None) -> Caller | None:
        """Who asks, as the model has it."""
        if who not in self.tiers or (token is not None and token.expires_at is not None and token.expires_at <= NOW):
            return None
        held = {who} | {group for group, members in self.groups.items() if who in members}
        if self.kinds[who] is PrincipalKind.PERSON:
            held.add(everyone(self.story.brain))
        caller = Caller(who, frozenset(held), self.tiers[who])
        if token is None:
            return caller
        domains = frozenset(token.domains) or None
        return replace(caller, tier=rule.lower_tier(caller.tier, token.tier), domains=domains)

    def join(self, kind: PrincipalKind, tier: Tier) -> None:
        who = self.story.join(f"member-{len(self.kinds)}", kind, tier)
        self.kinds[who], self.tiers[who] = kind, tier

    def leave(self, who: PrincipalId) -> None:
        self.story.say(subjects.access(self.story.brain, who), facts.MemberLeft(member=who))
        self.tiers.pop(who, None)
        self.groups = {group: members - {who} for group, members in self.groups.items()}
        self.grants = {grant: line for grant, line in self.grants.items() if line.subject != who}
        self.tokens = {token: bearer for token, bearer in self.tokens.items() if bearer.principal != who}

    def move(self, who: PrincipalId, tier: Tier) -> None:
        fact = facts.RoleChanged(member=who, role=Role.MEMBER, tier=tier)
        self.story.say(subjects.access(self.story.brain, who), fact)
        self.tiers[who] = tier

    def set_group(self, group: PrincipalId, members: frozenset[PrincipalId]) -> None:
        profile = self.story.texts.keep(msgspec.json.encode({"name": f"group-{group.int}"}))
        fact = facts.GroupChanged(group=group, profile=profile, members=tuple(sorted(members)))
        self.story.say(subjects.access(self.story.brain, group), fact)
        self.groups[group] = members

    def grant(self, subject: PrincipalId, scope: str, permission: Permission) -> None:
        grant = self.story.grant(subject, scope, permission)
        self.grants[grant] = GrantLine(subject, parse_scope(scope), permission)

    def revoke(self, grant: GrantId) -> None:
        subject = self.grants.pop(grant).subject
        self.story.say(subjects.access(self.story.brain, subject), facts.Revoked(grant=grant, subject=subject))

    def issue(self, bearer: Bearer) -> None:
        digest = uuid4().hex * 2
        token = self.story.issue(bearer.principal, bearer.tier, digest, bearer.expires_at, bearer.domains)
        self.tokens[token] = bearer

    def end_token(self, token: TokenId) -> None:
        principal = self.tokens.pop(token).principal
        fact = facts.TokenRevoked(token=token, principal=principal)
        self.story.say(subjects.access(self.story.brain, principal), fact)


GROUPS = [PrincipalId(UUID(int=number)) for number in (1, 2)]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A brain after some decisions, each of which was possible when it was made."""
    world = World()
    world.story.open()
    world.join(PrincipalKind.PERSON, draw(st.sampled_from(Tier)))
    for _ in range(draw(st.integers(2, 14))):
        _decide(world, draw)
    return world


def _decide(world: World, draw: st.DrawFn) -> None:
    active, tiers = list(world.tiers), st.sampled_from(Tier)
    possible: list[Callable[[], None]] = [
        lambda: world.join(draw(st.sampled_from(PrincipalKind)), draw(tiers)),
    ]
    if active:
        members = st.sampled_from(active)
        holders = st.sampled_from([*active, *world.groups, everyone(world.story.brain)])
        expiries = st.sampled_from([None, NOW + timedelta(days=1), NOW - timedelta(seconds=1), NOW])
        domains = st.lists(st.sampled_from(DOMAINS), unique=True, max_size=2).map(tuple)
        possible += [
            *[lambda: world.grant(draw(holders), draw(st.sampled_from(SCOPES)), draw(st.sampled_from(Permission)))] * 4,
            *[lambda: world.issue(Bearer(draw(members), draw(tiers), draw(domains), draw(expiries)))] * 2,
            lambda: world.set_group(draw(st.sampled_from(GROUPS)), draw(st.frozensets(members))),
            lambda: world.move(draw(members), draw(tiers)),
            lambda: world.leave(draw(members)),
        ]
    if world.grants:
        possible.append(lambda: world.revoke(draw(st.sampled_from(list(world.grants)))))
    if world.tokens:
        possible.append(lambda: world.end_token(draw(st.sampled_from(list(world.tokens)))))
    draw(st.sampled_from(possible))()


pages = st.builds(
    PageClass,
    st.sampled_from(PATHS),
    st.sampled_from(Access),
    st.sampled_from(Reach),
    st.none() | st.sampled_from(CATEGORIES),
    st.none() | st.sampled_from(DOMAINS),
)


@pytest_asyncio.fixture(loop_scope="session", name="index")
async def index_of_retrieval(database: Database) -> AsyncIterator[Pool]:
    pool = await connect(database.secret("postgres"), "retrieval", service="access-tests", largest=2)
    yield pool
    await pool.close()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds(), there=st.lists(pages, max_size=6))
async def test_the_index_shows_every_caller_of_every_world_what_the_rule_admits(
    index: Pool, world: World, there: list[PageClass]
) -> None:
    brain = world.story.brain
    async with transaction(index, brain) as db:
        await db.execute("set local role retrieval_project")
        await applying(world.story.texts)(db, world.story.recorded)
        ids = {uuid4(): page for page in there}
        for page, placed in ids.items():
            classes = (placed.access.value, placed.reach.value, placed.category, placed.domain)
            await db.execute(PAGE, brain, page, placed.path, *classes, NOW)
        asking: list[tuple[PrincipalId, TokenId | None]] = [(who, None) for who in world.kinds]
        asking += [(bearer.principal, token) for token, bearer in world.tokens.items()]
        for who, token in asking:
            found = await lookup.caller_for(db, brain, who, token, at=NOW)
            expected = world.caller(who, None if token is None else world.tokens[token])
            assert (found and replace(found, scopes=frozenset())) == expected
            admitted = {
                page
                for page, placed in ids.items()
                if expected is not None and rule.permission(world.grants.values(), expected, placed) is not None
            }
            assert await shown(db, found) == admitted


async def shown(db: Pooled, caller: Caller | None) -> set[UUID]:
    """The pages that every arm of a search starts from, for this caller."""
    if caller is None:
        return set()
    await db.execute("set local role retrieval_search")
    domains = None if caller.domains is None else sorted(caller.domains)
    rows = await db.fetch(
        "select page from visible_pages($1, $2, $3)", list(caller.subjects), caller.tier.value, domains
    )
    await db.execute("set local role retrieval_project")
    return {row["page"] for row in rows}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds())
async def test_a_dead_token_of_any_world_is_nobodys(index: Pool, world: World) -> None:
    issued = [one.fact for one in world.story.recorded if isinstance(one.fact, facts.TokenIssued)]
    async with transaction(index, world.story.brain) as db:
        await db.execute("set local role retrieval_project")
        await applying(world.story.texts)(db, world.story.recorded)
        for fact in issued:
            bearer = world.tokens.get(fact.token)
            alive = bearer is not None and world.caller(bearer.principal, bearer) is not None
            found = await lookup.credential(db, world.story.brain, fact.digest, NOW)
            assert (found is not None) == alive
