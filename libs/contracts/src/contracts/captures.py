"""What ingest says. Recording stands in CAP; what changes who may see a capture stands in EVT."""

from datetime import datetime

import msgspec

from contracts.content import ContentRef
from contracts.enums import AuthorKind, Refusal, Region
from contracts.ids import CaptureId, PrincipalId


class Acl(msgspec.Struct, frozen=True, kw_only=True):
    """Whom the source admits: everyone in the brain, or these principals; `known` False admits nobody."""

    everyone: bool = False
    principals: tuple[PrincipalId, ...] = ()
    known: bool = True


class CaptureRecorded(msgspec.Struct, frozen=True, kw_only=True):
    """A version of source material was kept.

    `descriptor` is a JSON body {"source", "external_id", "reference"}; `body` the exact bytes that were sent.
    """

    capture: CaptureId
    body: ContentRef
    descriptor: ContentRef
    acl: Acl
    author: AuthorKind
    occurred_at: datetime
    region: Region
    supersedes: CaptureId | None = None


class CaptureRefused(msgspec.Struct, frozen=True, kw_only=True):
    """Source material was not kept. Nothing of it was stored; the category is all that is remembered."""

    capture: CaptureId
    category: Refusal


class CaptureWithdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """The source no longer holds it."""

    capture: CaptureId


class CaptureAclChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The source admits others now."""

    capture: CaptureId
    acl: Acl


Event = CaptureRecorded | CaptureRefused | CaptureWithdrawn | CaptureAclChanged
