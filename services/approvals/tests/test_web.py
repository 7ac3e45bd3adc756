"""The pages of reviewers, over HTTP, with gateway's session answered by a neighbour."""

import re
from html import unescape
from uuid import uuid4

import httpx2

from approvals_world import World, digest, page_text
from contracts.approvals_messages import SubmitBuild, SubmitText
from contracts.enums import Origin, PageAction, ProposalKind
from contracts.gateway_messages import session_cookie
from contracts.ids import BrainId, CommandId, PrincipalId
from servers import free_port

BODY = page_text("Discount ceiling", "Up to 12 %.\nA trap: \u202eevil\u202c <script>alert(1)</script>")


class Browser:
    """Requests of one signed-in person."""

    def __init__(self, client: httpx2.AsyncClient, world: World, who: PrincipalId | None = None) -> None:
        self.client = client
        self.who = who or world.alice
        self.cookies = {"cookie": f"{session_cookie(world.brain)}={self.who}"}

    async def get(self, path: str) -> httpx2.Response:
        return await self.client.get(path, headers=self.cookies)

    async def post(self, path: str, **fields: str) -> httpx2.Response:
        return await self.client.post(path, data=fields, headers=self.cookies)


def fields(html: str, form: int = 0) -> dict[str, str]:
    """The hidden fields of a decision form."""
    forms = re.findall(r'<form method="post" action="/proposals.*?</form>', html, re.DOTALL)
    return {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', forms[form])}


def buttons(html: str) -> list[str]:
    """What the buttons of a page say."""
    return [unescape(said) for said in re.findall(r"<button[^>]*>(.*?)</button>", html)]


async def test_without_a_session_a_page_says_how_to_sign_in(client: httpx2.AsyncClient, world: World) -> None:
    other = f"{session_cookie(BrainId(uuid4()))}={world.alice}"
    for path in ("/", f"/proposals/{uuid4()}"):
        for cookie in ({}, {"cookie": f"{session_cookie(world.brain)}=nonsense"}, {"cookie": other}):
            response = await client.get(path, headers=cookie)
            assert response.status_code == 401
            assert "brain signin" in response.text


async def test_every_response_binds_the_browser(client: httpx2.AsyncClient, world: World) -> None:
    for path in ("/", "/static/approvals.css", "/nowhere", f"/proposals/{uuid4()}", "/proposals/x"):
        response = await Browser(client, world).get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-request-id"]


async def test_the_list_shows_what_one_may_see_with_its_waiting_time(client: httpx2.AsyncClient, world: World) -> None:
    await world.propose("topics/pricing.md", BODY)
    mallory = await world.member("mallory")
    mine = (await Browser(client, world).get("/")).text
    assert "Discount ceiling" in mine
    assert "topics/pricing.md" in mine
    assert "just now" in mine
    theirs = await Browser(client, world, mallory).get("/")
    assert theirs.status_code == 200
    assert "Discount" not in theirs.text
    assert "Nothing waits for you" in theirs.text


async def test_a_proposal_shows_exactly_its_stored_bytes_and_what_hides_in_them(
    client: httpx2.AsyncClient, world: World
) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    html = (await Browser(client, world).get(f"/proposals/{submitted.proposal}")).text
    assert digest(BODY) in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script" not in html
    assert "\u202e" not in html
    assert "U+202E" in html
    assert "RIGHT-TO-LEFT OVERRIDE" in html
    said = re.findall(r'<span class="said">(.*?)</span>\n</span>', html, re.DOTALL)
    shown = "\n".join(unescape(re.sub(r"<[^>]*>", "", line)) for line in said)
    assert shown == BODY.decode().replace("\u202e", "U+202E").replace("\u202c", "U+202C")


async def test_a_stranger_gets_the_same_page_as_for_nothing(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    mallory = Browser(client, world, await world.member("mallory"))
    hidden = await mallory.get(f"/proposals/{submitted.proposal}")
    absent = await mallory.get(f"/proposals/{uuid4()}")
    assert (hidden.status_code, hidden.text) == (404, absent.text)
    form = {"csrf": f"csrf-{mallory.who}", "command": str(uuid4())}
    voted = await mallory.post(
        f"/proposals/{submitted.proposal}/decision", **form, verdict="approve", digest=digest(BODY)
    )
    assert voted.status_code == 404
    assert (await world.rows())["votes"] == []


async def test_approving_needs_nothing_but_the_form(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text)
    assert form["digest"] == digest(BODY)
    response = await alice.post(f"{path}/decision", **form | {"verdict": "approve"})
    assert response.status_code == 303
    after = (await alice.get(response.headers["location"])).text
    assert "It was approved." in after
    assert "in two copies" in after
    assert "Approve and publish" not in after
    again = await alice.post(f"{path}/decision", **form | {"verdict": "approve"})
    assert again.status_code == 303  # the same form sent twice is one decision
    assert len((await world.rows())["votes"]) == 1


async def test_another_verdict_or_digest_from_a_page_that_was_decided_on_records_nothing(
    client: httpx2.AsyncClient, world: World
) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text) | {"verdict": "approve"}
    assert (await alice.post(f"{path}/decision", **form)).status_code == 303
    for changed in ({"verdict": "reject"}, {"verdict": "reject", "reason": "wrong"}, {"digest": ""}, {"digest": "0"}):
        response = await alice.post(f"{path}/decision", **form | changed)
        assert response.status_code == 409
        assert "command_reused" in response.text
    assert len((await world.rows())["votes"]) == 1


async def test_other_host_names_and_forms_of_other_sites_are_refused(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text) | {"verdict": "approve"}
    for host, status in (("evil.example", 421), (f"127.0.0.1:{free_port()}", 421), ("127.0.0.1:2", 200)):
        assert (await client.get("/", headers=alice.cookies | {"host": host})).status_code == status
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        response = await client.post(f"{path}/decision", data=form, headers=alice.cookies | {"origin": origin})
        assert response.status_code == 403
        assert response.headers["x-request-id"]
    assert (await world.rows())["votes"] == []
    own = alice.cookies | {"origin": f"http://127.0.0.1:{client.base_url.port}"}
    assert (await client.post(f"{path}/decision", data=form, headers=own)).status_code == 303


async def test_a_malformed_cursor_is_not_told_as_a_decision(client: httpx2.AsyncClient, world: World) -> None:
    response = await Browser(client, world).get("/?after=zzz")
    assert response.status_code == 400
    assert "This is not a cursor of ours." in response.text
    assert "recorded" not in response.text


async def test_a_forged_form_is_refused(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text)
    for csrf in ("", "csrf-other"):
        response = await alice.post(f"{path}/decision", **form | {"verdict": "approve", "csrf": csrf})
        assert response.status_code == 403
    assert (await world.rows())["votes"] == []


async def test_a_tampered_digest_records_nothing(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text)
    response = await alice.post(f"{path}/decision", **form | {"verdict": "approve", "digest": "0" * 64})
    assert response.status_code == 409
    assert "digest_mismatch" in response.text
    assert (await world.rows())["votes"] == []


async def test_an_edit_shows_what_changes_and_says_when_its_base_moved(
    client: httpx2.AsyncClient, world: World
) -> None:
    first = await world.propose("topics/pricing.md", page_text("Ceiling", "Up to 12 %."))
    await world.approve(first.proposal, world.alice, digest(page_text("Ceiling", "Up to 12 %.")))
    edits = [page_text("Ceiling", f"Up to {n} %.") for n in (15, 20)]
    one, other = [await world.propose("topics/pricing.md", each) for each in edits]
    alice = Browser(client, world)
    html = (await alice.get(f"/proposals/{one.proposal}")).text
    assert "Up to 12 %." in re.sub(r"<[^>]*>", "", "".join(re.findall(r"<del.*?</del>", html)))
    assert "Up to 15 %." in re.sub(r"<[^>]*>", "", "".join(re.findall(r"<ins.*?</ins>", html)))
    await world.approve(other.proposal, world.alice, digest(edits[1]))
    moved = (await alice.get(f"/proposals/{one.proposal}")).text
    assert "revision 2 is live" in moved
    assert "Approve and publish" not in moved


async def test_a_rejection_asks_for_a_reason(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    alice = Browser(client, world)
    path = f"/proposals/{submitted.proposal}"
    form = fields((await alice.get(path)).text, form=1)
    assert (await alice.post(f"{path}/decision", **form | {"verdict": "reject"})).status_code == 422
    done = await alice.post(f"{path}/decision", **form | {"verdict": "reject", "reason": "wrong", "note": "No."})
    assert done.status_code == 303
    assert "It was rejected." in (await alice.get(path)).text


async def test_a_build_shows_each_page_one_click_away(client: httpx2.AsyncClient, world: World) -> None:
    build, author = await world.build({"a.md": page_text("Alpha"), "b.md": page_text("Beta")})
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    alice = Browser(client, world)
    html = (await alice.get(f"/proposals/{submitted.proposal}")).text
    links = re.findall(rf'href="(/proposals/{submitted.proposal}/pages/[^"]+)"', html)
    assert len(links) == 2
    page = (await alice.get(links[0])).text
    assert digest(page_text("Alpha")) in page
    assert (await alice.get(f"/proposals/{submitted.proposal}/pages/{uuid4()}")).status_code == 404
    form = fields(html)
    done = await alice.post(f"/proposals/{submitted.proposal}/decision", **form | {"verdict": "approve"})
    assert done.status_code == 303
    assert len((await world.rows())["pages"]) == 2


async def test_the_end_of_a_page_says_so_in_list_page_and_button(client: httpx2.AsyncClient, world: World) -> None:
    await world.publish("topics/pricing.md", BODY)
    ended = await world.propose("topics/pricing.md", b"", action=PageAction.DEPRECATE)
    alice = Browser(client, world)
    assert "end of page (revision 1)" in (await alice.get("/")).text
    html = (await alice.get(f"/proposals/{ended.proposal}")).text
    assert "End of page (revision 1)" in html
    assert buttons(html) == ["Sign out", "Approve and end this page", "Reject"]
    (listing,) = re.findall(r'<pre class="listing">(.*?)</pre>', html, re.DOTALL)
    form = fields(html)
    assert form["digest"] == digest(unescape(listing).encode())
    done = await alice.post(f"/proposals/{ended.proposal}/decision", **form | {"verdict": "approve"})
    assert done.status_code == 303
    assert (await world.rows())["pages"][0]["live"] is False


async def test_a_build_counts_what_it_does_and_shows_the_listing_that_is_decided_on(
    client: httpx2.AsyncClient, world: World
) -> None:
    for name in ("a", "b", "c"):
        await world.publish(f"{name}.md", page_text(name))
    written = {"a.md": page_text("other"), "d.md": page_text("d")}
    build, author = await world.build(written, ends=("b.md", "c.md"))
    submitted = await world.building.submit_build(SubmitBuild(command=CommandId(uuid4()), build=build, author=author))
    alice = Browser(client, world)
    assert "1 new, 1 edit, 2 ends" in (await alice.get("/")).text
    html = (await alice.get(f"/proposals/{submitted.proposal}")).text
    assert buttons(html) == ["Sign out", "Approve: publish 1, replace 1, end 2", "Reject"]
    (listing,) = re.findall(r'<pre class="listing">(.*?)</pre>', html, re.DOTALL)
    assert fields(html)["digest"] == digest(unescape(listing).encode())
    assert unescape(listing).splitlines() == sorted(
        [
            f"create 0 {digest(page_text('d'))} d.md",
            f"deprecate 1 {digest(page_text('b'))} b.md",
            f"deprecate 1 {digest(page_text('c'))} c.md",
            f"edit 1 {digest(page_text('other'))} a.md",
        ]
    )
    links = re.findall(rf'href="(/proposals/{submitted.proposal}/pages/[^"]+)"', html)
    assert "End of page (revision 1)" in (await alice.get(links[1])).text


async def test_an_inbox_text_is_shown_as_text(client: httpx2.AsyncClient, world: World) -> None:
    asked = SubmitText(
        command=CommandId(uuid4()),
        author=world.alice,
        origin=Origin.AGENT,
        kind=ProposalKind.OBSERVATION,
        title="Seen in a call",
        body="<b>The ceiling</b> is fifteen.",
    )
    submitted = await world.submissions.submit_text(asked)
    html = (await Browser(client, world).get(f"/proposals/{submitted.proposal}")).text
    assert "&lt;b&gt;The ceiling&lt;/b&gt; is fifteen." in html
    assert "Accept and keep as a capture" in html


async def test_a_title_shows_what_hides_in_it(client: httpx2.AsyncClient, world: World) -> None:
    body = page_text('"Ceil\\u2003ing <b>"')
    submitted = await world.propose("topics/pricing.md", body)
    for path in ("/", f"/proposals/{submitted.proposal}"):
        html = (await Browser(client, world).get(path)).text
        assert 'title="EM SPACE">U+2003</span>ing &lt;b&gt;' in html
        assert "\u2003" not in re.sub("<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert "<title>CeilU+2003ing &lt;b&gt; ·" in html


async def test_a_form_that_is_too_large_is_refused(client: httpx2.AsyncClient, world: World) -> None:
    submitted = await world.propose("topics/pricing.md", BODY)
    response = await Browser(client, world).post(f"/proposals/{submitted.proposal}/decision", note="x" * 100_000)
    assert response.status_code == 413
