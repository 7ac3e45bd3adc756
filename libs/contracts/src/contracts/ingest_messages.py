"""What ingest is asked over NATS."""

import msgspec

from contracts.enums import Access, Refusal
from contracts.ids import CaptureId, CommandId, ImportId, PrincipalId, ProposalId

IMPORT_FILES = "cmd.ingest.import_files"
FINISH_IMPORT = "cmd.ingest.finish_import"
FILE_CAPTURE = "cmd.ingest.file_capture"


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`source`: slug of the folder. `owner`: name of an active member or a group.

    `acl`: "everyone", or names of members and groups. Empty means that nothing was said: everyone for a file that is
    new, and for one that is known whomever its last version admits.
    """

    source: str
    owner: str
    access: Access = Access.DEPARTMENT
    acl: tuple[str, ...] = ()


class ImportFile(msgspec.Struct, frozen=True, kw_only=True):
    """`path` as the folder names it, `/` between its parts. `text`: the bytes (base64 on the wire)."""

    path: str
    text: bytes


class ImportFiles(msgspec.Struct, frozen=True, kw_only=True):
    """One part of an import, at most 384 KB of files. The same part sent again changes nothing.

    `colliding`: file names of this part whose proposed page path another file of the whole import proposes too.
    """

    import_id: ImportId
    part: int
    by: PrincipalId
    options: ImportOptions
    files: tuple[ImportFile, ...]
    colliding: tuple[str, ...] = ()


class RefusedFile(msgspec.Struct, frozen=True, kw_only=True):
    """Why a file was refused: a category and a line (0 where it has none), never what matched."""

    file: str
    category: Refusal
    line: int
    detail: str = ""


class ImportedPart(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a part. `position` is CAP's."""

    captures: int
    unchanged: int
    refused: tuple[RefusedFile, ...]
    pages: int
    position: int
    archived: bool


class FinishImport(msgspec.Struct, frozen=True, kw_only=True):
    """Submit what the parts wrote: one proposal for one page, else builds of at most 900 pages.

    `present`: with `sync`, every file name of the folder; captures of this source that are not among them are
    withdrawn and their pages proposed for deprecation.
    """

    import_id: ImportId
    by: PrincipalId
    options: ImportOptions
    sync: bool = False
    present: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What was proposed: the ids of the proposals (a build is one), in the order of their paths. `position` is EVT's.

    `refused`: files whose captures stand and whose pages could not be proposed; the next import tries them again.
    """

    builds: tuple[ProposalId, ...]
    pages: int
    withdrawn: int
    position: int
    archived: bool
    refused: tuple[RefusedFile, ...] = ()


class FileCapture(msgspec.Struct, frozen=True, kw_only=True):
    """Keep one text as a capture: one that a person accepted from the inbox, or a note of another source.

    `source`: a slug. Visible to everyone in the brain. The same text under the same `external_id` changes nothing.
    """

    command: CommandId
    by: PrincipalId
    title: str
    text: str
    external_id: str
    source: str = "inbox"


class Filed(msgspec.Struct, frozen=True, kw_only=True):
    """`position` is CAP's."""

    capture: CaptureId
    position: int
    archived: bool
