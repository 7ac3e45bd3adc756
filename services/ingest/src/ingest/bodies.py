"""The bodies of an import's captures and pages: stored before the facts that name them, never a secret among them."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from chassis.postgres import transaction
from content.bodies import Finding, Put, Slot
from content.errors import ContentRefused
from contracts.content import ContentRef
from contracts.enums import PageAction
from contracts.ids import CaptureId, CommandId, ImportId, PrincipalId, content_id
from ingest import shelf
from ingest.desk import Desk
from ingest.domain.importing import Kept, NotKept, Outcome
from ingest.projection import Descriptor
from ingest.shelf import Waiting


@dataclass(frozen=True, slots=True)
class Stored:
    """What the facts about a capture call its bodies."""

    body: ContentRef
    descriptor: ContentRef
    page: ContentRef


async def store(
    desk: Desk, by: PrincipalId, source: str, import_id: ImportId, outcomes: Sequence[Outcome]
) -> tuple[list[Outcome], Mapping[CaptureId, Stored]]:
    """Store what is kept, and let its pages wait for the end of the import, all in one transaction.

    A file in which the scan finds something comes back as refused. Returns the outcomes as they are then, and what
    the stored bodies are called.
    """
    try:
        return list(outcomes), await _put(desk, by, source, import_id, _kept(outcomes))
    except ContentRefused as refused:
        found = _first_findings(refused.findings, _kept(outcomes))
        outcomes = [_refused(outcome, found) for outcome in outcomes]
        return outcomes, await _put(desk, by, source, import_id, _kept(outcomes))


def puts(desk: Desk, source: str, kept: Kept) -> list[Put]:
    """The three bodies of a kept file, under ids that follow from their bytes."""
    space = CommandId(kept.capture)
    composed = hmac.new(desk.key, kept.page, hashlib.sha256).hexdigest()
    return [
        Put(content_id(space, "body"), kept.body, Slot.CAPTURE),
        descriptor(kept.capture, Descriptor(source, kept.name, kept.reference)),
        Put(content_id(space, f"page/{composed}"), kept.page, Slot.PAGE),
    ]


def descriptor(capture: CaptureId, named: Descriptor) -> Put:
    """The body that names a capture."""
    return Put(content_id(CommandId(capture), "descriptor"), msgspec.json.encode(named), Slot.SOURCE)


async def _put(
    desk: Desk, by: PrincipalId, source: str, import_id: ImportId, kept: Sequence[Kept]
) -> dict[CaptureId, Stored]:
    if not kept:
        return {}
    wanted = [put for one in kept for put in puts(desk, source, one)]
    async with transaction(desk.pool, desk.brain) as db:
        refs = await desk.store.put(db, desk.brain, wanted)
        stored = {one.capture: Stored(*refs[3 * place : 3 * place + 3]) for place, one in enumerate(kept)}
        pages = [
            Waiting(one.capture, PageAction.EDIT, one.name, one.path, stored[one.capture].page, one.facts)
            for one in kept
        ]
        await shelf.let_wait(db, desk.brain, by, source, import_id, pages)
    return stored


def _kept(outcomes: Sequence[Outcome]) -> list[Kept]:
    return [outcome for outcome in outcomes if isinstance(outcome, Kept)]


def _first_findings(findings: Sequence[Finding], kept: Sequence[Kept]) -> dict[CaptureId, Finding]:
    """The first finding of each file: in its own bytes rather than in the page made of them, whose lines differ."""
    first: dict[CaptureId, Finding] = {}
    for finding in findings:
        first.setdefault(kept[finding.index // 3].capture, finding)
    return first


def _refused(outcome: Outcome, found: Mapping[CaptureId, Finding]) -> Outcome:
    finding = found.get(outcome.capture)
    if finding is None:
        return outcome
    return NotKept(outcome.name, outcome.capture, finding.category, finding.line, f"column {finding.column}")
