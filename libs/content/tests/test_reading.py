"""What is written so that only a reader sees it is refused all the same, and told where it is written."""

import unicodedata

import pytest

from content import front, reading, refusal
from content.store import scan
from contracts.enums import Refusal

CARD, IBAN, ACCOUNT = "4111 1111 1111 1111", "NO93 8601 1117 947", "8601 11 17947"
SEPARATORS = [
    *("\u00a0", "\u202f", "\u2007", "\u2009", "\u200a", "\u3000", "&nbsp;", "&#160;", "&#xA0;", "&thinsp;", "  "),
    *("\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212", "&ndash;", " \u200b", "\u00ad-"),
]


def told(text: str) -> list[tuple[Refusal, str]]:
    body = text.encode()
    return [(match.category, body[match.start : match.end].decode()) for match in refusal.find(body)]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_number_is_found_whatever_stands_between_its_groups(separator: str) -> None:
    card, iban, account = (number.replace(" ", separator) for number in (CARD, IBAN, ACCOUNT))
    assert told(f"Æ {card}.") == [(Refusal.PAYMENT_CARD, card)]
    assert told(f"Æ {iban}.") == [(Refusal.BANK_ACCOUNT, iban)]
    assert told(f"Konto ({account})") == [(Refusal.BANK_ACCOUNT, account)]


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("**4111** 1111 1111 1111", Refusal.PAYMENT_CARD),
        ("4111 _1111_ 1111 **1111**", Refusal.PAYMENT_CARD),
        ("_4111 1111 1111 1111_", Refusal.PAYMENT_CARD),
        ("~~4111~~ `1111` 1111 1111", Refusal.PAYMENT_CARD),
        ("<b>4111</b> 1111 1111 1111", Refusal.PAYMENT_CARD),
        ("4111\\-1111\\-1111\\-1111", Refusal.PAYMENT_CARD),
        (
            "\uff14\uff11\uff11\uff11\u3000\uff11\uff11\uff11\uff11\u3000\uff11\uff11\uff11\uff11\u3000\uff11\uff11\uff11\uff11",
            Refusal.PAYMENT_CARD,
        ),
        (
            "\u0664\u0661\u0661\u0661 \u0661\u0661\u0661\u0661 \u0661\u0661\u0661\u0661 \u0661\u0661\u0661\u0661",
            Refusal.PAYMENT_CARD,
        ),
        ("4\u200b111 11\u206011 1111 1\ufeff111", Refusal.PAYMENT_CARD),
        ("&#52;111 1111 1111 1111", Refusal.PAYMENT_CARD),
        ("| Card | 4111 | 1111 | 1111 | 1111 |", Refusal.PAYMENT_CARD),
        ("<td>Card</td><td>4111</td><td>1111</td><td>1111</td><td>1111</td>", Refusal.PAYMENT_CARD),
        ("Kort 4111 1111 1111\n1111", Refusal.PAYMENT_CARD),
        ("Kort 4111 - 1111 - 1111 - 1111", Refusal.PAYMENT_CARD),
        ("card-4111-1111-1111-1111", Refusal.PAYMENT_CARD),
        ("card-4111-1111-1111-1111.md", Refusal.PAYMENT_CARD),
        ("visa_4111111111111111.pdf", Refusal.PAYMENT_CARD),
        ("card_4111_1111_1111_1111.md", Refusal.PAYMENT_CARD),
        ("cards/4111-1111-1111-1111.md", Refusal.PAYMENT_CARD),
        ("| NO93 | 8601 | 1117 | 947 |", Refusal.BANK_ACCOUNT),
        ("**NO93** 8601 1117 947", Refusal.BANK_ACCOUNT),
        ("GB82 **WEST** 1234  5698 7654 32", Refusal.BANK_ACCOUNT),
        ("\uff2e\uff2f\uff19\uff13 8601 1117 947", Refusal.BANK_ACCOUNT),
        ("iban_NO9386011117947.md", Refusal.BANK_ACCOUNT),
        ("konto-8601.11.17947", Refusal.BANK_ACCOUNT),
        ("**8601**.11.17947", Refusal.BANK_ACCOUNT),
        ("kontonr-86011117947.md", Refusal.BANK_ACCOUNT),
        ("| Kontonummer | 8601 | 11 | 17947 |", Refusal.BANK_ACCOUNT),
        ("Fødselsnummer: 261115\u00a093816", Refusal.NATIONAL_ID),
        ("pass\u200bword: hunter2", Refusal.CREDENTIAL),
        ("password&#58; hunter2", Refusal.CREDENTIAL),
        ("AKIA\u200bZQ3D\u2060RT7WPLMN5XKV"[:22], Refusal.CREDENTIAL),
    ],
)
def test_what_a_reader_sees_is_found(text: str, category: Refusal) -> None:
    assert [found for found, _ in told(text)] == [category]


@pytest.mark.parametrize(
    "text",
    [
        "| 4111 | 1111 | 1111 | 1111 |",  # a table of figures, and nothing says more of it
        "4111    1111    1111    1111",
        "4111 - 1111 - 1111 - 1111",
        "4111\n1111\n1111\n1111",
        "order-4111-1111-1111-1111",
        "discard-4111-1111-1111-1111",
        "0b1c4111-1111-4111-8111-1111card4111",
        "4111_1111_1111_1111",
        "x_4111111111111111 is no card",
        "card 4111111111111111.5",
        "https://acme.test/invoice/4111111111111111/card",
        "| 2024 | 11 | 12345 | bank |",
        "2026\u201311\u201330, 2026\u00a011\u00a030, +47\u00a022\u00a012\u00a034\u00a056",
        "Kontoret: 8601\u201311\u201317947",
        "9f86d081884c7d65-4111-1111-1111-1111-9f86",
        "1**2** 3 | 4 | 5 - 6\n7",
    ],
)
def test_figures_that_nothing_calls_a_number_of_that_kind_pass(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("block", "category", "place"),
    [
        ('title: "Card \\u0034111 1111 1111 1111"', Refusal.PAYMENT_CARD, (2, 8)),
        ('card: "\\x34111111111111111"', Refusal.PAYMENT_CARD, (2, 7)),
        ("a: b\ncards:\n  - '4111  1111'\n  - \"4111\\t1111 1111\\_1111\"", Refusal.PAYMENT_CARD, (5, 5)),
        ("note: Card 4111\n  1111 1111\n  1111", Refusal.PAYMENT_CARD, (2, 7)),
        ("note: >\n  4111 1111\n  1111 1111", Refusal.PAYMENT_CARD, (2, 7)),
        ('"c\\u0061rd": 4111111111111111', Refusal.PAYMENT_CARD, (2, 14)),
        ('password: "hunt\\x65r2"', Refusal.CREDENTIAL, (2, 11)),
        ('iban: "NO93 8601\\\n  \\ 1117 947"', Refusal.BANK_ACCOUNT, (2, 7)),
        ('title: "&#52;111 1111 \\u0031111 1111"', Refusal.PAYMENT_CARD, (2, 8)),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_frontmatter_is_scanned_as_it_is_served(
    block: str, category: Refusal, place: tuple[int, int], newline: str
) -> None:
    text = f"---\n{block}\n---\nText.\n".replace("\n", newline)
    for body in (text.encode(), b"\xef\xbb\xbf" + text.encode()):
        assert [(found.category, (found.line, found.column)) for found in scan(body)] == [(category, place)]


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: 'It''s fine'\nowner: \"Bj\\u00f8rn\"\n---\nText",
        "---\ntitle: plain\n---\n",
        "---\nbroken: [\n---\n",
        "---\nno end",
        "--- \n- \x00\n---",
        "",
    ],
)
def test_frontmatter_without_anything_to_refuse_passes(text: str) -> None:
    assert scan(text.encode()) == []


def test_only_a_block_that_says_something_else_than_is_written_is_read_again() -> None:
    assert front.decoded('---\ntitle: "Plain"\ntags:\n  - one\n# note\n\nweight: 3\n---\nText \\x34') is None
    read = front.decoded("---\ntitle: 'It''s'\nowner: \"ann\"\n---\n")
    assert read is not None
    assert read.text == "title: It's\nowner: ann\n"


def test_every_character_is_read_as_ascii_or_left_alone() -> None:
    for point in range(0x80, 0x30000):
        character = chr(point)
        seen = reading.seen(character)
        assert seen is None or (seen.text.isascii() and seen.text != character)
        if unicodedata.category(character) in ("Lu", "Ll") and not unicodedata.normalize("NFKC", character).isascii():
            assert seen is None


def test_a_reading_knows_where_it_comes_from() -> None:
    text = "Blå\u00a0&amp;\u200b\uff112**3"
    seen = reading.seen(text)
    assert seen is not None
    assert seen.text == "Blå &12**3"
    assert [text[slice(*seen.origin(at, at + 1))] for at in range(len(seen.text))] == [
        *("B", "l", "å", "\u00a0", "&amp;", "\uff11", "2", "*", "*", "3")
    ]
    joined = reading.joined(seen.text)
    assert joined is not None
    assert joined.text == "Blå &123"
    assert joined.origin(6, 8) == (6, 10)
