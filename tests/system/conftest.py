"""Lines that stories tell about what they saw; they stand at the end of the run, whether it passed or not."""

from collections.abc import Callable

import pytest

LINES = pytest.StashKey[list[str]]()

Tell = Callable[[str], None]


@pytest.fixture(name="tell")
def told_at_the_end(request: pytest.FixtureRequest) -> Tell:
    """Say a line about this test in the summary of the run."""
    lines = request.config.stash.setdefault(LINES, [])
    return lines.append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the lines."""
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("what the stories saw")
        for line in lines:
            terminalreporter.write_line(line)
