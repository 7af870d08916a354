"""Golden values: closed form (1/2 added to each cell of a 2x2 table) and an own profile likelihood."""

import math

import pytest

from coherence.stats.firth import firth

# detector x lexical of the paper's first dataset: flag, more than two markers, failed, passed.
JOINT = [(1, 1, 14, 0), (1, 0, 1, 1), (0, 1, 5, 2), (0, 0, 8, 13)]


def cells(*rows: tuple[int, int, int]) -> tuple[dict[str, list[float]], list[bool]]:
    flags = [float(flag) for flag, failed, passed in rows for _ in range(failed + passed)]
    outcomes = [bad for _, failed, passed in rows for bad in [True] * failed + [False] * passed]
    return {"flag": flags}, outcomes


def test_two_by_two_golden() -> None:
    found = firth(*cells((1, 15, 1), (0, 13, 15)))
    flag = found.of("flag")
    assert flag is not None
    assert flag.interval is not None
    assert (flag.value, found.intercept) == pytest.approx((2.473525254, -0.138150338), abs=1e-6)
    assert flag.p == pytest.approx(0.00126612, abs=1e-6)
    assert (flag.interval.low, flag.interval.high) == pytest.approx((0.88129374, 4.77238247), abs=1e-6)
    assert not flag.separates
    assert found.underpowered is None


def test_separated_golden() -> None:
    found = firth(*cells((1, 10, 0), (0, 3, 2)))
    flag = found.of("flag")
    assert flag is not None
    assert flag.value == pytest.approx(math.log(10.5 * 2.5 / (0.5 * 3.5)), abs=1e-8)
    assert flag.separates


def test_detector_and_lexical_together() -> None:
    rows = [(flag, many, bad) for flag, many, f, p in JOINT for bad in [True] * f + [False] * p]
    found = firth(
        {"detector": [row[0] for row in rows], "lexical": [row[1] for row in rows]}, [row[2] for row in rows]
    )
    detector, lexical = found.of("detector"), found.of("lexical")
    assert detector is not None
    assert lexical is not None
    assert (detector.value, lexical.value) == pytest.approx((1.54, 1.74), abs=0.006)
    assert (detector.p, lexical.p) == pytest.approx((0.113, 0.033), abs=6e-4)
    assert found.underpowered == "underpowered: 16 events for 2 covariates"


def test_covariates_that_say_nothing_new_are_dropped_and_named() -> None:
    covariates, failed = cells((1, 5, 3), (0, 3, 5))
    flag = covariates["flag"]
    found = firth({**covariates, "constant": [1.0] * 16, "again": [2 * x + 1 for x in flag]}, failed)
    assert found.dropped == ("constant", "again")
    assert [row.name for row in found.coefficients] == ["flag"]


@pytest.mark.parametrize(
    ("values", "failed", "reason"),
    [
        ([0, 1, 1], [True] * 3, "all trajectories have one outcome"),
        ([1, 1, 1], [True, False, True], "no covariate varies"),
        ([0, 1], [True, False], "2 trajectories for 1 covariates"),
        ([], [], "all trajectories have one outcome"),
    ],
    ids=["one outcome", "constant", "too few", "none"],
)
def test_no_model_has_a_reason(values: list[float], failed: list[bool], reason: str) -> None:
    found = firth({"flag": values}, failed)
    assert (found.reason, found.coefficients) == (reason, ())


def test_a_fit_that_stalls_at_the_finest_precision_still_has_a_p() -> None:
    # The flag of the paper's first dataset beside a nearly separating score: its constrained fit stalls.
    failed = [True] * 28 + [False] * 16
    flag = [1.0] * 15 + [0.0] * 13 + [1.0] + [0.0] * 15
    score = [float(place % 7) + (6 if place < 20 else 0) for place in range(44)]
    found = firth({"flag": flag, "score": score, "cube": [value**3 / 100 for value in score]}, failed)
    assert all(row.p is not None and row.interval is not None for row in found.coefficients)


def test_a_design_that_the_library_refuses_or_cannot_fit_has_a_reason() -> None:
    # Which of the two it is hangs on the processor's arithmetic.
    huge = {
        "a": [2, 0, 0, 1e6, 2, 1e6, 5],
        "b": [1, -3.5, 5, 2, 1, 5, -3.5],
        "c": [0, 1e6, 5, -3.5, 5, 0, 2],
        "d": [5, 2, 0, 1, -3.5, 2, 1e6],
    }
    found = firth({"flag": [0, 0, 0, 1, 0, 1, 0], **huge}, [True, False, False, False, True, True, True])
    assert found.reason == "too few trajectories to fit the covariates"
