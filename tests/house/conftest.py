"""Papers of a brain that is deployed nowhere: what the deployment's files are rendered and checked with."""

from pathlib import Path
from uuid import UUID

import pytest

from brain.deployment import secrets


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `brain secrets` makes."""
    folder = tmp_path_factory.mktemp("papers") / "papers"
    place = secrets.Place("postgres:5432", "nats:4222", "https://brain.example.com", "https://brain.example.com")
    secrets.write(folder, place, UUID("5b6f3c1e-6c1b-4c9e-9c39-6b4b8a1f2d10"))
    return folder
