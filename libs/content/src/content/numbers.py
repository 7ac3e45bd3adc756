"""Numbers that pay, or that name a person: what their check digits and shapes say. Pure arithmetic, no patterns."""

from datetime import date

# The length that each country fixed for its IBAN, from the public SWIFT registry.
_BY_LENGTH = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
IBAN_LENGTHS = {country: length for length, countries in _BY_LENGTH.items() for country in countries.split()}

_KONTO_WEIGHTS = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
_FNR_FIRST = (3, 7, 6, 1, 8, 9, 4, 5, 2)
_FNR_SECOND = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)

_DIGITS_OF_ELEVEN = 11
_D_NUMBER_DAYS = 40  # added to the day in a D-number, and to the month in an H-number
_SYNTHETIC_MONTHS = 80  # added to the month in the authorities' test population

# First digits (as a range, all of one width) and the lengths an issuer uses with them.
_ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (4, 4, frozenset({13, 16, 19})),  # Visa
    (51, 55, frozenset({16})),  # Mastercard
    (2221, 2720, frozenset({16})),
    (34, 34, frozenset({15})),  # American Express
    (37, 37, frozenset({15})),
    (300, 305, frozenset({14})),  # Diners Club
    (36, 36, frozenset({14})),
    (38, 39, frozenset({14})),
    (6011, 6011, frozenset({16, 19})),  # Discover
    (644, 659, frozenset({16, 19})),
    (3528, 3589, frozenset({16, 17, 18, 19})),  # JCB
    (62, 62, frozenset({16, 17, 18, 19})),  # UnionPay
    (50, 50, frozenset({13, 14, 15, 16, 17, 18, 19})),  # Maestro
    (56, 58, frozenset({13, 14, 15, 16, 17, 18, 19})),
    (6304, 6304, frozenset({16, 17, 18, 19})),
    (6759, 6763, frozenset({16, 17, 18, 19})),
    (1, 1, frozenset({15})),  # UATP
)


def is_iban(compact: str) -> bool:
    """Whether upper-case `compact`, without separators, has its country's length and a remainder of 1 modulo 97."""
    if IBAN_LENGTHS.get(compact[:2]) != len(compact) or not compact[2:4].isdigit():
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def is_card(digits: str) -> bool:
    """Whether `digits` lie in a range and length that a card issuer uses and pass the Luhn check."""
    known = any(
        len(digits) in lengths and low <= int(digits[: len(str(low))]) <= high for low, high, lengths in _ISSUERS
    )
    return known and luhn(digits)


def luhn(digits: str) -> bool:
    """The Luhn check: every second digit from the right is doubled, and the digits of all add up to a ten."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def is_kontonummer(digits: str) -> bool:
    """Whether eleven digits pass the weighted sum modulo 11 of a Norwegian bank account."""
    if len(digits) != _DIGITS_OF_ELEVEN:
        return False
    return int(digits[10]) == _modulo_11(digits, _KONTO_WEIGHTS)


def is_fodselsnummer(digits: str) -> bool:
    """Whether eleven digits are a Norwegian birth, D-, H- or synthetic number: both check digits and a real date."""
    if len(digits) != _DIGITS_OF_ELEVEN:
        return False
    if int(digits[9]) != _modulo_11(digits, _FNR_FIRST) or int(digits[10]) != _modulo_11(digits, _FNR_SECOND):
        return False
    return _has_birth_date(digits)


def _modulo_11(digits: str, weights: tuple[int, ...]) -> int:
    total = sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=False))
    return -total % 11  # 10 is no digit, so that it equals none


def _has_birth_date(digits: str) -> bool:
    day, month, year, individual = int(digits[:2]), int(digits[2:4]), int(digits[4:6]), int(digits[6:9])
    if day > _D_NUMBER_DAYS:
        day -= _D_NUMBER_DAYS
    if month > _SYNTHETIC_MONTHS:
        month -= _SYNTHETIC_MONTHS
    elif month > _D_NUMBER_DAYS:
        month -= _D_NUMBER_DAYS
    century = _century(year, individual)
    if century is None:
        return False
    try:
        date(century + year, month, day)
    except ValueError:
        return False
    return True


def _century(year: int, individual: int) -> int | None:
    """The century that the individual number stands for (the register's own table)."""
    if individual < 500:  # noqa: PLR2004 - the bounds are the register's
        return 1900
    if individual < 750 and year >= 54:  # noqa: PLR2004 - the bounds are the register's
        return 1800
    if year < 40:  # noqa: PLR2004 - the bounds are the register's
        return 2000
    return 1900 if individual >= 900 else None  # noqa: PLR2004 - the bounds are the register's
