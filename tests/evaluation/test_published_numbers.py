"""The paper's printed numbers beside ours: the list against the reference, and every value computed."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.evaluation.numbers import Number, Value, read_numbers
from coherence.evaluation.published import Published, counts, read_published
from coherence.evaluation.recomputed import from_counts, from_tables

FOLDER = Path(__file__).parents[2] / "data" / "published"
REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "paper_targets.json"


@pytest.fixture(scope="module")
def numbers() -> dict[str, Number]:
    return {number.id: number for number in read_numbers(FOLDER / "numbers.csv")}


@pytest.fixture(scope="module")
def published() -> Published:
    return read_published(FOLDER / "counts.toml")


@pytest.fixture(scope="module")
def found(published: Published) -> dict[str, Value]:
    return from_counts(published)


def test_the_list_is_the_references_and_what_is_printed_twice(numbers: dict[str, Number]) -> None:
    if not REFERENCE.is_file():
        pytest.skip("the reference is not there")
    targets = {target["id"]: target for target in json.loads(REFERENCE.read_text())["targets"]}
    assert len(targets) == 154
    assert set(numbers) - set(targets) == {"text.conflict_types", "text.db-wal-recovery.confidence"}
    single = {
        name: target["published"]
        for name, target in targets.items()
        if isinstance(target["published"], int | float)
    }
    assert {name: numbers[name].published for name in single} == {
        name: (value,) for name, value in single.items()
    }
    lists = {
        name: tuple(target["published"])
        for name, target in targets.items()
        if isinstance(target["published"], list)
    }
    assert {name: numbers[name].published for name in lists} == lists


def test_ours_are_the_references_unrounded_values(found: dict[str, Value]) -> None:
    if not REFERENCE.is_file():
        pytest.skip("the reference is not there")
    for target in json.loads(REFERENCE.read_text())["targets"]:
        recomputed = target["recomputed"]
        if target["id"] in found and isinstance(recomputed, int | float) and target["unit"] != "list":
            assert found[target["id"]].numbers == pytest.approx((recomputed,)), target["id"]


def test_every_number_the_counts_give_matches(numbers: dict[str, Number], found: dict[str, Value]) -> None:
    assert set(found) <= set(numbers)
    printed = [name for name in found if numbers[name].published]
    assert len(printed) == 126
    assert [name for name in printed if not numbers[name].fits(found[name])] == []
    assert found["qwen.overlap.neither"].numbers == (22, 9)


def test_what_the_counts_do_not_give_needs_something_else(
    numbers: dict[str, Number], found: dict[str, Value]
) -> None:
    rest = {
        name for name, number in numbers.items() if name not in found and not number.needs and not number.also
    }
    inputs = {"qwen.initial_completed", "qwen.crashed", "qwen.with_think"}
    assert rest - inputs == {"config.bootstrap_B", "config.truncate_chars", "config.confidence_scale"}


@pytest.mark.parametrize(
    ("dataset", "feature"), [("qwen", "strained_coherence"), ("gemma", "tool_errors")], ids=["qwen", "gemma"]
)
def test_other_counts_do_not_match(
    numbers: dict[str, Number], published: Published, dataset: str, feature: str
) -> None:
    tables = {(row.dataset, row.feature): row.counts for row in published.comparisons}
    table = tables[dataset, feature]
    wrong = from_tables({**tables, (dataset, feature): replace(table, risky_fail=table.risky_fail - 1)})
    key = f"{dataset}.{feature}"
    assert not numbers[f"{key}.risky.fail_pct"].fits(wrong[f"{key}.risky.fail_pct"])
    assert not numbers[f"{key}.gap"].fits(wrong[f"{key}.gap"])


def test_a_group_that_does_not_add_up_shows(numbers: dict[str, Number], published: Published) -> None:
    tables = {(row.dataset, row.feature): row.counts for row in published.comparisons}
    wrong = from_tables({**tables, ("qwen", "lexical"): counts((19, 21), (9, 22))})
    assert not numbers["qwen.lexical.risky.N"].fits(wrong["qwen.lexical.risky.N"])


@pytest.mark.parametrize(
    ("kind", "tolerance", "printed", "ours", "fits"),
    [
        ("exact", 0, (4.5,), Value((4.5,)), True),
        ("exact", 0, (4.5,), Value((4.0,)), False),
        ("exact", 0, (1.0, 2.0), Value((1.0,)), False),
        ("rounded", 0, (88.0,), Value((87.5,)), True),
        ("rounded", 3, (0.003,), Value((0.0024,)), False),
        ("interval", 1, (30.0, 70.0), Value((30.43, 73.91), 23), True),
        ("interval", 1, (30.0, 65.0), Value((30.43, 73.91), 23), False),
    ],
)
def test_tolerances(kind: str, tolerance: int, printed: tuple[float, ...], ours: Value, fits: bool) -> None:
    assert Number("x", "1", printed, "%", kind, tolerance).fits(ours) == fits  # type: ignore[arg-type]


def test_a_broken_list_is_named(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("id,place,published,unit,kind,tolerance,needs,also\nx,1,many,%,exact,,,\n")
    with pytest.raises(InputError, match=r"numbers.csv: cannot be read as published numbers"):
        read_numbers(path)
