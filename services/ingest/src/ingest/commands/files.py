"""A part of an import: each file becomes a capture and a page that waits, is unchanged, or is refused."""

import asyncio
from collections.abc import Mapping, Sequence

from chassis import metrics
from chassis.postgres import transaction
from contracts import subjects
from contracts.captures import Acl, CaptureRecorded
from contracts.enums import AuthorKind, Refusal, Region
from contracts.errors import Refused, Unavailable
from contracts.ids import CaptureId, CommandId, derived
from contracts.ingest_messages import ImportedPart, ImportFiles, RefusedFile
from corpus import paths
from eventlog.log import Append, Conflict
from ingest import bodies, resolved, shelf
from ingest.bodies import Stored
from ingest.desk import ATTEMPTS, Desk
from ingest.domain import capture
from ingest.domain.importing import COLLISION, File, Kept, NotKept, Outcome, Unchanged, judge
from ingest.terms import World, world

_FILES = metrics.counter("ingest_files_total", "files of imports by what became of them", "outcome")
MOST_BYTES = 384 * 1024
"""Bytes of files in one part: in base64 they fill a message of 512 KB (domain rule)."""


class Files:
    """Serves `import_files`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def take(self, asked: ImportFiles) -> ImportedPart:
        """Take one part. Sent again it changes nothing and tells the same.

        Raises `part_too_large`, `file_twice`, what `terms.world` raises, and `Unavailable`.
        """
        _check(asked)
        desk, source, files = self._desk, asked.options.source, _files(asked)
        async with desk.one_import():
            for _ in range(ATTEMPTS):
                stood = await desk.fresh()
                around, outcomes = await self._judge(asked, files)
                outcomes, stored = await bodies.store(desk, asked.by, source, asked.import_id, outcomes)
                try:
                    said = await self._say(asked, around, outcomes, stored)
                except Conflict as conflict:
                    await desk.catch_up(recordings=conflict.last)
                    continue
                await self._change_acls(asked, around, outcomes)
                archived = not said or await desk.archived.wait("CAP", said)
                return _told(asked, around, outcomes, said or stood, archived=archived)
        raise Unavailable("others keep recording the same files; try again")

    async def _judge(self, asked: ImportFiles, files: Sequence[File]) -> tuple[World, list[Outcome]]:
        """Decide on each file. One that has not changed is proposed again where its proposal ended without it."""
        desk, names = self._desk, [file.name for file in files]
        around = await world(desk, asked.by, asked.options, names)
        outcomes = await asyncio.to_thread(_judge_all, files, around)
        unchanged = [around.held[one.name] for one in outcomes if isinstance(one, Unchanged)]
        if await resolved.release(desk, asked.by, unchanged):
            around = await world(desk, asked.by, asked.options, names)
            outcomes = await asyncio.to_thread(_judge_all, files, around)
        kept = [one.path for one in outcomes if isinstance(one, Kept)]
        async with transaction(desk.pool, desk.brain, readonly=True) as db:
            claims = await shelf.claims(db, desk.brain, asked.by, asked.import_id, kept)
        return around, [_unless_claimed(one, claims) for one in outcomes]

    async def _say(
        self, asked: ImportFiles, around: World, outcomes: Sequence[Outcome], stored: Mapping[CaptureId, Stored]
    ) -> int:
        """Append what was recorded and refused; CAP's last position, 0 where nothing had to be said."""
        desk = self._desk
        new = [outcome for outcome in outcomes if not isinstance(outcome, Unchanged)]
        async with transaction(desk.pool, desk.brain, readonly=True) as db:
            refused = await shelf.refusals(db, desk.brain, [outcome.capture for outcome in new])
        facts: list[tuple[str, capture.Event]] = []
        expected: dict[str, int] = {}
        for outcome in new:
            subject = subjects.capture_recording(desk.brain, outcome.capture)
            if subject in expected:
                continue  # the same bytes under two spellings of one name: refused once
            for fact in self._decide(outcome, _state(outcome, around, refused), around, stored):
                facts.append((subject, fact))
                expected[subject] = refused[outcome.capture][1] if outcome.capture in refused else 0
        if not facts:
            return 0
        command = CommandId(derived(asked.import_id, asked.by, "files", asked.part, *sorted(expected)))
        decision = Append(command, asked.by, asked.import_id, tuple(facts), expected)
        position = await desk.recordings.append_many(decision)
        await desk.catch_up(recordings=position)
        return position

    def _decide(
        self, outcome: Kept | NotKept, state: capture.State, around: World, stored: Mapping[CaptureId, Stored]
    ) -> list[capture.Event]:
        if isinstance(outcome, NotKept):
            return capture.refuse(state, outcome.capture, outcome.category)
        held = around.held.get(outcome.name)
        inherited = Acl(everyone=True) if held is None else held.known.acl
        recorded = CaptureRecorded(
            capture=outcome.capture,
            body=stored[outcome.capture].body,
            descriptor=stored[outcome.capture].descriptor,
            acl=inherited if around.acl is None else around.acl,
            author=AuthorKind.PERSON,
            occurred_at=self._desk.clock(),
            region=Region.LOCAL,
            supersedes=outcome.supersedes,
        )
        return capture.record(state, recorded)

    async def _change_acls(self, asked: ImportFiles, around: World, outcomes: Sequence[Outcome]) -> None:
        """An import that says whom it admits says so for the files that have not changed, too."""
        if around.acl is None:
            return
        acl, standing = around.acl, [around.held[one.name].known for one in outcomes if _stands(one)]
        facts = [
            fact for known in standing for fact in capture.change_acl(capture.Recorded(known.acl), known.capture, acl)
        ]
        if facts:
            narrowing = any(capture.narrows(known.acl, acl) for known in standing)
            command = CommandId(
                derived(asked.import_id, asked.by, "acl", asked.part, *(fact.capture for fact in facts))
            )
            position = await self._desk.change_sight(command, asked.by, facts, narrowing=narrowing)
            await self._desk.archived.wait("EVT", position)


def _check(asked: ImportFiles) -> None:
    if sum(len(file.text) for file in asked.files) > MOST_BYTES:
        raise Refused(
            "part_too_large", "This part holds too much.", "files", f"Send at most {MOST_BYTES} bytes a part."
        )
    if len({file.path for file in asked.files}) < len(asked.files):
        raise Refused("file_twice", "A file is named twice in this part.", "files", "Send each file once.")


def _files(asked: ImportFiles) -> list[File]:
    """The files by the one form of their names; two that would share a page path collide, whatever the sender says."""
    _, faults = paths.propose_all(file.path for file in asked.files)
    colliding = {name for name, code in faults.items() if code == "path_collision"} | set(asked.colliding)
    return [File(paths.one_form(file.path), file.text, file.path in colliding) for file in asked.files]


def _unless_claimed(outcome: Outcome, claims: Mapping[str, str]) -> Outcome:
    """The outcome, or a refusal where a file of another name in an earlier part has the page's path."""
    if not isinstance(outcome, Kept) or claims.get(outcome.path, outcome.name) == outcome.name:
        return outcome
    return NotKept(outcome.name, outcome.capture, Refusal.PATH_COLLISION, 0, COLLISION)


def _judge_all(files: Sequence[File], around: World) -> list[Outcome]:
    known = {name: held.known for name, held in around.held.items()}
    return [judge(file, known.get(file.name), around.terms) for file in files]


def _state(outcome: Kept | NotKept, around: World, refused: Mapping[CaptureId, tuple[Refusal, int]]) -> capture.State:
    held = around.held.get(outcome.name)
    if held is not None and held.known.capture == outcome.capture:
        return capture.Recorded(held.known.acl)
    if outcome.capture in refused:
        return capture.Refused(refused[outcome.capture][0])
    return capture.Missing()


def _stands(outcome: Outcome) -> bool:
    return isinstance(outcome, Unchanged) or (isinstance(outcome, Kept) and outcome.recorded)


def _told(
    asked: ImportFiles, around: World, outcomes: Sequence[Outcome], position: int, *, archived: bool
) -> ImportedPart:
    """What became of the part. What this same import recorded at an earlier try counts as recorded by it."""
    captures = pages = unchanged = 0
    refused = []
    for file, outcome in zip(asked.files, outcomes, strict=True):
        held = around.held.get(outcome.name)
        ours = held is not None and (held.import_id, held.runner) == (asked.import_id, asked.by)
        if isinstance(outcome, NotKept):
            _FILES.add(outcome.category.value)
            refused.append(
                RefusedFile(file=file.path, category=outcome.category, line=outcome.line, detail=outcome.detail)
            )
            continue
        new = ours or not _stands(outcome)
        _FILES.add("recorded" if new else "unchanged")
        captures += new
        unchanged += not new
        pages += isinstance(outcome, Kept) or ours
    return ImportedPart(
        captures=captures,
        unchanged=unchanged,
        refused=tuple(refused),
        pages=pages,
        position=position,
        archived=archived,
    )
