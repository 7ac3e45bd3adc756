"""What is refused on a running brain: each time by a typed refusal, and each time with nothing half-done."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

import inside
import reading
import story
from contracts.content import ContentRef
from contracts.ids import ContentId
from houses import House, Outcome, build
from shared_data import archive

pytestmark = pytest.mark.system

OK, FAILED, USAGE, SIGNED_OUT, FORBIDDEN, UNAVAILABLE = range(6)
NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module", autouse=True)
def people(house: House) -> Iterator[None]:
    """`refused-bob` may read and suggest below `refusals/`, no more."""
    story.join(house, "refused-bob")
    story.grant(house, "refused-bob", "suggest", "refused-bobs/**")
    yield
    assert house.command("member", "remove", "refused-bob", "--as", "alice").code == 0


@pytest.fixture(scope="module", name="token")
def token_of_alice(house: House) -> str:
    return reading.token(house, "alice")


@contextmanager
def nothing_happens(house: House) -> Iterator[None]:
    """Neither facts nor proposals come of the block."""
    before = _standing(house)
    yield
    assert _standing(house) == before


def _standing(house: House) -> tuple[object, object]:
    listed = house.command("proposals", "--as", "alice")
    status = house.command("status")
    return status.result["position"], listed.result["proposals"]


def refusal(outcome: Outcome) -> dict[str, str]:
    """The typed refusal that a command told."""
    error = outcome.result["error"]
    assert isinstance(error, dict)
    assert set(error) == {"code", "what", "where", "remedy"}
    assert error["what"]
    assert "Traceback" not in outcome.said
    return {str(key): str(value) for key, value in error.items()}


def edit(house: House, folder: Path, text: str) -> str:
    """Import one page of `folder` with this text; its proposal."""
    story.write(folder, {f"{folder.name}/page.md": f"# Page of {folder.name}\n\n{text}\n"})
    (proposal,) = story.proposed(story.take_in(house, folder))
    return proposal


def decide(house: House, proposal: str, digest: str, person: str = "alice") -> Outcome:
    return house.command("approve", proposal, "--digest", digest, "--as", person)


def digest(house: House, proposal: str) -> str:
    return str(story.waiting(house)[proposal]["digest"])


def test_a_wrong_digest_decides_nothing(house: House, tmp_path: Path) -> None:
    proposal = edit(house, tmp_path / "wrong-digest", "One.")
    with nothing_happens(house):
        refused = decide(house, proposal, "0" * 64)
        assert (refused.code, refusal(refused)["code"]) == (FAILED, "digest_mismatch")
    story.approve(house, proposal)


def test_a_second_decision_is_refused_and_a_repeated_one_answered_alike(house: House, tmp_path: Path) -> None:
    proposal = edit(house, tmp_path / "second-decision", "One.")
    shown = digest(house, proposal)
    command = ("--command", "6a3d2f6e-0000-4000-8000-000000000001")
    first = house.command("approve", proposal, "--digest", shown, "--as", "alice", *command)
    assert (first.code, first.result["outcome"]) == (OK, "approved")
    with nothing_happens(house):
        again = house.command("approve", proposal, "--digest", shown, "--as", "alice", *command)
        assert (again.code, again.result["position"]) == (OK, first.result["position"])
        second = decide(house, proposal, shown)
        assert (second.code, refusal(second)["code"]) == (FAILED, "already_decided")
        other = house.command("reject", proposal, "--reason", "wrong", "--as", "alice")
        assert (other.code, refusal(other)["code"]) == (FAILED, "already_decided")


def test_a_moved_base_is_told_at_decision_time(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "moved-base"
    story.approve(house, edit(house, folder, "One."))
    earlier, later = edit(house, folder, "Two."), edit(house, folder, "Three.")
    shown = digest(house, earlier)
    story.approve(house, later)
    with nothing_happens(house):
        refused = decide(house, earlier, shown)
        assert (refused.code, refusal(refused)["code"]) == (FAILED, "base_moved")


def test_who_may_not_decide_is_told_nothing_about_the_proposal(house: House, tmp_path: Path) -> None:
    proposal = edit(house, tmp_path / "no-right", "One.")
    shown = digest(house, proposal)
    with nothing_happens(house):
        assert proposal not in story.waiting(house, "refused-bob")
        hidden = decide(house, proposal, shown, "refused-bob")
        missing = decide(house, NOWHERE, shown, "refused-bob")
        assert (hidden.code, refusal(hidden)["code"]) == (FAILED, "no_such_proposal")
        assert refusal(hidden) == refusal(missing)
    story.approve(house, proposal)


async def test_nobody_approves_what_he_proposed_himself(house: House) -> None:
    token = reading.token(house, "alice", "admin", "brain:read", "brain:propose")
    async with reading.reader(house, token) as reader:
        filed = await reader.call("write_inbox", kind="observation", title="Own idea", body="I think so, therefore.")
    proposal = str(filed["inboxId"])
    with nothing_happens(house):
        refused = decide(house, proposal, digest(house, proposal))
        assert (refused.code, refusal(refused)["code"]) == (FORBIDDEN, "self_approval")
    assert house.command("withdraw", proposal, "--as", "alice").code == OK


async def test_a_token_for_reading_proposes_nothing(house: House) -> None:
    token = reading.token(house, "alice", "admin", "brain:read")
    text = {"kind": "observation", "title": "Own idea", "body": "I think so, therefore."}
    async with reading.reader(house, token) as reader:
        with nothing_happens(house):
            told = await reader.client.call_tool("write_inbox", text)
    assert told.is_error
    assert "missing the required brain:propose scope. The proposal was NOT registered." in told.model_dump_json()


def test_exit_codes_tell_what_kind_of_no_it_was(house: House, tmp_path: Path) -> None:
    with nothing_happens(house):
        usage = house.command("approve", "not-an-id", "--digest", "0", "--as", "alice")
        assert (usage.code, refusal(usage)["code"]) == (USAGE, "usage")
        nobody = house.command("proposals")
        assert (nobody.code, refusal(nobody)["code"]) == (SIGNED_OUT, "not_signed_in")
        stranger = house.command("proposals", "--as", "refused-nobody")
        assert (stranger.code, refusal(stranger)["code"]) == (SIGNED_OUT, "not_signed_in")
        forbidden = house.command("member", "add", "refused-eve", "--as", "refused-bob")
        assert (forbidden.code, refusal(forbidden)["code"]) == (FORBIDDEN, "forbidden")
        unknown = house.command("search", "anything", "--token", "brain_of-nobody")
        assert (unknown.code, refusal(unknown)["code"]) == (SIGNED_OUT, "not_signed_in")
        failed = house.command("import", str(tmp_path / "nowhere"), "--owner", "alice", "--as", "alice")
        assert (failed.code, refusal(failed)["code"]) == (FAILED, "no_such_folder")
        folder = story.write(tmp_path / "owned-by-nobody", {"page.md": "# Page\n\nText.\n"})
        owner = house.command("import", str(folder), "--owner", "refused-nobody", "--as", "alice")
        assert owner.code == FAILED
        assert refusal(owner)["where"]
        scope = house.command("grant", "add", "alice", "read", "../**", "--as", "alice")
        assert (scope.code, refusal(scope)["code"]) == (FAILED, "scope_malformed")
    asleep = House(build(tmp_path).home, build(tmp_path).ports, tmp_path / "spans")
    assert asleep.command("status").code == UNAVAILABLE


BOMB = "---\na: &a [lol, lol]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n\nText.\n"
CARD, IBAN, PASSWORD = "4111 1111 1111 1111", "NO93 8601 1117 947", "hunter2-Tr0ub4dor"
BAD_FILES: dict[str, tuple[bytes, str, int]] = {
    "latin1.md": (b"# Caf\xe9\n\nText.\n", "invalid_utf8", 1),
    "zero-byte.md": (b"# Page\n\nA\x00B\n", "unreadable", 3),
    "large.md": (b"# Page\n\n" + b"word " * 2_000_000, "too_large", 0),
    "blank.md": (b"\n\n", "empty", 0),
    "bomb.md": (BOMB.encode(), "frontmatter", 3),
    "tagged.md": (b"---\ntitle: !!python/object/apply:os.system [ls]\n---\n\nText.\n", "frontmatter", 2),
    "twice.md": (b"---\ntitle: A\ntitle: B\n---\n\nText.\n", "frontmatter", 3),
    "deep.md": (b"---\nx: " + b"[" * 40 + b"]" * 40 + b"\n---\n\nText.\n", "frontmatter", 2),
    "unclosed.md": (b"---\ntitle: [A\n---\n\nText.\n", "frontmatter", 3),
    "card.md": (f"# Page\n\nPay with {CARD}.\n".encode(), "payment_card", 3),
    "iban.md": (f"# Page\n\n\nSend it to {IBAN}.\n".encode(), "bank_account", 4),
    "login.md": (f"# Page\n\npassword: {PASSWORD}\n".encode(), "credential", 3),
    "Same Page.md": (b"# One\n", "path_collision", 0),
    "same-page.md": (b"# Two\n", "path_collision", 0),
    "con.md": (b"# Device\n", "path", 0),
    "---.md": (b"# Nothing\n", "path", 0),
    "a/b/c/d/e/f/g/h/i/deep.md": (b"# Deep\n", "path", 0),
}
GOOD_FILES = {
    "norway.md": b"---\ncountry: NO\nversion: 1.10\nflag: yes\n---\n\n# Norway\n\nA wombat lives there.\n",
    "windows.md": b"\xef\xbb\xbf# Windows\r\n\r\nA wombat edits there.\r\n",
}


async def test_bad_files_are_refused_by_name_and_the_others_go_on(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "bad-files"
    for name, body in {**{name: bad[0] for name, bad in BAD_FILES.items()}, **GOOD_FILES}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    done = house.command("import", str(folder), "--owner", "alice", "--as", "alice")
    assert done.code == OK, done.result
    refused = done.result["refused"]
    assert isinstance(refused, list)
    told = {one["file"]: (one["category"], one["line"]) for one in refused}
    assert told == {name: (category, line) for name, (_, category, line) in BAD_FILES.items()}
    assert (done.result["captures"], done.result["pages"]) == (len(GOOD_FILES), len(GOOD_FILES))
    for proposal in story.proposed(done.result):
        story.approve(house, proposal)
    with nothing_happens(house):
        again = story.take_in(house, folder)
        assert (again["captures"], again["unchanged"], again["builds"]) == (0, len(GOOD_FILES), [])
        assert again["refused"] == refused
    async with inside.look(house) as within:
        (row,) = await within.rows(
            "select body_id, body_commitment from approvals.pages where brain = $1 and path = 'norway.md'"
        )
        body = await within.body(ContentRef(ContentId(row["body_id"]), row["body_commitment"]))
    assert b"country: NO\nversion: 1.10\nflag: yes\n" in body


async def test_a_refused_secret_stands_nowhere(house: House, tmp_path: Path) -> None:
    secrets = {
        "card": "5500 0000 0000 0004",
        "iban": "GB82 WEST 1234 5698 7654 32",
        "login": "Zq9-wombat-horse-battery",
    }
    files = {
        "card.md": f"# Card\n\nIt is {secrets['card']}.\n",
        "iban.md": f"# Account\n\nIt is {secrets['iban']}.\n",
        "login.md": f"# Sign-in\n\npassword: {secrets['login']}\n",
    }
    with nothing_happens(house):
        folder = story.write(tmp_path / "secrets", files)
        done = house.command("import", str(folder), "--owner", "alice", "--as", "alice")
    assert done.code == FAILED, done.result
    assert (done.result["captures"], done.result["pages"], done.result["builds"]) == (0, 0, [])
    refused = done.result["refused"]
    assert isinstance(refused, list)
    assert all(set(one) == {"file", "category", "line"} and one["line"] == 3 for one in refused)
    assert [one["category"] for one in refused] == ["payment_card", "bank_account", "credential"]
    everywhere = [json.dumps(done.result), done.said]
    everywhere += [path.read_text() for path in (house.home.root / "logs").iterdir()]
    everywhere.append(house.traces.read_text())
    async with inside.look(house) as within:
        stored = b"\n".join(await within.bodies())
        streams = [one.body for name in ("EVT", "CAP", "CHK", "PARKED") for one in await within.messages(name)]
    for value in secrets.values():
        assert [text for text in everywhere if value in text] == []
        assert value.encode() not in stored
        assert [body for body in streams if value.encode() in body] == []


def test_names_that_are_hard_to_read_make_plain_paths_or_none(house: House, tmp_path: Path) -> None:
    naughty = json.loads((archive("unicode-paths") / "blns.json").read_text())
    fits = [name for name in naughty if name and "/" not in name and "\0" not in name and len(name.encode()) < 200]
    folder = tmp_path / "naughty-names"
    folder.mkdir()
    for number, name in enumerate(fits):
        (folder / f"{name}.md").write_text(f"# Name {number}\n\nNumber {number}.\n")
    done = house.command("import", str(folder), "--owner", "alice", "--as", "alice")
    assert done.code == OK, done.result
    refused = done.result["refused"]
    assert isinstance(refused, list)
    assert {one["category"] for one in refused} == {"path", "path_collision"}
    pages = done.result["pages"]
    assert isinstance(pages, int)
    assert pages > 50
    assert pages + len(refused) == len(list(folder.iterdir()))
    for proposal in story.proposed(done.result):
        assert house.command("reject", proposal, "--reason", "not_canon_worthy", "--as", "alice").code == OK


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"[]", 400, -32600),
        (b'"text"', 400, -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": ' + b'{"a":' * 100 + b"1" + b"}" * 101, 400, -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing/here"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 1_100_000 + b'"}', 413, -32600),
    ],
)
def test_what_is_no_message_is_answered_as_an_error(
    house: House, token: str, body: bytes, status: int, code: int
) -> None:
    address = f"http://127.0.0.1:{house.ports.gateway}/api/mcp"
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    reply = httpx2.post(address, content=body, headers=headers, trust_env=False)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert reply.headers["x-request-id"]
    unsigned = httpx2.post(address, content=body, trust_env=False)
    assert unsigned.status_code == 401
