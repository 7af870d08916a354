"""What counts as an answer: a choice, a number or a text, each with one identity whatever its spelling.

    choice   the label or the whole text of exactly one choice; labels go before texts
    number   digits, with a point for decimals; thousands may be set off by commas, an exponent may follow
    text     one line

Compared after the same normalisation: Unicode NFKC, white space as single spaces, letter case ignored, and
emphasis, quotation marks, brackets around the whole and full stops at its end left out.
"""

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from coherence.incoherence.contract import SUM_TOLERANCE
from coherence.judges.frame import inert

LONGEST: Final = 500  # characters of an answer
MOST_DIGITS: Final = 100
_AROUND: Final = "*_`\"'\u201c\u201d\u2018\u2019()[]{}<>$ "
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d{1,4})?", re.ASCII)
_EXPONENT: Final = 300  # powers of ten beyond which a double is no longer safe


class AnswerError(ValueError):
    """A text is no answer; the message says why."""


def normalised(text: str) -> str:
    """Return the text in the form in which answers are compared."""
    plain = " ".join(unicodedata.normalize("NFKC", inert(text)).split())
    before = ""
    while plain != before:
        before, plain = plain, plain.strip(_AROUND).rstrip(".")
    return plain.casefold()


def choice_of(text: str, choices: Mapping[str, str]) -> str:
    """Return the label of the choice that a text names; AnswerError where that is none or not one."""
    said = normalised(text)
    named = [label for label in choices if normalised(label) == said]
    named = named or [label for label, choice in choices.items() if said and normalised(choice) == said]
    if len(named) == 1:
        return named[0]
    what = "the text of several choices" if named else "none of the choices"
    raise AnswerError(f"{text[:80]!r} is {what}")


def number_of(text: str) -> Decimal:
    """Return the number that a text is; AnswerError where it is none."""
    said = normalised(text).replace("\N{MINUS SIGN}", "-")
    digits = sum(character.isdigit() for character in said)
    if not _NUMBER.fullmatch(said) or not any(map(str.isdigit, said.split("e")[0])) or digits > MOST_DIGITS:
        raise AnswerError(f"{text[:80]!r} is no number")
    number = Decimal(said.replace(",", ""))
    if number and abs(number.adjusted()) > _EXPONENT:
        raise AnswerError(f"{text[:80]!r} is too large or too small a number")
    return number


def canonical(number: Decimal) -> str:
    """Return the one spelling of a number: 1.50 and 1.5 are the same answer."""
    sign, digits, exponent = number.as_tuple()
    shown = "".join(map(str, digits)).lstrip("0")
    kept = shown.rstrip("0")
    if not kept:
        return "0"
    assert isinstance(exponent, int)  # noqa: S101 - NaN and infinity are no numbers here
    exponent += len(shown) - len(kept)
    plain = Decimal((sign, tuple(map(int, kept)), exponent))
    return f"{plain:f}" if abs(plain.adjusted()) <= 20 else f"{plain:E}"


def text_of(text: str) -> str:
    """Return a text's identity; AnswerError where it is empty or too long to be an answer."""
    said = normalised(text)
    if not said or len(said) > LONGEST:
        raise AnswerError(f"an answer has 1 to {LONGEST} characters, not {len(said)}")
    return said


def probabilities_of(value: Any, choices: Mapping[str, str]) -> dict[str, float]:
    """Return a probability a label; AnswerError unless each choice has one and they sum to 1 or nearly."""
    if not isinstance(value, dict):
        raise AnswerError("the probabilities are no JSON object")
    labels = {normalised(label): label for label in choices}
    found = {labels.get(normalised(str(name)), ""): share for name, share in value.items()}
    if set(found) != set(choices) or len(value) != len(choices):
        raise AnswerError(f"the probabilities are not one for each of {', '.join(choices)}")
    if any(isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1 for p in found.values()):
        raise AnswerError("a probability is a number from 0 to 1")
    total = float(sum(found.values()))
    if not isfinite(total) or abs(total - 1) > SUM_TOLERANCE:
        raise AnswerError(f"the probabilities sum to {total:.4g}, not 1")
    return {label: found[label] / total for label in choices}
