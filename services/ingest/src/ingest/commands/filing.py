"""One text becomes a capture: one of the inbox that a person accepted, or a note of another source."""

import hashlib
import hmac

from chassis.postgres import transaction
from content.bodies import Put, Slot
from contracts import subjects
from contracts.captures import Acl, CaptureRecorded
from contracts.enums import AuthorKind, Region
from contracts.errors import Refused, Unavailable
from contracts.ids import CommandId, content_id
from contracts.ingest_messages import FileCapture, Filed
from corpus import paths
from corpus.errors import Malformed
from corpus.references import capture_reference
from eventlog.log import Append, Conflict
from ingest import shelf
from ingest.bodies import descriptor
from ingest.desk import ATTEMPTS, Desk
from ingest.domain import capture
from ingest.projection import Descriptor
from ingest.terms import check_source


class Filing:
    """Serves `file_capture`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def take(self, asked: FileCapture) -> Filed:
        """Keep the text. The same text under the same external id is kept once.

        Raises `source_malformed`, `text_missing`, `invalid_reference`, `ContentRefused` where it holds what is not
        stored, and `Unavailable`.
        """
        check_source(asked.source)
        if not asked.text.strip():
            raise Refused("text_missing", "There is no text to keep.", "text", "Send some.")
        for _ in range(ATTEMPTS):
            stood = await self._desk.fresh()
            try:
                return await self._keep(asked, stood)
            except Conflict as conflict:
                await self._desk.catch_up(recordings=conflict.last)
        raise Unavailable("others keep recording the same text; try again")

    async def _keep(self, asked: FileCapture, stood: int) -> Filed:
        desk, body, external_id = self._desk, asked.text.encode(), paths.one_form(asked.external_id)
        named = Descriptor(asked.source, external_id, _reference(asked.source, external_id), asked.title)
        digest = hmac.new(desk.key, body, hashlib.sha256).hexdigest()
        async with transaction(desk.pool, desk.brain) as db:
            filer = capture.Changer(asked.by, frozenset(), administers=False)
            held = (await shelf.latest(db, desk.brain, asked.source, [external_id], filer)).get(external_id)
            known = None if held is None else held.known
            if (
                known is not None
                and not known.withdrawn
                and known.capture
                == capture.capture_id(desk.brain, asked.source, external_id, digest, known.supersedes, asked.by)
            ):
                return Filed(capture=known.capture, position=stood, archived=await desk.archived.wait("CAP", stood))
            supersedes = None if known is None else known.capture
            new = capture.capture_id(desk.brain, asked.source, external_id, digest, supersedes, asked.by)
            puts = [Put(content_id(CommandId(new), "body"), body, Slot.CAPTURE), descriptor(new, named)]
            kept, name = await desk.store.put(db, desk.brain, puts)
        recorded = CaptureRecorded(
            capture=new,
            body=kept,
            descriptor=name,
            acl=Acl(everyone=True),
            author=AuthorKind.PERSON,
            occurred_at=desk.clock(),
            region=Region.LOCAL,
            supersedes=supersedes,
        )
        subject = subjects.capture_recording(desk.brain, new)
        facts = tuple((subject, fact) for fact in capture.record(capture.Missing(), recorded))
        position = await desk.recordings.append(
            Append(asked.command, asked.by, desk.correlation(), facts, {subject: 0})
        )
        await desk.catch_up(recordings=position)
        return Filed(capture=new, position=position, archived=await desk.archived.wait("CAP", position))


def _reference(source: str, external_id: str) -> str:
    try:
        return capture_reference(source, external_id)
    except Malformed as malformed:
        raise Refused(malformed.code, malformed.what, "external_id", "Name the text otherwise.") from None
