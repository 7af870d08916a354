"""What each dataset is made of."""

import pytest

from coherence.evaluation.description import descriptions, distribution, table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row


def row(name: str, task: str, outcome: str, chars: float | None, excluded: str | None = None) -> Row:
    return Row(name, "set", task, name, outcome, "ok", features={"chars": chars}, excluded=excluded)  # type: ignore[arg-type]


ROWS = [
    row("a", "one", "failed", 0),
    row("b", "one", "passed", 10),
    row("c", "two", "unknown", 30),
    row("d", "two", "failed", None),
    row("e", "two", "failed", 99, "superseded by a retry"),
]


def test_counts_leave_nothing_out() -> None:
    (one,) = descriptions(ROWS, EvaluationSettings())
    assert (one.trajectories, one.excluded, one.unknown) == (4, 1, 1)
    assert (one.failed.count, one.failed.n, one.tasks, one.most_attempts) == (2, 3, 2, 2)
    assert one.values is not None
    assert (one.values.n, one.values.missing, one.values.zeros, one.values.median) == (3, 1, 1, 10)
    assert table([one]).rows[0][-1] == "1 excluded, 1 unknown outcome, 1 without value"


@pytest.mark.parametrize(
    ("values", "quartiles"),
    [([5.0], (5, 5, 5)), ([1.0, 2.0, 3.0, 4.0, 5.0], (2, 3, 4)), ([1.0, 2.0], (1.25, 1.5, 1.75))],
    ids=["one", "five", "two"],
)
def test_quartiles(values: list[float], quartiles: tuple[float, float, float]) -> None:
    found = distribution(values)
    assert found is not None
    assert found.quartiles == quartiles


def test_unknown_values_are_no_distribution() -> None:
    assert distribution([None, None]) is None


def test_a_dataset_without_features_has_a_row() -> None:
    (one,) = descriptions([Row("a", "set", "t", "1", "failed", "ok")], EvaluationSettings())
    assert (one.feature, one.values) == ("-", None)
