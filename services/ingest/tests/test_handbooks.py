"""Handbooks that nobody here wrote, through the whole of an import."""

from pathlib import Path
from uuid import uuid4

import pytest

from brain import folder
from contracts.enums import Refusal
from contracts.ids import ImportId
from contracts.ingest_messages import Imported, ImportedPart
from importing_house import House
from shared_data import archive

pytestmark = pytest.mark.service

SERVER_SIDE = "content/departments/engineering/teams/code-search/batch-changes/go-to-market/server-side/index.md"
RECRUITING = "content/departments/people-talent/talent/tools/resources_for_recruiting_operations.md"


async def bring(house: House, root: Path) -> tuple[list[ImportedPart], Imported]:
    """Import a folder as the console does."""
    found = folder.look(root)
    colliding = folder.colliding(found)
    import_id, told = ImportId(uuid4()), []
    for number, files in enumerate(folder.parts(found)):
        sent = {file.path: file.text for file in files}
        clash = tuple(name for name in sent if name in colliding)
        told.append((await house.send(sent, import_id=import_id, part=number, colliding=clash))[1])
    return told, await house.finish(import_id)


def refusals(told: list[ImportedPart]) -> dict[str, tuple[Refusal, int]]:
    return {one.file: (one.category, one.line) for part in told for one in part.refused}


@pytest.mark.parametrize(
    ("name", "pages", "refused"),
    [
        ("gds-way", 66, {}),
        ("variant-no", 15, {"README.md": (Refusal.CREDENTIAL, 38)}),
        pytest.param(
            "sourcegraph",
            882,
            {
                SERVER_SIDE: (Refusal.PATH, 0),
                RECRUITING: (Refusal.CREDENTIAL, 317),
                "content/departments/product/design/documents_templates/index.md": (Refusal.EMPTY, 0),
                "content/departments/sales/sales-enablement/contentmanagement.md": (Refusal.EMPTY, 0),
                "content/departments/technical-success/ce/process/demo-repo-contribution.md": (Refusal.EMPTY, 0),
            },
            marks=[pytest.mark.large, pytest.mark.timeout(900)],
        ),
    ],
)
async def test_a_handbook_comes_in_but_for_the_refused_and_a_second_time_changes_nothing(
    house: House, name: str, pages: int, refused: dict[str, tuple[Refusal, int]]
) -> None:
    root = archive("handbooks") / name / "pages"
    told, done = await bring(house, root)
    assert refusals(told) == refused
    assert sum(part.captures for part in told) == done.pages == len(house.approvals.written) == pages
    assert len(done.builds) == 1
    asked = len(house.approvals.asked)
    again, nothing = await bring(house, root)
    assert refusals(again) == refused
    assert (sum(part.captures for part in again), sum(part.unchanged for part in again)) == (0, pages)
    assert (nothing.pages, nothing.builds, len(house.approvals.asked)) == (0, (), asked)
