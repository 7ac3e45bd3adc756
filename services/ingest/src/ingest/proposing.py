"""Pages handed to approvals: one page as a proposal of its own, more as builds. Asking twice is quiet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chassis import rpc
from contracts.approvals_messages import (
    OPEN_BUILD,
    SUBMIT_BUILD,
    SUBMIT_PAGE,
    WRITE_PAGES,
    OpenBuild,
    PageWrite,
    SubmitBuild,
    SubmitPage,
    Submitted,
    WritePages,
)
from contracts.enums import Origin
from contracts.errors import Refused
from contracts.ids import BuildId, CaptureId, CommandId, PrincipalId, ProposalId, derived
from contracts.replies import Accepted
from ingest.desk import Desk
from ingest.shelf import Waiting

PAGES = 900
"""Pages of one build (domain rule)."""
FACTS = 990
"""Facts of one build's promotion: one atomic batch of the log holds 1000, and its decision is among them."""
AT_A_TIME = 250
"""Pages that approvals takes in one request."""
SECONDS = 30.0
"""How long approvals may take to read and keep so many."""


@dataclass(slots=True)
class Proposed:
    """A proposal (None where nothing was left to propose), EVT's position of it, and the pages that were refused.

    A page that is neither in the proposal nor refused stands already.
    """

    proposal: ProposalId | None = None
    position: int = 0
    archived: bool = True
    refused: dict[CaptureId, Refused] = field(default_factory=dict)


def parts(pages: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    """Pages in their order, cut where a build is full."""
    part: list[Waiting] = []
    for page in pages:
        if part and (len(part) == PAGES or sum(one.facts for one in part) + page.facts > FACTS):
            yield part
            part = []
        part.append(page)
    if part:
        yield part


async def propose(desk: Desk, by: PrincipalId, pages: Sequence[Waiting]) -> Proposed:
    """Propose one part. What approvals refuses of single pages is told and left out. Raises `Unavailable`."""
    if len(pages) == 1:
        return await _propose_page(desk, by, pages[0])
    return await _propose_build(desk, by, pages)


async def _propose_page(desk: Desk, by: PrincipalId, page: Waiting) -> Proposed:
    command = CommandId(derived(by, "propose", _turn(page), page.path))
    asked = SubmitPage(command=command, author=desk.importer, runner=by, origin=Origin.IMPORT, write=_write(page))
    try:
        submitted = await rpc.ask(desk.nc, SUBMIT_PAGE, asked, Submitted, seconds=SECONDS)
    except Refused as refused:
        return Proposed(refused={} if refused.code == "unchanged" else {page.capture: refused})
    return Proposed(submitted.proposal, submitted.position, submitted.archived)


async def _propose_build(desk: Desk, by: PrincipalId, pages: Sequence[Waiting]) -> Proposed:
    """The build's id follows from its runner and pages, so that a second try goes on with the build of the first."""
    build = BuildId(derived(by, "build", *(_turn(page) for page in pages)))
    opening = OpenBuild(
        command=CommandId(derived(build, "open")), build=build, author=desk.importer, runner=by, origin=Origin.IMPORT
    )
    await rpc.ask(desk.nc, OPEN_BUILD, opening, Accepted, seconds=SECONDS)
    refused: dict[CaptureId, Refused] = {}
    for start in range(0, len(pages), AT_A_TIME):
        refused |= await _write_pages(desk, build, pages[start : start + AT_A_TIME])
    if len(refused) == len(pages):
        return Proposed(refused=refused)
    closing = SubmitBuild(command=CommandId(derived(build, "submit")), build=build, author=desk.importer)
    try:
        submitted = await rpc.ask(desk.nc, SUBMIT_BUILD, closing, Submitted, seconds=SECONDS)
    except Refused as closed:
        if closed.code != "build_closed":
            raise
        return Proposed(ProposalId(derived(build, "proposal")))  # an earlier try was submitted, and decided since
    return Proposed(submitted.proposal, submitted.position, submitted.archived, refused)


async def _write_pages(desk: Desk, build: BuildId, pages: Sequence[Waiting]) -> dict[CaptureId, Refused]:
    """Write pages on the build; a request that is refused is halved until the pages at fault stand alone."""
    command = CommandId(derived(build, "write", *(page.capture for page in pages)))
    asked = WritePages(command=command, build=build, author=desk.importer, writes=tuple(_write(page) for page in pages))
    try:
        await rpc.ask(desk.nc, WRITE_PAGES, asked, Accepted, seconds=SECONDS)
    except Refused as refused:
        if refused.code == "build_closed":
            return {}  # an earlier try wrote and submitted it
        if len(pages) == 1:
            return {pages[0].capture: refused}
        half = len(pages) // 2
        first = await _write_pages(desk, build, pages[:half])
        return first | await _write_pages(desk, build, pages[half:])
    return {}


def _turn(page: Waiting) -> str:
    """What a page is proposed for: the same until a proposal of it has ended without it."""
    return f"{page.capture}/{page.action.value}/{page.former or ''}"


def _write(page: Waiting) -> PageWrite:
    assert page.body is not None
    return PageWrite(path=page.path, body=page.body, action=page.action)
