"""The same reading in two datasets; figures of the paper recomputed by exact enumeration."""

import pytest
from msgspec.structs import replace

from coherence.evaluation.across import Across, across, table
from coherence.evaluation.groups import splits
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict

QWEN, GEMMA = (15, 16, 13, 28), (9, 12, 17, 31)  # Tables 1 and 2, strained coherence


def rows(dataset: str, counts: tuple[int, int, int, int], prefix: str = "", attempts: int = 1) -> list[Row]:
    sides = ((Verdict("flagged", spans=1), *counts[:2]), (Verdict("unflagged"), *counts[2:]))
    return [
        Row(
            f"{prefix or dataset}-{word.state}-{number}",
            dataset,
            f"{word.state}{number // attempts}",
            "1",
            "failed" if number < failed else "passed",
            "ok",
            backbone=prefix or dataset,
            verdicts={"detector": word},
        )
        for word, failed, n in sides
        for number in range(n)
    ]


def found(*of: list[Row], simulated: dict[str, str] | None = None) -> list[Across]:
    settings = EvaluationSettings(simulated=simulated or {})
    return list(across(tuple(splits([row for part in of for row in part], settings)), settings))


def test_the_paper_s_two_datasets() -> None:
    (one,) = found(rows("qwen", QWEN), rows("gemma", GEMMA))
    assert one.difference == pytest.approx(27.2, abs=0.05)
    assert one.interval is not None
    assert (one.interval.low, one.interval.high) == pytest.approx((-9.6, 64.1), abs=0.1)
    assert one.zelen_p == pytest.approx(0.236, abs=0.0005)
    assert one.breslow_day is not None
    assert one.breslow_day.breslow_day == pytest.approx(0.127, abs=0.0005)
    assert one.pooled is not None
    assert one.pooled.gap == pytest.approx(100 * (212 / 44 + 75 / 43) / (448 / 44 + 372 / 43), rel=1e-9)
    assert one.exact is not None
    assert one.exact.two_sided == pytest.approx(0.002, abs=0.0005)
    made = table([one])
    assert made.datasets == ("qwen", "gemma")
    assert "44 and 43" in made.rows[0]


def test_a_part_is_not_set_against_its_whole() -> None:
    assert found(rows("all", QWEN, "same"), rows("half", (3, 4, 2, 5), "same")) == []


def test_real_runs_are_not_set_against_simulated_ones() -> None:
    assert found(rows("qwen", QWEN), rows("gemma", GEMMA), simulated={"qwen": "planted"}) == []


def test_an_empty_group_has_no_difference() -> None:
    (one,) = found(rows("qwen", QWEN), rows("none", (0, 0, 3, 9)))
    assert (one.difference, one.interval) == (None, None)
    assert "not applicable" in table([one]).rows[0][6]


def test_repeated_tasks_are_not_pooled() -> None:
    (one,) = found(rows("qwen", QWEN), rows("airline", GEMMA, attempts=4))
    assert [gap.counts.n for gap in one.gaps] == [44, 43]
    assert one.difference == pytest.approx(27.2, abs=0.05)
    assert (one.interval, one.pooled, one.exact, one.zelen_p, one.breslow_day) == (None,) * 5
    assert one.one.interval is not None
    assert one.two.interval is None
    assert one.note == "nothing pooled: attempts at one task are no independent draws (airline)"
    assert table([one]).rows[0][-1] == one.note


def test_a_sample_by_weight_is_said_to_be_one() -> None:
    weighed = [replace(row, weight=2.0) for row in rows("gemma", GEMMA)]
    (one,) = found(rows("qwen", QWEN), weighed)
    assert one.note.startswith("gemma was sampled with weights, the other was not")
    (both,) = found([replace(row, weight=1.0) for row in rows("qwen", QWEN)], weighed)
    assert both.note == ""
