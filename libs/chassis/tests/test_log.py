"""A log line is one JSON object, and an error in it is a type and places, never a text."""

import logging
from collections.abc import Iterator

import msgspec
import pytest
import structlog

from chassis import log, telemetry


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    before = logging.getLogger().handlers[:]
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers[:] = before


def test_an_exception_is_logged_without_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("drift")
    with telemetry.span("test"):
        expected = telemetry.trace_id()
        try:
            int("NO93 8601 1117 947")
        except ValueError:
            log.get(part="sweeps").exception("sweep_failed", page="p1")
    line = msgspec.json.decode(capsys.readouterr().err)
    assert "8601" not in str(line)
    assert (line["event"], line["service"], line["part"], line["page"]) == ("sweep_failed", "drift", "sweeps", "p1")
    assert line["error"] == "builtins.ValueError"
    assert line["trace"] == expected
    assert any("test_log.py" in frame for frame in line["frames"])
