"""What scripts do at the console, on a running brain."""

import pytest

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
    assert (why.result["visible"], why.result["permission"]) == (True, "approve")
    refused = house.command("member", "add", "console-eve", "--as", "console-bob")
    assert (refused.code, refused.result["error"]) == (4, refused.result["error"])
    assert house.command("grant", "revoke", "console-bob", "approve", "console/**", "--as", "alice").code == 0
    assert house.command("why", "console-bob", "console/page.md", "--as", "alice").result["permission"] == "read"


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
