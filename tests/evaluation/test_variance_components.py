from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from attempt_samples import answered, frame, tried

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.main_parts import by_dataset
from coherence.evaluation.render import latex, markdown
from coherence.evaluation.repeated import groups
from coherence.evaluation.variance_components import NOT_PARTED, NestedRow, Part, nested_rows
from coherence.evaluation.variance_components_table import PARTS, table
from coherence.files import encode, read_json, write_json
from coherence.incoherence.outcomes import conform
from coherence.incoherence.reading import read_outcomes
from coherence.incoherence.source import OutcomeSource
from coherence.stats.intervals import LEVEL

DATA = Path(__file__).parents[2] / "data" / "outcomes"
Rows = list[dict[str, Any]]


def rows_of(given: Rows, **settings: Any) -> list[NestedRow]:
    told = IncoherenceSettings(**settings)
    members = by_dataset(groups(frame(given), told.simulated)).values()
    return [row for some in members for row in nested_rows(some, told)]


def run(group: str, *tasks: str, **more: Any) -> Rows:
    """A group "scaffold setting" of backbone "b" with its passes by task."""
    return tried(*tasks, group=group, scaffold=group.split(maxsplit=1)[0], backbone="b", **more)


def value(part: Part | None) -> float | None:
    return None if part is None else part.value


def parts_of(row: NestedRow) -> dict[str, float]:
    return {name: part.value for name in PARTS if (part := getattr(row, name)) is not None}


def test_a_backbone_is_parted_over_its_scaffolds() -> None:
    (row,) = rows_of(run("s", "110", "11") + run("t", "00", "10"))
    assert (row.of, row.name, row.kind, row.main) == ("backbone", "b", "passed", True)
    assert (row.tasks, row.groups, row.scaffolds, row.fewest, row.most) == (2, 2, 2, 2, 2)
    assert (row.attempts, row.outcomes) == (9, 9)
    between, within = (4 / 6 / 2, 0.5 / 2), ((1 / 3 + 0) / 2, 0.5 / 2)
    error = (2 / 3, 0.25)
    assert row.error == pytest.approx(np.mean(error))
    assert parts_of(row) == pytest.approx(
        {
            "bias": np.mean(error) - np.mean(between),
            "scaffold": np.mean(between) - np.mean(within),
            "sampling": np.mean(within),
        }
    )
    assert row.note == "binary: functions of the groups' pass rates by task; too few tasks for an interval"
    assert [getattr(row, name).interval for name in ("bias", "scaffold", "sampling")] == [None] * 3


def test_shares_are_ratios_of_sums_and_add_up() -> None:
    (row,) = rows_of(
        run("s", "1100", "0001", "0111", "0110", "1000") + run("t", "0000", "1011", "0101", "1110", "0011")
    )
    shares = {name: part.share for name in PARTS if (part := getattr(row, name)) is not None}
    assert sum(shares.values()) == pytest.approx(1)
    assert row.scaffold is not None
    assert row.scaffold.share == pytest.approx(row.scaffold.value / (row.error or 0))
    assert row.scaffold.interval is not None
    assert row.scaffold.share_interval is not None
    assert row.scaffold.interval.method == "jackknife-t"


def test_groups_of_one_scaffold_are_its_settings() -> None:
    given = run("s low", "10", "11") + run("s high", "11", "00") + run("t", "10", "10")
    (row,) = rows_of(given)
    assert (row.groups, row.scaffolds) == (3, 2)
    # Task by task, in half squared distances: what the rates .5 and 1, then 1 and 0, of the settings add.
    setting = [((0.5 / 2) - (0.5 + 0) / 2) / 2 / 2, (0.5 - 0) / 2 / 2]
    assert value(row.setting) == pytest.approx(np.mean(setting))
    assert sum(parts_of(row).values()) == pytest.approx(row.error)


def test_rows_without_a_scaffold_are_of_that_of_their_group() -> None:
    given = run("s", "1100", "0001") + run("t", "0000", "1011")
    (whole,) = rows_of(given)
    (row,) = rows_of([told | {"scaffold": None} if told["attempt"] == "0" else told for told in given])
    assert row == whole


def test_a_group_of_several_scaffolds_is_not_parted_by_them() -> None:
    given = tried("1100", "0001", "0111")
    contexts = [told | {"context": "xy"[int(told["attempt"]) % 2]} for told in given]
    names = [told | {"scaffold": "st"[int(told["attempt"]) // 2]} for told in contexts]
    assert rows_of(names) == rows_of(contexts)


def test_tasks_and_groups_without_parts_are_counted() -> None:
    given = run("s", "11", "11", "1", "1") + run("t", "01", "", "0", "-")
    given += tried("11", group="lone", scaffold="s", backbone="other")
    given += tried("11", group="unknown", scaffold="s")
    row, others = rows_of(given)
    assert row.tasks == 1
    assert row.left_out == {
        "no outcome": 1,
        "fewer than two scaffolds (tasks)": 2,
        "no two attempts (tasks)": 1,
    }
    assert (others.name, others.error, others.groups) == (NOT_PARTED, None, 2)
    assert others.left_out == {
        "backbone or scaffold unknown (groups)": 1,
        "the only scaffold of their backbone (groups)": 1,
    }


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (tried("10", "11"), 0),
        (run("s", "10", "11"), 1),
        (run("s", "1") + run("t", "0"), 1),
        (run("s", "--") + run("t", "--"), 1),
    ],
    ids=["no names", "one scaffold", "one attempt", "nothing known"],
)
def test_runs_that_are_not_nested_have_no_parts(given: Rows, rows: int) -> None:
    found = rows_of(given)
    assert len(found) == rows
    assert all(row.error is None and row.tasks == 0 and row.left_out for row in found)


def test_all_correct_is_said() -> None:
    (row,) = rows_of(run("s", "11", "11") + run("t", "11", "11"))
    assert "never wrong" in row.note
    assert row.bias is not None
    assert (row.error, row.bias.value, row.bias.share, row.bias.share_interval) == (0, 0, None, None)


def test_numbers_that_are_not_finite_are_left_out() -> None:
    given = [
        {"group": s, "scaffold": s, "backbone": "b", "task": "t", "attempt": str(n), "number": x}
        | {"target_number": 0.0}
        for s, values in (("s", (1.0, 3.0, np.inf)), ("t", (2.0, 2.0, np.nan)))
        for n, x in enumerate(values)
    ]
    (row,) = rows_of(given)
    assert (row.kind, row.decomposition, row.attempts) == ("number", "squared_error", 4)
    assert row.error == pytest.approx((5 + 4) / 2)
    assert parts_of(row) == pytest.approx({"bias": 4.0, "scaffold": -0.5, "sampling": 1.0})


@pytest.mark.parametrize("kind", ["answer", "probabilities", "number", "tests"])
def test_every_kind_is_measured_by_its_own_distance(kind: str) -> None:
    letters = {"s": ("AB", "A"), "t": ("BC", "A")}
    given = [row for s, task in letters.items() for row in answered(task, group=s, scaffold=s, backbone="b")]
    as_kind: dict[str, dict[str, Any]] = {
        "answer": {},
        "probabilities": {"A": '{"A": 1.0}', "B": '{"B": 1.0}', "C": '{"C": 1.0}'},
        "number": {"A": 0.0, "B": 1.0, "C": 3.0},
        "tests": {"A": "111-", "B": "110-", "C": "000-"},
    }
    for told_row in given:
        told_row["target_number"] = 0.0
        if kind != "answer":
            told_row[kind] = as_kind[kind][told_row["answer"]]
    row = next(row for row in rows_of(given, kinds={"d": kind}) if row.kind == kind)
    told = as_kind[kind]
    distance: Callable[[str, str], float] = {  # half the squared distance of two outcomes
        "answer": lambda x, y: (x != y) / 2,
        "probabilities": lambda x, y: float(x != y),
        "number": lambda x, y: (told[x] - told[y]) ** 2 / 2,
        "tests": lambda x, y: sum(map(str.__ne__, told[x], told[y])) / 6,
    }[kind]
    between = np.mean([distance(x, y) for x in "AB" for y in "BC"])
    within = (distance("A", "B") + distance("B", "C")) / 2
    error = np.mean([[2 * distance(x, "A") for x in side] for side in ("AB", "BC")])
    assert row.error == pytest.approx(error)
    assert parts_of(row) == pytest.approx(
        {"bias": error - between, "scaffold": between - within, "sampling": within}
    )


def test_tasks_in_which_groups_have_other_tests_are_left_out() -> None:
    given = run("s", "11", "11") + run("t", "11", "11")
    for told in given:
        told["tests"] = "1-" if told["task"] == "t0" or told["group"] == "s" else "-1"
    found = {row.kind: row for row in rows_of(given)}
    assert found["tests"].left_out == {"groups with results of different tests (tasks)": 1}
    assert (found["tests"].tasks, found["passed"].tasks) == (1, 2)
    assert (found["tests"].main, found["passed"].main) == (True, False)
    nowhere = [told | {"tests": "1-" if told["group"] == "s" else "-1"} for told in given]
    (row, _) = rows_of(nowhere)
    assert (row.tasks, row.error) == (0, None)


def test_groups_without_the_kind_are_left_out_by_name() -> None:
    given = [row | {"tests": "11"} for row in run("s", "11") + run("t", "11")] + run("u", "10")
    row = next(row for row in rows_of(given) if row.kind == "tests")
    assert (row.groups, row.left_out) == (2, {"without any tests (groups)": 1})


def test_a_group_nested_by_contexts_and_verifications_has_a_row() -> None:
    given = [
        {"task": task, "context": c, "attempt": a, "verification": v, "passed": passed}
        for task in ("t", "u")
        for (c, a, v), passed in zip(
            [(c, a, v) for c in "xy" for a in "12" for v in "pq"],
            (True, True, True, False, False, False, False, False),
            strict=True,
        )
    ]
    (row,) = rows_of(given)
    assert (row.of, row.name, row.attempts, row.outcomes, row.most) == ("group", "g", 8, 16, 1)
    assert row.note == "too few tasks for an interval"
    verification = 0.5 / 4
    attempts, contexts = (0.25 + 0) / 2, 0.75 / 2
    assert parts_of(row) == pytest.approx(
        {
            "bias": 5 / 8 - contexts,
            "context": contexts - attempts,
            "sampling": attempts - verification,
            "verification": verification,
        }
    )


def test_verifications_count_in_a_backbone_as_they_are() -> None:
    given = [row | {"verification": name} for row in run("s", "10") + run("t", "00") for name in "xy"]
    rows = {row.of: row for row in rows_of(given)}
    assert (rows["backbone"].attempts, rows["backbone"].outcomes) == (4, 8)
    assert value(rows["backbone"].verification) == 0
    assert value(rows["backbone"].sampling) == pytest.approx((0.5 + 0) / 2)


def test_order_of_rows_changes_nothing() -> None:
    given = run("s low", "101", "11") + run("s high", "11", "00") + run("t", "10", "10")
    assert repr_of(rows_of(given)) == repr_of(rows_of(given[::-1]))


def repr_of(rows: list[NestedRow]) -> bytes:
    return encode([{name: round(part, 12) for name, part in parts_of(row).items()} for row in rows])


def test_the_table_names_methods_and_reads_back(tmp_path: Path) -> None:
    rows = rows_of(run("s", "11", "10") + run("t", "00", "10"), simulated={"d": "made up"})
    made = table(rows)
    for words in ("jackknife-t", "95 %", "ratio of sums", "no property of the model alone", "not harmless"):
        assert words in made.caption
    assert made.rows[0][0] == "d (simulated)"
    assert made.note == "d is simulated: made up."
    assert set(made.records[0]) == set(made.fields)
    assert len(made.rows[0]) == len(made.columns)
    assert all(render(made) for render in (markdown, latex))
    write_json(tmp_path / "x.json", rows)
    assert read_json(tmp_path / "x.json", list[NestedRow]) == rows


def test_wolfbench_is_what_plain_sums_give() -> None:
    """Opus 4.7, four scaffolds: by pass counts of each task, without any code of this project."""
    raw: Any = pd.read_csv(DATA / "wolfbench.csv.gz")
    own = raw[(raw["backbone"] == "claude-opus-4-7") & raw["reward"].notna()]
    by_task: Any = (
        own.assign(fail=own["reward"] < 1).groupby(["task", "scaffold"])["fail"].agg(["mean", "size"])
    )
    rate, n = (by_task[name].unstack() for name in ("mean", "size"))
    pairs = list(combinations(rate.columns, 2))
    bias = sum(rate[one] * rate[other] for one, other in pairs) / len(pairs)
    sampling = (rate * (1 - rate) * n / (n - 1)).mean(axis=1)
    error = rate.mean(axis=1)
    scaffold = error - bias - sampling
    source = OutcomeSource("w", groups=tuple(own["group"].unique()))
    (row,) = rows_of_frame(read_outcomes(DATA / "wolfbench.csv.gz", source).frame)
    assert (row.tasks, row.scaffolds, row.attempts) == (len(rate), 4, len(own)) == (89, 4, 1764)
    assert row.error == pytest.approx(error.mean())
    assert parts_of(row) == pytest.approx(
        {"bias": bias.mean(), "scaffold": scaffold.mean(), "sampling": sampling.mean()}
    )
    others = [(scaffold.drop(task).sum() / error.drop(task).sum()) for task in rate.index]
    half = 1.98729 * np.sqrt((np.var(others, ddof=0)) * (len(others) - 1))
    assert LEVEL == 0.95
    assert row.scaffold is not None
    assert row.scaffold.share_interval is not None
    middle = scaffold.sum() / error.sum()
    assert row.scaffold.share_interval.low == pytest.approx(middle - half, abs=1e-6)
    assert round(middle, 3) == 0.1


def rows_of_frame(outcomes: pd.DataFrame) -> list[NestedRow]:
    return list(nested_rows(list(groups(conform(outcomes))), IncoherenceSettings()))
