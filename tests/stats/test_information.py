"""Figures of the reference, statistics 1.6."""

import pytest

from coherence.stats.information import information
from coherence.stats.tables import Counts


@pytest.mark.parametrize(
    ("counts", "figures"),
    [
        (Counts(15, 16, 13, 28), (0.536, 0.938, 0.737, 0.473, 0.189, 0.520)),
        (Counts(19, 21, 9, 23), (0.679, 0.875, 0.777, 0.533, 0.224, 0.470)),
    ],
    ids=["detector", "lexical"],
)
def test_paper(counts: Counts, figures: tuple[float, ...]) -> None:
    found = information(counts)
    assert found is not None
    assert (
        found.sensitivity,
        found.specificity,
        found.balanced_accuracy,
        found.phi,
        found.bits,
        found.bits_per_flag,
    ) == pytest.approx(figures, abs=5.1e-4)


def test_generic_coherence_tells_little_a_flag() -> None:
    found = information(Counts(26, 38, 2, 6))
    assert found is not None
    assert found.bits_per_flag == pytest.approx(0.050, abs=5e-4)


def test_a_perfect_flag_tells_the_whole_outcome() -> None:
    found = information(Counts(4, 4, 0, 4))
    assert found is not None
    assert (found.bits, found.bits_per_flag, found.phi) == (1.0, 2.0, 1.0)


@pytest.mark.parametrize("counts", [Counts(0, 0, 1, 2), Counts(2, 2, 3, 3), Counts(0, 2, 0, 3)], ids=str)
def test_nothing_to_tell(counts: Counts) -> None:
    assert information(counts) is None
