"""The sample company: what a newcomer finds a minute after `make up`."""

import shlex
import subprocess
from pathlib import Path

import pytest

from houses import build

pytestmark = pytest.mark.system


def test_a_newcomer_finds_the_sample_company_and_a_way_in(tmp_path: Path) -> None:
    house = build(tmp_path)
    try:
        assert house.command("up", "--detach").code == 0
        welcome = house.command("welcome")
        assert welcome.code == 0, welcome.said
        assert house.command("proposals", "--as", "alice").result == {"proposals": []}
        client = str(welcome.result["client"])
        command = client[client.index("$(") + 2 : client.rindex(")")]
        issued = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
        token = issued.stdout.strip()
        assert shlex.quote(token) == token
        found = house.command("search", "how much discount may I give", "--token", token)
        assert isinstance(found.result["hits"], list)
        first = found.result["hits"][0]
        assert first["path"] == "topics/pricing/standard-discount.md"
        assert first["receipt"]["approver"] == "alice"
        hidden = house.command("read", "hr/salary-bands.md", "--token", token)
        missing = house.command("read", "hr/nothing.md", "--token", token)
        assert hidden.code == missing.code == 1
        position = house.command("status").result["position"]
        again = house.command("welcome")
        assert again.result["link"] != welcome.result["link"]
        facts = house.command("log", "verify").result
        assert facts["ok"] is True
        assert facts["position"] == house.command("status").result["position"]
        assert isinstance(position, int)
    finally:
        house.command("down")
