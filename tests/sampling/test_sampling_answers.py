"""What counts as an answer, and which spellings are the same one."""

import pytest

from coherence.sampling.answers import (
    AnswerError,
    canonical,
    choice_of,
    number_of,
    probabilities_of,
    text_of,
)

CHOICES = {"A": "Paris", "B": "42", "C": "the (old) town.", "D": "42"}


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("A", "A"),
        (" (b) ", "B"),
        ("**C**.", "C"),
        ("paris", "A"),
        ("The  (old)\ttown", "C"),
        ("\uff21", "A"),
        ('"D"', "D"),
    ],
)
def test_a_choice_is_its_label_or_its_text(said: str, label: str) -> None:
    assert choice_of(said, CHOICES) == label


@pytest.mark.parametrize("said", ["", "E", "A or B", "AB", "Pari", "42", "A: Paris", "\u0391", "[]"])
def test_what_is_not_exactly_one_choice_is_none(said: str) -> None:
    with pytest.raises(AnswerError):
        choice_of(said, CHOICES)


def test_labels_go_before_texts() -> None:
    assert choice_of("2", {"1": "2", "2": "1"}) == "2"


@pytest.mark.parametrize(
    ("said", "identity"),
    [
        ("7", "7"),
        ("+7.0", "7"),
        ("-0", "0"),
        ("0.000", "0"),
        ("007", "7"),
        ("1,234,567.50", "1234567.5"),
        ("\u221212", "-12"),
        ("1e3", "1000"),
        ("1.5E-2", "0.015"),
        ("$12.50$", "12.5"),
        ("**18**", "18"),
        (".5", "0.5"),
        ("5.", "5"),
        ("12345678901234567891", "12345678901234567891"),
        ("1e30", "1E+30"),
        ("1000000000000000000000000000000", "1E+30"),
    ],
)
def test_a_number_has_one_spelling(said: str, identity: str) -> None:
    assert canonical(number_of(said)) == identity


@pytest.mark.parametrize(
    "said",
    ["", "seven", "1,5", "12,34", "1 000", "3/4", "5 %", "18 per cent", "nan", "inf", "1e999", "e5", ".", "+",
     "0x10", "1_000", "--1", "\u0663", "9" * 101, "1e-999"],
)  # fmt: skip
def test_what_is_no_number_is_none(said: str) -> None:
    with pytest.raises(AnswerError):
        number_of(said)


def test_near_numbers_of_many_digits_are_different_answers() -> None:
    assert canonical(number_of("9007199254740993")) != canonical(number_of("9007199254740992"))


@pytest.mark.parametrize(("said", "identity"), [("  Desserts. ", "desserts"), ("`a  b`", "a b")])
def test_a_text_has_one_spelling(said: str, identity: str) -> None:
    assert text_of(said) == identity


@pytest.mark.parametrize("said", ["", " . ", "x" * 501])
def test_a_text_that_is_no_answer(said: str) -> None:
    with pytest.raises(AnswerError):
        text_of(said)


def test_control_characters_of_an_answer_are_pictures() -> None:
    assert text_of("a\x1b[31m\ud800") == "a\u241b[31m\ufffd"


def test_probabilities_are_divided_by_their_sum() -> None:
    shares = probabilities_of({"a": 0.5, "(B)": 0.5, "C": 0.01, "D": 0}, CHOICES)

    assert list(shares) == ["A", "B", "C", "D"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["A"] == pytest.approx(0.5 / 1.01)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [0.5, 0.5],
        {"A": 1},
        {"A": 0.5, "B": 0.5, "C": 0, "E": 0},
        {"A": 0.5, "a": 0.5, "B": 0, "C": 0, "D": 0},
        {"A": 0.9, "B": 0.2, "C": 0, "D": 0},
        {"A": 1.5, "B": -0.5, "C": 0, "D": 0},
        {"A": True, "B": 0, "C": 0, "D": 0},
        {"A": "1", "B": 0, "C": 0, "D": 0},
        {"A": float("nan"), "B": 0, "C": 0, "D": 0},
    ],
)
def test_probabilities_that_are_none(value: object) -> None:
    with pytest.raises(AnswerError):
        probabilities_of(value, CHOICES)
