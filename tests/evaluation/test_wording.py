import pytest

from coherence.evaluation import wording
from coherence.stats.intervals import Bootstrap
from coherence.stats.proportions import bootstrap, proportion
from coherence.stats.tables import Comparison, Counts, compare


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, "-"),
        (0.0026, "0.003"),
        (0.0004, "< 0.001"),
        (1.0, "1.000"),
        (0.0005, "< 0.001"),
        (0.001, "0.001"),
    ],
    ids=str,
)
def test_p_values(p: float | None, text: str) -> None:
    assert wording.p_value(p) == text


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, "3"), (2.25, "2.3"), (-0.04, "0"), (38.5, "38.5")], ids=str
)
def test_numbers(value: float, text: str) -> None:
    assert wording.number(value) == text


def test_a_share_with_its_interval() -> None:
    assert wording.proportion(proportion(15, 16)) == "15/16 (94 %; 72 to 99)"


def test_a_share_without_width_shows_the_exact_interval() -> None:
    share = proportion(10, 10, lambda k, n: bootstrap(k, n, Bootstrap()))
    assert wording.proportion(share) == "10/10 (100 %; 100 to 100, exact 69 to 100)"


def test_a_share_of_nothing_has_no_rate() -> None:
    assert wording.proportion(proportion(0, 0)) == "0/0"


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        (compare(Counts(15, 16, 13, 28)), "+47 (19 to 65)"),
        (compare(Counts(12, 21, 14, 22)), "-6 (-33 to 21)"),
        (compare(Counts(1, 2, 2, 4)), "0 (-54 to 54)"),
        (compare(Counts(0, 0, 1, 2)), "not applicable: no trajectory is risky"),
        (None, "-"),
    ],
    ids=["up", "down", "none", "empty side", "unknown"],
)
def test_gaps(comparison: Comparison | None, text: str) -> None:
    assert wording.gap(comparison) == text


def test_left_out_names_only_what_there_is() -> None:
    assert (
        wording.left_out(unknown_outcome=2, unjudged=0, excluded=1200) == "2 unknown outcome, 1,200 excluded"
    )
    assert wording.left_out(unjudged=0) == "-"


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (0.125, "0.125"),
        (0.1, "0.1"),
        (0.0, "0"),
        (9.8765, "9.877"),
        (87.0, "87"),
        (12345.6, "12,346"),
        (-3.5, "-3.5"),
    ],
    ids=str,
)
def test_measured_values(measured: float, text: str) -> None:
    assert wording.value(measured) == text
