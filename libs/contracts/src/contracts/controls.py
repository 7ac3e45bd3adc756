"""A valid example of every fact, with fixed ids and instants: what tests start from and golden files hold."""

from datetime import UTC, datetime
from uuid import UUID

import msgspec

from contracts import access_facts, captures, chunks, operations, proposals
from contracts.content import ContentRef
from contracts.enums import (
    Access,
    AuthorKind,
    Knowledge,
    LogStream,
    Origin,
    Outcome,
    PageAction,
    Permission,
    PrincipalKind,
    ProposalKind,
    Reach,
    Reason,
    Refusal,
    Region,
    Role,
    Scope,
    Tier,
    TokenKind,
    Verdict,
)
from contracts.ids import (
    BrainId,
    BuildId,
    CaptureId,
    ContentId,
    GrantId,
    PageId,
    PrincipalId,
    ProposalId,
    TokenId,
)


def _id(n: int) -> UUID:
    return UUID(int=0xB0A1_0000_0000_4000_8000_0000_0000_0000 + n)


BRAIN = BrainId(_id(1))
ALICE = PrincipalId(_id(2))
SALES = PrincipalId(_id(3))
IMPORTER = PrincipalId(_id(4))
GRANT = GrantId(_id(5))
TOKEN = TokenId(_id(6))
CAPTURE = CaptureId(_id(7))
PAGE = PageId(_id(8))
PROPOSAL = ProposalId(_id(9))
BUILD = BuildId(_id(10))
NOON = datetime(2026, 9, 2, 12, tzinfo=UTC)


def ref(n: int) -> ContentRef:
    """A reference to a body that exists nowhere."""
    return ContentRef(ContentId(_id(1000 + n)), f"{n:064x}")


DRAFT = proposals.PageDraft(page=PAGE, action=PageAction.EDIT, base=1, body=ref(1), path=ref(2), previous=ref(3))

EXAMPLES: tuple[msgspec.Struct, ...] = (
    access_facts.BrainOpened(name=ref(10)),
    access_facts.MemberJoined(
        member=ALICE, kind=PrincipalKind.PERSON, profile=ref(11), role=Role.OWNER, tier=Tier.ADMIN
    ),
    access_facts.MemberLeft(member=ALICE),
    access_facts.RoleChanged(member=ALICE, role=Role.MANAGER, tier=Tier.MANAGER),
    access_facts.GroupChanged(group=SALES, profile=ref(12), members=(ALICE,)),
    access_facts.Granted(grant=GRANT, subject=SALES, scope=ref(13), permission=Permission.APPROVE),
    access_facts.Revoked(grant=GRANT, subject=SALES),
    access_facts.TokenIssued(
        token=TOKEN,
        principal=ALICE,
        kind=TokenKind.CLIENT,
        tier=Tier.EMPLOYEE,
        scopes=(Scope.READ, Scope.PROPOSE),
        digest="ab" * 32,
        expires_at=NOON,
        domains=ref(14),
    ),
    access_facts.TokenRevoked(token=TOKEN, principal=ALICE),
    access_facts.GateMoved(cause=ALICE),
    captures.CaptureRecorded(
        capture=CAPTURE,
        body=ref(20),
        descriptor=ref(21),
        acl=captures.Acl(principals=(SALES,)),
        author=AuthorKind.PERSON,
        occurred_at=NOON,
        region=Region.LOCAL,
        supersedes=CaptureId(_id(70)),
    ),
    captures.CaptureRefused(capture=CAPTURE, category=Refusal.CREDENTIAL),
    captures.CaptureWithdrawn(capture=CAPTURE),
    captures.CaptureAclChanged(capture=CAPTURE, acl=captures.Acl(known=False)),
    proposals.ProposalSubmitted(
        proposal=PROPOSAL,
        kind=ProposalKind.PAGE,
        origin=Origin.IMPORT,
        author=IMPORTER,
        runner=ALICE,
        draft=DRAFT,
    ),
    proposals.ProposalDecided(
        proposal=PROPOSAL, reviewer=ALICE, verdict=Verdict.REJECT, reason=Reason.DUPLICATE, note=ref(30)
    ),
    proposals.ProposalResolved(proposal=PROPOSAL, outcome=Outcome.REJECTED),
    proposals.ProposalWithdrawn(proposal=PROPOSAL),
    proposals.BuildOpened(build=BUILD, principal=IMPORTER, runner=ALICE, origin=Origin.IMPORT),
    proposals.BuildPageWritten(build=BUILD, draft=DRAFT),
    proposals.BuildSubmitted(build=BUILD, proposal=PROPOSAL),
    proposals.BuildPromoted(build=BUILD, pages=61),
    proposals.BuildAbandoned(build=BUILD),
    proposals.PagePromoted(
        page=PAGE,
        revision=2,
        body=ref(1),
        path=ref(2),
        owner=ALICE,
        access=Access.DEPARTMENT,
        reach=Reach.ORDINARY,
        knowledge=Knowledge.VERIFIED,
        review_days=90,
        proposal=PROPOSAL,
        approver=ALICE,
    ),
    proposals.PageVerified(page=PAGE, revision=2, by=ALICE, at=NOON),
    proposals.PageWentStale(page=PAGE, due=NOON),
    proposals.PageDeprecated(page=PAGE, revision=2, proposal=PROPOSAL, approver=ALICE),
    operations.LogQuarantined(stream=LogStream.EVT, sequence=17, reason=ref(40)),
    chunks.BodyEmbedded(
        body=ref(1).id,
        model="hashing/1",
        dim=2,
        chunker="1",
        recipe="title-heading-1",
        chunks=(chunks.EmbeddedChunk("aa" * 32, "bb" * 32, 0, 20, "AAAAAA=="),),
        computed=1,
    ),
)
