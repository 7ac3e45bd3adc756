"""A right ends for the next request that starts, at every replica: two gateways and two retrievals of one brain.

No wait stands between the acknowledgement at one gateway and the requests at both.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

import replicas
import story
from brain.stack import programs
from contracts import gateway_api as api
from contracts.enums import PageAction, Permission, Role, Tier
from contracts.ids import PrincipalId
from houses import House, build, running
from inside import Inside
from oauth_world import application, browser
from replicas import Page, Seen, Twins

pytestmark = pytest.mark.system


@dataclass(frozen=True, slots=True)
class Act:
    """What a story has set up: who reads with what, and what ends it.

    `dead`: the credential ends, not the right of its person; `why` is then what it was before.
    """

    person: str
    secret: str
    narrow: Callable[[], Awaitable[object]]
    dead: bool = False
    why: bool | None = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Two replicas of each, and an author who may suggest everywhere."""

    twins: Twins
    author: PrincipalId

    async def publish(self, page: Page, text: str) -> None:
        await self.twins.approve(await self.twins.write(self.author, page.path, text))

    async def reader(
        self, page: Page, scope: str, *, role: Role = Role.MEMBER, tier: Tier = Tier.EMPLOYEE
    ) -> tuple[str, PrincipalId, str]:
        """Somebody with a grant to read that scope: name, id, and the secret of a token of his."""
        name = f"reader-{page.word}"
        who = await self.twins.brain.join(name, role, tier)
        if scope:
            await self.twins.brain.grant(name, Permission.READ, scope)
        return name, who, (await self.twins.brain.token(who, tier=tier)).secret


@pytest.fixture(scope="module", name="own")
def brain_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running(build(tmp_path_factory.mktemp("rights"), EMBEDDER_PROFILE="hashing", SWEEP_SECONDS="1")) as house:
        story.revoke(house, "everyone", "read", "**")
        yield house


@pytest_asyncio.fixture(scope="module", loop_scope="session", name="stage")
async def two_of_each(own: House, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with replicas.twins(own, tmp_path_factory.mktemp("second")) as twins:
        author = await twins.brain.join("fay", Role.MEMBER, Tier.ADMIN)
        await twins.brain.grant("fay", Permission.SUGGEST, "**")
        yield Stage(twins, author)


def a_page(word: str) -> Page:
    return Page(f"rights/{word}-1.md", f"Heron and {word.capitalize()}", word)


async def grant_revoked(stage: Stage, page: Page) -> Act:
    name, _, secret = await stage.reader(page, "rights/**")
    ended = api.GrantText(subject=name, permission=Permission.READ, scope="rights/**")
    return Act(name, secret, lambda: stage.twins.tell(api.GRANT_REVOKE, ended))


async def member_left(stage: Stage, page: Page) -> Act:
    name, _, secret = await stage.reader(page, "rights/**")
    return Act(name, secret, lambda: stage.twins.tell(api.MEMBER_REMOVE, api.MemberName(name=name)), dead=True)


async def tier_lowered(stage: Stage, page: Page) -> Act:
    await stage.publish(page, page.text("access: manager\n"))
    name, _, secret = await stage.reader(page, "rights/**", role=Role.MANAGER, tier=Tier.MANAGER)
    lower = api.MemberRole(name=name, role=Role.MEMBER, tier=Tier.EMPLOYEE)
    return Act(name, secret, lambda: stage.twins.tell(api.MEMBER_ROLE, lower))


async def taken_out_of_a_group(stage: Stage, page: Page) -> Act:
    name, _, secret = await stage.reader(page, "")
    await stage.twins.tell(api.GROUP_SET, api.Group(name="herons", members=(name, "fay")))
    await stage.twins.brain.grant("herons", Permission.READ, "rights/**")
    without = api.Group(name="herons", members=("fay",))
    return Act(name, secret, lambda: stage.twins.tell(api.GROUP_SET, without))


async def token_revoked(stage: Stage, page: Page) -> Act:
    name, who, _ = await stage.reader(page, "rights/**")
    issued = await stage.twins.brain.token(who)
    signed = await stage.twins.brain.sign_in(name)

    async def revoke() -> None:
        async with replicas.connected(stage.twins.first, signed) as http:
            answer = await http.post(api.TOKEN_REVOKE, json={"token": str(issued.token)})
        assert answer.status_code == 200, answer.text

    return Act(name, issued.secret, revoke, dead=True, why=True)


async def connection_ended(stage: Stage, page: Page) -> Act:
    """An application that a person connected with OAuth gives its refresh token back."""
    name, _, _ = await stage.reader(page, "rights/**")
    brain = stage.twins.brain
    async with application(brain) as app, browser(brain, name) as person:
        tokens = await app.connected(person)

    async def revoke() -> None:
        async with brain.client() as http:
            form = {"client_id": app.id, "token": tokens["refresh_token"]}
            answer = await http.post("/revoke", data={**form, **({"client_secret": app.secret} if app.secret else {})})
        assert answer.status_code == 200, answer.text

    return Act(name, tokens["access_token"], revoke, dead=True, why=True)


async def edited(stage: Stage, page: Page, text: str, path: str = "") -> Act:
    """The page changes by an edit that is approved at the first gateway."""
    name, _, secret = await stage.reader(page, "rights/**")
    proposed = await stage.twins.write(stage.author, path or page.path, text)
    return Act(name, secret, lambda: stage.twins.approve(proposed))


async def access_level_raised(stage: Stage, page: Page) -> Act:
    return await edited(stage, page, page.text("access: manager\n", " More."))


async def reach_narrowed(stage: Stage, page: Page) -> Act:
    await stage.twins.brain.grant("alice", Permission.APPROVE, page.path)  # a prefix would not let her decide on it
    return await edited(stage, page, page.text("access: department\nsensitivity: restricted\n", " More."))


async def renamed_out_of_reach(stage: Stage, page: Page) -> Act:
    rows = await stage.twins.within.rows(
        "select page from approvals.pages where brain = $1 and path = $2 and live", page.path
    )
    moved = page.text(f"access: department\nid: n_{rows[0]['page'].hex}\n")
    act = await edited(stage, page, moved, f"elsewhere/{page.word}-1.md")
    return Act(act.person, act.secret, act.narrow, why=None)  # alice sees no page at the path any more


async def ended(stage: Stage, page: Page) -> Act:
    name, _, secret = await stage.reader(page, "rights/**")
    proposed = await stage.twins.write(stage.author, page.path, page.text(), PageAction.DEPRECATE)
    return Act(name, secret, lambda: stage.twins.approve(proposed), why=None)


NARROWING: dict[str, Callable[[Stage, Page], Awaitable[Act]]] = {
    "grant": grant_revoked,
    "leaver": member_left,
    "lowered": tier_lowered,
    "group": taken_out_of_a_group,
    "token": token_revoked,
    "consent": connection_ended,
    "level": access_level_raised,
    "reach": reach_narrowed,
    "rename": renamed_out_of_reach,
    "end": ended,
}


@pytest.mark.parametrize("word", NARROWING)
async def test_the_next_request_at_every_replica_sees_it_no_more(stage: Stage, word: str) -> None:
    page = a_page(word)
    if word != "lowered":
        await stage.publish(page, page.text())
    act = await NARROWING[word](stage, page)
    before = await stage.twins.look(act.secret, page)
    assert [page.shown(each) for each in before] == [True, True]
    assert await stage.twins.why(act.person, page.path) == [True, True]
    await act.narrow()
    after = await stage.twins.look(act.secret, page)
    assert [page.leaks(each) for each in after] == [False, False], after
    for each in after:
        assert {answer.status for answer in each.all()} == ({401} if act.dead else {200}), each
    assert await stage.twins.why(act.person, page.path) == [act.why, act.why]
    if not act.dead:
        missing = Page(f"rights/{word}-2.md", page.title, page.word)
        assert await stage.twins.look(act.secret, missing) == [same_but_for(each, page, missing) for each in after]


def same_but_for(seen: Seen, page: Page, missing: Page) -> Seen:
    """The answers with the path that was asked for exchanged."""

    def exchanged(answer: replicas.Answer) -> replicas.Answer:
        return replicas.Answer(answer.status, answer.text.replace(page.path, missing.path))

    return Seen(*(exchanged(each) for each in seen.all()))


async def test_a_capture_closes_for_the_next_request_at_every_replica(stage: Stage, tmp_path: Path) -> None:
    page = Page("rights/capture-1.md", "Heron and Capture", "capture")
    folder = story.write(tmp_path / "capture-filed", {page.path: page.text()})
    house = stage.twins.house
    story.publish(house, folder, "--acl", "everyone")
    name, _, secret = await stage.reader(page, "rights/**")
    assert [opened(each) for each in await stage.twins.look(secret, page)] == [True, True]
    story.take_in(house, folder, "--acl", "alice")
    after = await stage.twins.look(secret, page)
    assert [page.shown(each) for each in after] == [True, True]
    assert [opened(each) for each in after] == [False, False]
    story.take_in(house, folder, "--acl", f"alice,{name}")
    await stage.twins.within.settled()
    assert [opened(each) for each in await stage.twins.look(secret, page)] == [True, True]
    async with held_up(stage.twins.within, "retrieval"):
        story.take_in(house, folder, "--acl", "alice")
        held = await stage.twins.look(secret, page)
    assert {answer.status for each in held for answer in each.all()} == {503}
    assert [opened(each) for each in held] == [False, False]


def opened(seen: Seen) -> bool:
    """Whether the page names the capture that it came from."""
    told = {"capture-filed/" in answer.text for answer in (seen.read, seen.resource)}
    assert len(told) == 1, seen
    return told.pop()


@pytest.mark.parametrize("word", NARROWING)
async def test_what_a_replica_has_not_read_yet_is_refused_and_never_shown_as_it_was(stage: Stage, word: str) -> None:
    page = a_page(f"{word}held")
    if word != "lowered":
        await stage.publish(page, page.text())
    act = await NARROWING[word](stage, page)
    await stage.twins.within.embedded()
    assert [page.shown(each) for each in await stage.twins.look(act.secret, page)] == [True, True]
    async with held_up(stage.twins.within, "gateway" if act.dead else "retrieval"):
        await act.narrow()
        for each in await stage.twins.look(act.secret, page):
            assert not page.leaks(each)
            assert {answer.status for answer in each.all()} == {503}, each
    await stage.twins.within.settled()
    for each in await stage.twins.look(act.secret, page):
        assert not page.leaks(each)
        assert {answer.status for answer in each.all()} == ({401} if act.dead else {200}), each


@asynccontextmanager
async def held_up(within: Inside, schema: str) -> AsyncIterator[None]:
    """No projection of a service gets on: its checkpoints are locked by somebody else's transaction."""
    cluster = programs.cluster(within.house.home, within.house.ports)
    db = await asyncpg.connect(cluster.superuser(programs.DATABASE).reveal())
    try:
        async with db.transaction():
            await db.execute(f"lock table {schema}.checkpoints in exclusive mode")
            yield
    finally:
        await db.close()


async def test_both_retrievals_answer(stage: Stage) -> None:
    page = a_page("both")
    _, _, secret = await stage.reader(page, "rights/**")
    await asyncio.gather(*(stage.twins.look(secret, page) for _ in range(8)))
    second = stage.twins.traces.read_bytes().splitlines()
    first = [span for span in stage.twins.house.spans() if span.get("service") == "retrieval"]
    assert len(second) > 10
    assert len(first) > 10
