"""Lines that stories tell stand at the end of the run."""

from collections.abc import Callable

import pytest

import story


@pytest.fixture(name="tell")
def told_at_the_end() -> Callable[[str], None]:
    """Say a line about this test in the summary of the run."""
    return story.LINES.append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines."""
    if story.LINES:
        terminalreporter.section("what the stories saw")
        for line in story.LINES:
            terminalreporter.write_line(line)
