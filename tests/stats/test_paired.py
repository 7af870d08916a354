import pytest

from coherence.stats.paired import BONETT_PRICE, bonett_price, exchange, mcnemar


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


def test_the_difference_of_paired_shares() -> None:
    found = bonett_price(1, 7, 21)  # Fagerland, Lydersen and Laake 2014: -0.508 to -0.013
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-50.8, -1.3), abs=0.05)
    assert (found.method, found.n) == (BONETT_PRICE, 21)


def test_the_difference_is_the_mirror_of_itself_and_stays_within_its_bounds() -> None:
    one, two, extreme = bonett_price(3, 1, 30), bonett_price(1, 3, 30), bonett_price(2, 0, 2)
    assert one and two and extreme
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    assert extreme.high == 100


def test_no_pairs_have_no_difference() -> None:
    assert bonett_price(0, 0, 0) is None
