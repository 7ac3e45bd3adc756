"""The rule in the arms: what a caller may not see does not exist, for hits, titles and counts alike."""

import pytest

from contracts.captures import Acl
from contracts.enums import Permission, Role, Tier
from contracts.errors import Refused
from contracts.ids import PrincipalId, TokenId, node_id
from contracts.retrieval_messages import Asker, Search
from retrieval.reads.questions import Questions
from retrieval.reads.search import Searches
from retrieval.reads.sight import Sights
from retrieval_world import NOW, World, page_text

CANARY = "zyxwv canary"


async def rooms(world: World) -> None:
    """One page of each kind, all with the same words."""
    await world.promote(
        {
            "open/public.md": page_text("Canary public", CANARY),
            "open/project.md": page_text("Canary project", CANARY, access="project"),
            "open/hr.md": page_text("Canary hr", CANARY, access="hr"),
            "open/named.md": page_text("Canary named", CANARY, sensitivity="restricted", more="category: secret\n"),
            "open/sealed.md": page_text("Canary sealed", CANARY, sensitivity="sealed"),
            "shut/public.md": page_text("Canary shut", CANARY),
        },
        embed=True,
    )


async def seen(world: World, who: PrincipalId) -> set[str]:
    """Everything that search by both arms, find, and reading by path let a caller see; they must agree."""
    await world.caught_up()
    async with world.embedder():
        exact = await world.search("canary zyxwv", who, limit=20)
        near = await world.search("canary zyxwv", who, limit=20, exact=-1)
    found = {hit.path for hit in exact.hits}
    assert found == {hit.path for hit in near.hits}
    assert found == {page.path for page in (await world.find("canary", who)).pages}
    for path, (page, _) in world.live.items():
        for name in (path, node_id(page)):
            if path in found:
                assert (await world.read(name, who)).path == path
            else:
                assert await refusal(world, name, who) == await refusal(world, "no/such.md", who)
    return found


async def refusal(world: World, path: str, who: PrincipalId) -> tuple[str, str, str, str]:
    with pytest.raises(Refused) as refused:
        await world.read(path, who)
    return refused.value.code, refused.value.what, refused.value.where, refused.value.remedy


async def test_mallory_who_has_no_grant_finds_nothing_and_not_a_count(world: World) -> None:
    await rooms(world)
    mallory = await world.member("mallory", Tier.ADMIN, Role.ADMIN)
    assert await seen(world, mallory) == set()
    for query in ("canary", "canary zyxwv", "Canary public"):
        found = await world.search(query, mallory)
        assert (found.hits, found.trust, found.empty) == ((), "no_coverage", "nothing_granted")


async def test_a_stranger_a_dead_token_and_someone_elses_token_see_nothing(world: World) -> None:
    await rooms(world)
    await world.everyone_reads()
    await world.caught_up()
    for asker in (
        Asker(principal=PrincipalId(world.brain)),
        Asker(principal=world.alice, token=TokenId(world.brain)),
    ):
        searching = Searches(Sights(world.nc, world.serve, world.brain), Questions(world.nc), lambda: NOW)
        found = await searching.search(Search(asker=asker, query="canary"))
        assert (found.hits, found.empty) == ((), "nothing_granted")


async def test_a_narrow_caller_sees_what_the_rule_says(world: World) -> None:
    await rooms(world)
    for tier, scope, visible in (
        (Tier.EMPLOYEE, "open/**", {"open/public.md"}),
        (Tier.MANAGER, "open/**", {"open/public.md", "open/project.md"}),
        (Tier.ADMIN, "open/**", {"open/public.md", "open/project.md", "open/hr.md"}),
        (Tier.ADMIN, "open/named.md", {"open/named.md"}),
        (Tier.ADMIN, "category:secret", {"open/named.md"}),
        (Tier.ADMIN, "open/sealed.md", set()),
        (Tier.EMPLOYEE, "open/hr.md", set()),
        (Tier.EMPLOYEE, "**", {"open/public.md", "shut/public.md"}),
    ):
        who = await world.member(f"narrow {tier.value} {len(scope)}", tier)
        await world.grant(who, scope, Permission.READ)
        assert await seen(world, who) == visible, (tier, scope)


async def test_the_next_search_after_a_revocation_finds_nothing(world: World) -> None:
    await rooms(world)
    bob = await world.member("bob")
    grant = await world.grant(bob, "**")
    assert await seen(world, bob)
    await world.revoke(bob, grant)
    found = await world.search("canary", bob)  # at once: the fence makes it wait for the projection
    assert (found.hits, found.empty) == ((), "nothing_granted")


async def test_a_page_that_is_reclassified_disappears_whole(world: World) -> None:
    await rooms(world)
    bob = await world.member("bob")
    await world.grant(bob, "**")
    assert "open/public.md" in await seen(world, bob)
    for changed in ({"access": "hr"}, {"sensitivity": "sealed"}):
        await world.promote({"open/public.md": page_text("Canary public", CANARY, **changed)}, embed=True)
        assert "open/public.md" not in await seen(world, bob)


async def test_vectors_of_a_draft_are_found_by_nobody_and_go_with_it(world: World) -> None:
    text = page_text("Secret draft", "unmistakable words")
    proposal, body = await world.submit(text)
    await world.embed({body: text})
    await world.caught_up()
    async with world.embedder():
        assert (await world.search("unmistakable words")).empty == "no_match"
    assert (await world.sums())["waiting_vectors"][0] == 1
    await world.reject(proposal)
    await world.caught_up()
    assert "waiting_vectors" not in await world.sums()
    await world.embed({body: text + "\nmore"})
    await world.caught_up()
    assert "waiting_vectors" not in await world.sums()


SOURCED = page_text(
    "Sourced",
    "The first claim.[^1] The second claim.[^2]\n\n"
    "[^1]: capture:gdrive/open-minutes\n[^2]: capture:slack/private-channel",
    more=(
        "sources: [capture:gdrive/open-minutes, capture:slack/private-channel]\n"
        "figures: [{name: ceiling, value: 12, unit: '%', source: capture:slack/private-channel}]\n"
        "relations: [{verb: governs, to: other/public.md}, {verb: uses, to: other/hr.md},"
        " {verb: uses, to: no/where.md}]\n"
    ),
)


async def test_sources_figures_and_relations_show_what_the_reader_may_open(world: World) -> None:
    await world.everyone_reads()
    bob, carol = await world.member("bob"), await world.member("carol", Tier.ADMIN)
    await world.capture("capture:gdrive/open-minutes", Acl(everyone=True))
    private = await world.capture("capture:slack/private-channel", Acl(principals=(carol,)))
    await world.promote({
        "a/sourced.md": SOURCED,
        "other/public.md": page_text("Other", "public"),
        "other/hr.md": page_text("Salaries", "hr only", access="hr"),
    })  # fmt: skip
    await world.caught_up()
    narrow, wide = await world.read("a/sourced.md", bob), await world.read("a/sourced.md", carol)
    assert (narrow.sources, narrow.withheld) == (("gdrive/open-minutes",), {"slack": 1})
    assert "private-channel" not in narrow.text
    assert "[^2]: withheld (slack)" in narrow.text
    assert [figure.source for figure in narrow.figures] == ["withheld (slack)"]
    assert [relation.path for relation in narrow.relations] == ["other/public.md"]
    assert (wide.sources, wide.withheld) == (("gdrive/open-minutes", "slack/private-channel"), {})
    assert "capture:slack/private-channel" in wide.text
    assert [relation.title for relation in wide.relations] == ["Other", "Salaries"]
    (hit,) = (await world.search("second claim", bob)).hits
    assert "private-channel" not in hit.text
    assert (await world.search("private channel", bob)).empty == "no_match"
    await world.change_acl(private, Acl(everyone=True))
    assert (await world.read("a/sourced.md", bob)).withheld == {}
    await world.change_acl(private, Acl(known=False))
    assert (await world.read("a/sourced.md", carol)).withheld == {"slack": 1}


async def test_what_a_stranger_files_under_the_same_names_neither_opens_nor_hides_a_source(world: World) -> None:
    await world.everyone_reads()
    bob, carol = await world.member("bob"), await world.member("carol", Tier.ADMIN)
    name = "capture:slack/private-channel"
    first = await world.capture(name, Acl(principals=(carol,)))
    await world.promote({"a/sourced.md": SOURCED})
    await world.capture(name, Acl(everyone=True))
    hidden = await world.capture(name, Acl(principals=(bob,)))
    await world.caught_up()
    assert (await world.read("a/sourced.md", bob)).withheld == {"gdrive": 1, "slack": 1}
    assert (await world.read("a/sourced.md", carol)).withheld == {"gdrive": 1}
    await world.capture(name, Acl(everyone=True), supersedes=hidden)
    later = await world.capture(name, Acl(principals=(bob,)), supersedes=first)
    await world.caught_up()
    assert (await world.read("a/sourced.md", bob)).withheld == {"gdrive": 1}
    assert (await world.read("a/sourced.md", carol)).withheld == {"gdrive": 1, "slack": 1}
    await world.withdraw(later)
    assert (await world.read("a/sourced.md", carol)).withheld == {"gdrive": 1}, "the next filer's, for everyone"
