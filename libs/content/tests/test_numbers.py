"""python-stdnum is the oracle: what it takes, we take; what we take beyond it is said here."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn
from stdnum.no import fodselsnummer, kontonr

from content import numbers

ELEVEN = st.text("0123456789", min_size=11, max_size=11)


def with_check_digits(nine: str) -> str:
    first = str(fodselsnummer.calc_check_digit1(nine))
    return nine + first + str(fodselsnummer.calc_check_digit2(nine + first)) if len(first) == 1 else nine + "00"


def born(day: int, month: int, year: int, individual: int) -> str:
    return with_check_digits(f"{day:02}{month:02}{year:02}{individual:03}")


@given(st.text("0123456789", min_size=2, max_size=19))
def test_luhn_agrees(digits: str) -> None:
    assert numbers.luhn(digits) == luhn.is_valid(digits)


@given(ELEVEN)
def test_account_numbers_agree(digits: str) -> None:
    if not digits.startswith("0000"):  # stdnum also takes the seven digits of an internal postal account
        assert numbers.is_kontonummer(digits) == kontonr.is_valid(digits)


@given(
    st.builds(born, st.integers(0, 79), st.integers(0, 60), st.integers(0, 99), st.integers(0, 999)),
)
def test_birth_numbers_agree(digits: str) -> None:
    if fodselsnummer.is_valid(digits):
        assert numbers.is_fodselsnummer(digits)
    elif numbers.is_fodselsnummer(digits):
        with pytest.raises(fodselsnummer.InvalidComponent, match="not been born"):
            fodselsnummer.validate(digits)


@given(ELEVEN)
def test_wrong_check_digits_are_no_birth_number(digits: str) -> None:
    if not fodselsnummer.is_valid(digits) and int(digits[2:4]) <= 80:
        assert not numbers.is_fodselsnummer(digits) or digits == with_check_digits(digits[:9])


def test_the_authorities_synthetic_persons_are_birth_numbers_too() -> None:
    assert any(numbers.is_fodselsnummer(born(1, 81, 90, individual)) for individual in range(20))


def test_every_birth_number_is_an_account_number_so_it_is_tried_first() -> None:
    some = [born(day, 5, 70, individual) for day in range(1, 29) for individual in range(100, 110)]
    valid = [digits for digits in some if numbers.is_fodselsnummer(digits)]
    assert valid
    assert all(numbers.is_kontonummer(digits) for digits in valid)


@pytest.mark.parametrize("country", sorted(numbers.IBAN_LENGTHS))
def test_iban_lengths_agree(country: str) -> None:
    length = numbers.IBAN_LENGTHS[country]
    digits = "".join(random.Random(country).choices("0123456789", k=length - 4))
    check = iban.calc_check_digits(f"{country}00{digits}")
    assert numbers.is_iban(f"{country}{check}{digits}")
    assert not numbers.is_iban(f"{country}{(int(check) + 1) % 97:02}{digits}")
    assert not numbers.is_iban(f"{country}{check}{digits}0")
    structure = iban._ibandb.info(country)[0][1].get("bban", "")
    assert length == 4 + sum(int(part) for part in re.findall(r"(\d+)!", structure))


@pytest.mark.parametrize(
    ("digits", "known"),
    [
        ("4111111111111111", True),
        ("4222222222222", True),
        ("5555555555554444", True),
        ("2223003122003222", True),
        ("378282246310005", True),
        ("30569309025904", True),
        ("6011111111111117", True),
        ("3530111333300000", True),
        ("6759649826438453", True),
        ("4111111111111112", False),  # check digit
        ("1234567812345670", False),  # no issuer
        ("411111111111111", False),  # length
        ("490154203237518", False),  # the serial of a telephone
    ],
)
def test_cards_need_an_issuer_a_length_and_luhn(digits: str, known: bool) -> None:
    assert numbers.is_card(digits) is known
