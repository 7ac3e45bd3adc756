"""What scripts do at the console, on a running brain."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import reading
import story
from houses import House

pytestmark = pytest.mark.system


def test_a_new_brain_has_its_owner_signed_in(house: House) -> None:
    me = house.command("whoami", "--as", "alice")
    assert (me.code, me.result["name"], me.result["role"], me.result["tier"]) == (0, "alice", "owner", "admin")


def test_a_member_may_do_what_was_granted_and_no_more(house: House) -> None:
    added = house.command("member", "add", "console-bob", "--role", "member", "--tier", "employee", "--as", "alice")
    assert (added.code, added.result["archived"]) == (0, True)
    assert house.command("whoami", "--as", "console-bob").code == 3
    assert house.command("signin", "console-bob").code == 0
    assert house.command("whoami", "--as", "console-bob").result["name"] == "console-bob"
    assert house.command("grant", "add", "console-bob", "approve", "console/**", "--as", "alice").code == 0
    why = house.command("why", "console-bob", "console/page.md", "--as", "alice")
    assert (why.result["visible"], why.result["permission"]) == (None, None)  # alice sees no page there either
    assert "own grant of approve on console/** would reach an ordinary page here" in str(why.result["reasons"])
    refused = house.command("member", "add", "console-eve", "--as", "console-bob")
    assert (refused.code, refused.result["error"]) == (4, refused.result["error"])
    assert house.command("grant", "revoke", "console-bob", "approve", "console/**", "--as", "alice").code == 0
    why = house.command("why", "console-bob", "console/page.md", "--as", "alice")
    assert "console/**" not in str(why.result["reasons"])


def test_a_group_is_given_members_and_what_it_holds_counts_for_them_by_its_name(house: House) -> None:
    for name in ("console-gus", "console-hal"):
        assert house.command("member", "add", name, "--as", "alice").code == 0
    assert house.command("group", "set", "console-team", "console-gus", "console-hal", "--as", "alice").code == 0
    listed = told(house, "group", "list", "--as", "alice")
    assert [line.split(maxsplit=1) for line in listed if line.startswith(("console-team ", "everyone "))] == [
        ["console-team", "console-gus, console-hal"],
        ["everyone", "everybody"],
    ]
    assert house.command("grant", "add", "console-team", "suggest", "console-notes/**", "--as", "alice").code == 0
    reason = "group console-team's grant of suggest on console-notes/** would reach an ordinary page here"
    why = house.command("why", "console-hal", "console-notes/page.md", "--as", "alice")
    assert reason in str(why.result["reasons"])
    assert house.command("group", "set", "console-team", "console-gus", "--as", "alice").code == 0
    why = house.command("why", "console-hal", "console-notes/page.md", "--as", "alice")
    assert reason not in str(why.result["reasons"])
    assert house.command("group", "set", "everyone", "console-gus", "--as", "alice").code == 1


def test_a_token_tells_its_id_beside_itself_and_is_ended_by_it(house: House) -> None:
    with shell(house, "token", "issue", "--scope", "brain:propose", "--as", "alice") as running:
        out, err = running.communicate(timeout=240)
    assert (running.returncode, len(out.split())) == (0, 1)
    (line,) = [line for line in told(house, "token", "list", "--as", "alice") if line.split()[0] in err]
    assert line.endswith("  brain:read brain:propose")
    assert house.command("token", "revoke", line.split()[0], "--as", "alice").code == 0
    assert house.command("search", "anything", "--token", out.strip()).code == 3


def test_a_member_who_left_is_signed_in_nowhere(house: House) -> None:
    assert house.command("member", "add", "console-carl", "--as", "alice").code == 0
    assert house.command("signin", "console-carl").code == 0
    token = house.command("token", "issue", "--as", "console-carl", "--scope", "brain:read").result["token"]
    assert isinstance(token, str)
    assert token.startswith("brain_")
    assert house.command("search", "anything", "--token", token).code == 0
    assert house.command("member", "remove", "console-carl", "--as", "alice").code == 0
    assert house.command("whoami", "--as", "console-carl").code == 3
    assert house.command("search", "anything", "--token", token).code == 3


def test_an_admin_sets_how_often_anybody_may_ask_and_sees_what_was_used(house: House) -> None:
    made = house.command("limits", "set", "ask", "17", "--as", "alice")
    assert (made.code, limits(made.result)["ask"]) == (0, 17)
    assert limits(house.command("limits", "list", "--as", "alice").result)["ask"] == 17
    token = reading.token(house, "alice")
    assert house.command("search", "anything", "--token", token).code == 0
    lines = house.command("costs", "--days", "1", "--as", "alice").result["costs"]
    assert isinstance(lines, list)
    assert [(line["category"], line["billable"], line["calls"] >= 1) for line in lines] == [("tool_call", True, True)]
    assert limits(house.command("limits", "set", "ask", "--as", "alice").result)["ask"] == 60
    assert house.command("limits", "set", "nothing", "5", "--as", "alice").code == 1
    assert house.command("member", "add", "console-fay", "--as", "alice").code == 0
    assert house.command("signin", "console-fay").code == 0
    assert house.command("costs", "--as", "console-fay").code == 4


def limits(listed: dict[str, object]) -> dict[str, int]:
    lines = listed["limits"]
    assert isinstance(lines, list)
    return {line["name"]: line["per_minute"] for line in lines}


def test_a_token_is_never_above_its_person(house: House) -> None:
    assert house.command("member", "add", "console-dora", "--as", "alice").code == 0
    assert house.command("signin", "console-dora").code == 0
    refused = house.command("token", "issue", "--tier", "admin", "--as", "console-dora")
    assert refused.code in {1, 4}
    assert refused.result["error"]


def test_the_ledger_is_whole(house: House) -> None:
    report = house.command("log", "verify")
    assert report.code == 0, report.result
    assert report.result["ok"] is True
    assert report.result["problems"] == []
    assert isinstance(report.result["position"], int)
    assert report.result["position"] > 0


def shell(house: House, *words: str) -> "subprocess.Popen[str]":
    """Begin `brain WORDS`, as a person would type it."""
    place = {"BRAIN_HOME": str(house.home.root), "BRAIN_PORT": str(house.ports.first)}
    argv = [sys.executable, "-m", "brain.main", *words]
    return subprocess.Popen(
        argv, env={**os.environ, **place}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def told(house: House, *words: str) -> list[str]:
    """The lines of a command that succeeded and said nothing beside them."""
    with shell(house, *words) as running:
        out, err = running.communicate(timeout=240)
    assert (running.returncode, err) == (0, "")
    return out.splitlines()


def test_a_person_sees_what_to_approve_and_what_an_answer_stands_on(house: House, tmp_path: Path) -> None:
    text = "# Lighthouse \x1b[31mred\n\nThe lighthouse keeps its lamp.\n"
    imported = story.take_in(house, story.write(tmp_path / "seen", {"seen/lighthouse.md": text}))
    (proposal,) = story.proposed(imported)
    digest = story.waiting(house)[proposal]["digest"]
    listed = told(house, "proposals", "--as", "alice")
    at = next(number for number, line in enumerate(listed) if line.startswith(proposal))
    assert listed[at + 1] == f"  digest {digest}"
    assert "\x1b" not in "".join(listed)
    (decided,) = told(house, "approve", proposal, "--digest", str(digest), "--as", "alice")
    assert decided.startswith("approved at position ")
    page = told(house, "read", "seen/lighthouse.md", "--token", reading.token(house, "alice"))
    assert "\\x1b[31mred" in "\n".join(page)
    assert page[-1].startswith("receipt: revision 1, approved by alice at ")


def _rebuilding(command: psutil.Process) -> psutil.Process:
    """The process that rebuilds for `command`, once it runs."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in command.children():
            if child.cmdline()[1:] == ["-m", "retrieval", "rebuild"]:
                return child
        psutil.wait_procs([command], timeout=0.02)
    raise AssertionError("no process rebuilds")


def test_a_rebuild_ends_with_its_command_and_a_later_one_is_told_in_one_line(house: House) -> None:
    with shell(house, "rebuild", "retrieval") as running:
        child = _rebuilding(psutil.Process(running.pid))
        running.kill()
        assert psutil.wait_procs([child], timeout=20)[1] == []
    (line,) = told(house, "rebuild", "retrieval")
    assert line.startswith("The new index is equal and serves now: ")
