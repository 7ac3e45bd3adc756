"""The digest that a person decides on covers what is stored and what will happen."""

import hashlib

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from approvals import telling
from approvals.domain.draft import Change, listing, shown_digest
from contracts.enums import PageAction, ProposalKind

SHA = hashlib.sha256(b"bytes").hexdigest()
OTHER = hashlib.sha256(b"others").hexdigest()
WORDS = [*(action.value for action in PageAction), "confirm"]

changes = st.builds(
    Change,
    st.sampled_from(WORDS),
    st.integers(0, 3),
    st.sampled_from(["a.md", "a/b.md", "topics/pricing.md"]),
    st.sampled_from([SHA, OTHER]),
)


def one(does: str, base: int = 1) -> list[Change]:
    return [Change(does, base, "topics/a.md", SHA)]


@pytest.mark.parametrize("does", ["create", "edit"])
def test_a_new_page_and_an_edit_are_decided_on_by_exactly_their_bytes(does: str) -> None:
    assert shown_digest(ProposalKind.PAGE, one(does)) == SHA
    assert listing(ProposalKind.PAGE, one(does)) == ""


@pytest.mark.parametrize(
    ("kind", "does"),
    [(ProposalKind.PAGE, "deprecate"), (ProposalKind.PAGE, "rename"), (ProposalKind.REVIEW, "confirm")],
)
def test_what_bytes_alone_do_not_say_is_decided_on_by_a_line_that_says_it(kind: ProposalKind, does: str) -> None:
    line = f"{does} 1 {SHA} topics/a.md\n"
    assert listing(kind, one(does)) == line
    assert shown_digest(kind, one(does)) == hashlib.sha256(line.encode()).hexdigest()


@for_all(st.lists(changes, min_size=1, max_size=4), st.lists(changes, min_size=1, max_size=4))
def test_two_builds_share_a_digest_only_where_they_do_the_same(some: list[Change], others: list[Change]) -> None:
    same = sorted(map(repr, some)) == sorted(map(repr, others))
    assert (shown_digest(ProposalKind.BUILD, some) == shown_digest(ProposalKind.BUILD, others)) is same
    assert shown_digest(ProposalKind.BUILD, some) == shown_digest(ProposalKind.BUILD, some[::-1])


@for_all(st.sampled_from(WORDS), st.sampled_from(list(ProposalKind)))
def test_nothing_is_decided_on_where_bytes_are_gone(does: str, kind: ProposalKind) -> None:
    assert shown_digest(kind, [*one(does), Change(does, 1, "topics/b.md", "")]) == ""
    assert shown_digest(kind, []) == ""


@pytest.mark.parametrize(
    ("does", "said", "button", "vote"),
    [
        ("create", "new page", "Approve and publish", "Vote to publish"),
        (
            "edit",
            "edit of revision 3",
            "Approve and publish, replacing revision 3",
            "Vote to publish, replacing revision 3",
        ),
        (
            "rename",
            "move of revision 3 to this path",
            "Approve and move this page, replacing revision 3",
            "Vote to move this page, replacing revision 3",
        ),
        ("deprecate", "end of page (revision 3)", "Approve and end this page", "Vote to end this page"),
        (
            "confirm",
            "confirmation of revision 3",
            "Confirm that revision 3 still holds",
            "Vote to confirm that revision 3 still holds",
        ),
    ],
)
def test_a_change_is_told_by_word_and_its_button_says_the_same(does: str, said: str, button: str, vote: str) -> None:
    kind = ProposalKind.REVIEW if does == "confirm" else ProposalKind.PAGE
    assert telling.change(kind, one(does, 3)) == said
    assert telling.consent(kind, one(does, 3), last=True) == button
    assert telling.consent(kind, one(does, 3), last=False) == vote
    assert telling.ends(one(does, 3)) is (does == "deprecate")


def test_a_build_is_told_by_how_many_pages_it_publishes_replaces_moves_and_ends() -> None:
    many = [*one("deprecate") * 30, *one("create") * 12, *one("edit") * 3, *one("rename")]
    assert telling.change(ProposalKind.BUILD, many) == "12 new, 3 edits, 1 move, 30 ends"
    assert telling.consent(ProposalKind.BUILD, many, last=True) == "Approve: publish 12, replace 3, move 1, end 30"
    assert telling.consent(ProposalKind.BUILD, one("edit"), last=False) == "Vote: replace 1"


def test_a_text_is_kept() -> None:
    assert telling.change(ProposalKind.OBSERVATION, []) == "text to keep as a capture"
    assert telling.consent(ProposalKind.OBSERVATION, [], last=True) == "Accept and keep as a capture"
