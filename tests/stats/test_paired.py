import pytest

from coherence.stats.paired import exchange, mcnemar


def test_mcnemar_of_the_papers_two_detectors() -> None:
    found = mcnemar(7, 5)
    assert (found.exact_p, found.mid_p) == pytest.approx((0.774, 0.581), abs=5e-4)


def test_mid_p_where_both_are_right_equally_often() -> None:
    found = mcnemar(3, 3)  # Fagerland 2013: 1 - P/2, and P = 20/64
    assert (found.exact_p, found.mid_p) == pytest.approx((1.0, 1 - 20 / 128))


def test_detectors_that_never_differ() -> None:
    assert (mcnemar(0, 0).exact_p, mcnemar(0, 0).mid_p) == (1.0, 1.0)


def test_the_papers_94_against_88_percent() -> None:
    assert exchange((5, 6), (4, 6)) == pytest.approx(1.0, abs=1e-12)  # [R 4.2.2]


def test_equal_sets_cannot_be_exchanged() -> None:
    assert exchange((0, 0), (0, 0)) is None
