"""All whole-number tertiles behind the paper's printed gaps, as the reference lists them (statistics 1.5)."""

import pytest

from coherence.stats.solutions import solutions
from coherence.stats.tables import Counts

QWEN, GEMMA = Counts(15, 16, 13, 28), Counts(9, 12, 17, 31)
LOW = Counts(0, 1, 4, 13)


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        (
            (14, 15, 15),
            {
                (LOW, Counts(5, 5, 6, 10), Counts(10, 10, 3, 5)),
                (LOW, Counts(10, 10, 3, 5), Counts(5, 5, 6, 10)),
            },
        ),
        (
            (14, 14, 16),
            {
                (LOW, Counts(4, 4, 6, 10), Counts(11, 11, 3, 5)),
                (LOW, Counts(9, 9, 3, 5), Counts(6, 6, 6, 10)),
            },
        ),
        ((15, 15, 14), set()),  # array_split
        ((15, 14, 15), set()),  # qcut
    ],
    ids=["n//3, 2n//3", "n//3, 2(n//3)", "array_split", "qcut"],
)
def test_first_dataset(sizes: tuple[int, int, int], found: set[tuple[Counts, ...]]) -> None:
    assert set(solutions(QWEN, sizes, (-31, 40, 40))) == found


def test_second_dataset_is_unique() -> None:
    assert solutions(GEMMA, (14, 14, 15), (38, -12, 30)) == (
        (Counts(1, 1, 8, 13), Counts(1, 3, 5, 11), Counts(7, 8, 4, 7)),
    )


def test_solutions_add_up_and_round_to_the_gaps() -> None:
    total = Counts(6, 9, 4, 11)
    for strata in solutions(total, (10, 10), (25, 38)):
        assert sum(s.risky_fail for s in strata) == 6
        assert sum(s.n for s in strata) == 20
    assert solutions(total, (10, 10), (99, 99)) == ()
