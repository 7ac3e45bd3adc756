"""What people see on a terminal: nothing that it obeys, the digest they approve, and what an answer stands on."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from brain import output
from brain.commands import importing, reading, rebuild, review, rights
from contracts.approvals_messages import ProposalLine, ProposalView, ProposedPage
from contracts.enums import Origin, PageAction, ProposalKind, Refusal, Scope, Tier, TokenKind
from contracts.errors import Refused, Unavailable
from contracts.gateway_api import TokenLine, TokenLines
from contracts.ids import PageId, ProposalId, TokenId
from contracts.ingest_messages import RefusedFile

DIGEST = "0123456789abcdef" * 4
RECEIPT = {
    "revision": 3,
    "approver": "alice",
    "approved_at": "2026-11-30T10:00:00Z",
    "position": 41,
    "digest": DIGEST,
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("safe\u202egnp.md", "safeU+202Egnp.md"),
        ("\u2066a\u2069", "U+2066aU+2069"),
        ("a\u200bb\ufeff", "aU+200BbU+FEFF"),
        ("tag\U000e0041", "tagU+E0041"),
        ("caf\udce9", "caf\\udce9"),
        ("Ærlig talt, 日本 ✓", "Ærlig talt, 日本 ✓"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_spelled_out(text: str, shown: str) -> None:
    assert output.visible(text) == shown


def test_a_body_keeps_its_lines_and_a_listing_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    output.show({}, ["one\ntwo"], as_json=False, body="# Title\r\n\n\tcode \x1b[2J")
    assert capsys.readouterr().out == "# Title\n\n\tcode \\x1b[2J\none\\x0atwo\n"


def test_refusals_and_progress_are_as_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    output.fail(Refused("no", "What\x1b.", "a\nb", "Then\u202e."), 1, as_json=False)
    output.note("read \x07")
    assert capsys.readouterr().err == "brain: What\\x1b. (a\\x0ab) ThenU+202E.\nread \\x07\n"


def test_what_did_not_answer_is_told_in_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    output.fail(Unavailable("gateway does not answer"), 5, as_json=False)
    assert capsys.readouterr().err == "brain: gateway does not answer. Try again, or see `brain status`.\n"


def test_an_import_counts_what_it_refused_and_fails_where_that_is_all_there_was() -> None:
    refused = [RefusedFile(file="card.md", category=Refusal.PAYMENT_CARD, line=3, detail="It holds a card number.")]
    lines = [importing.RefusedLine("card.md", Refusal.PAYMENT_CARD, 3)]
    some = importing.Outcome(1, 0, lines, 1, (), 0, 2)
    assert list(importing.lines_of(some, refused)) == [
        "1 capture recorded, 0 files unchanged, 1 refused, 2 passed by",
        "1 page proposed in 0 proposals",
        "refused: card.md, line 3: payment_card. It holds a card number.",
    ]
    known = importing.Outcome(0, 1, lines, 0, (), 0, 0)
    none = importing.Outcome(0, 0, lines, 0, (), 0, 0)
    empty = importing.Outcome(0, 0, [], 0, (), 0, 3)
    assert [importing.code_of(each) for each in (some, known, none, empty)] == [0, 0, 1, 0]


def test_a_token_always_reads_and_is_listed_with_what_tells_which_one_it_is() -> None:
    assert rights.scopes_of(()) == (Scope.READ,)
    assert rights.scopes_of(("brain:propose",)) == (Scope.READ, Scope.PROPOSE)
    ends = datetime(2027, 1, 1, 12, tzinfo=UTC)
    bound = TokenLine(
        id=TokenId(UUID(int=7)),
        kind=TokenKind.AGENT,
        tier=Tier.EMPLOYEE,
        scopes=(Scope.READ, Scope.PROPOSE),
        expires_at=ends,
        domains=("hr", "pricing"),
    )
    free = TokenLine(
        id=TokenId(UUID(int=8)), kind=TokenKind.PERSON, tier=Tier.ADMIN, scopes=(Scope.READ,), expires_at=None
    )
    assert list(rights.lines_of(TokenLines(tokens=(bound, free)))) == [
        f"{bound.id}  agent    employee  expires 2027-01-01 12:00Z  brain:read brain:propose  domains hr, pricing",
        f"{free.id}  person   admin     never expires  brain:read",
    ]


def test_things_are_counted_in_words() -> None:
    assert [output.count(number, "proposal") for number in (0, 1, 2)] == ["0 proposals", "1 proposal", "2 proposals"]


def proposed(kind: ProposalKind, path: str, pages: int, change: str, listing: str = "") -> ProposalLine:
    return ProposalLine(
        id=ProposalId(UUID(int=7)),
        kind=kind,
        title="Title",
        path=path,
        change=change,
        digest=DIGEST,
        base=0,
        origin=Origin.IMPORT,
        proposer="alice",
        waiting_since=datetime(2026, 11, 30, tzinfo=UTC),
        needs="one approver",
        pages=pages,
        listing=listing,
    )


@pytest.mark.parametrize(
    ("kind", "path", "pages", "place", "change"),
    [
        (ProposalKind.BUILD, "", 12, "12 pages", "12 new"),
        (ProposalKind.BUILD, "", 1, "1 page", "1 end"),
        (ProposalKind.PAGE, "topics/a.md", 1, "topics/a.md", "end of page (revision 3)"),
    ],
)
def test_a_proposal_is_listed_with_all_that_an_approval_needs(
    kind: ProposalKind, path: str, pages: int, place: str, change: str
) -> None:
    line = proposed(kind, path, pages, change)
    first, second = review.lines_of(line)
    assert str(line.id) in first
    assert f"{change}  Title  {place}  one approver" in first
    assert second == f"  digest {DIGEST}"


def test_the_listing_of_a_proposal_is_the_text_that_its_digest_is_of() -> None:
    ended = proposed(ProposalKind.PAGE, "a.md", 1, "end of page (revision 3)", f"deprecate 3 {DIGEST} a.md\n")
    pages = tuple(
        ProposedPage(page=PageId(UUID(int=n)), path=path, title="", action=action, base=n, digest=DIGEST)
        for n, (path, action) in enumerate([("b.md", PageAction.EDIT), ("a.md", PageAction.EDIT)], start=1)
    )
    build = proposed(ProposalKind.BUILD, "", 2, "2 edits")
    views = [
        ProposalView(line=line, state="open", may_decide=True, ballots=(), pages=pages, body=b"")
        for line in (ended, build)
    ]
    assert review.listing_of(views[0]) == ended.listing
    assert review.listing_of(views[1]) == f"edit 1 {DIGEST} b.md\nedit 2 {DIGEST} a.md\n"
    assert [review.what(view.line) for view in views] == ["end of page (revision 3), a.md", "2 edits"]


def test_a_passage_and_a_page_end_with_what_they_stand_on() -> None:
    told = "receipt: revision 3, approved by alice at 2026-11-30T10:00:00Z, position 41, digest 0123456789ab"
    assert list(reading.receipt_of({"receipt": RECEIPT})) == [told]
    hit = {"path": "a.md", "heading": ["A"], "trust": "approved", "text": "Some  text", "receipt": RECEIPT}
    assert list(reading.passages({"hits": [hit]})) == ["1. a.md  A  [approved]", "   Some text", f"   {told}"]
    assert list(reading.passages({"hits": []})) == ["Nothing found."]


def test_a_rebuild_is_told_in_one_line() -> None:
    done = rebuild.Told(switched=True, lines={"pages": 2, "passages": 5}, seconds=1.25)
    assert rebuild.line(done) == "The new index is equal and serves now: 7 rows in 1.2 s."
    assert rebuild.line(rebuild.Told(differs=("pages",))) == "The old index serves on; the new one differs in pages."
