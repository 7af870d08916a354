"""The audit's figures against those of the reference (paper_targets; statistics 1.1 to 1.6)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from coherence.errors import InputError
from coherence.evaluation.audit import (
    CHECKS,
    agrees,
    audit_tables,
    findings,
    introduction,
    what_this_does_not_show,
)
from coherence.evaluation.audit_findings import VERDICTS, Finding
from coherence.evaluation.audit_intervals import printed_intervals
from coherence.evaluation.audit_strata import joint_table
from coherence.evaluation.published import Published, read_published
from coherence.evaluation.render import Table, latex, markdown

PATH = Path(__file__).parents[2] / "data" / "published" / "counts.toml"


@pytest.fixture(scope="module")
def published() -> Published:
    return read_published(PATH)


@pytest.fixture(scope="module")
def points(published: Published) -> dict[str, Finding]:
    return {point.id: point for point in findings(published)}


@pytest.fixture(scope="module")
def tables(published: Published) -> dict[str, Table]:
    return {table.name: table for table in audit_tables(published)}


def test_every_point_is_there_once_in_order(points: dict[str, Finding]) -> None:
    assert list(points) == [f"I{number}" for number in range(1, 19)]
    assert len(CHECKS) == 18
    assert {point.verdict for point in points.values()} == set(VERDICTS)


FIGURES = [
    ("I1", {"rows": 3, "exceptions": 0, "detector_gap": 47.32}),
    ("I2", {"crude": 47.32, "largest": 40, "flagged_above_low": 15, "failed_rest": 24, "n_rest": 30}),
    ("I3", {"flagged_first": 1, "flagged_second": 1}),
    ("I4", {"gap": 25.0, "p": 0.26, "gained": 4.8, "short": 27.2, "share": 18}),
    (
        "I5",
        {
            "gap_low": 30.9,
            "gap_high": 31.7,
            "exact_low": 0.070,
            "exact_high": 0.079,
            "cmh_low": 0.033,
            "cmh_high": 0.044,
            "standardised_flagged": 35.6,
            "standardised_all": 17.5,
            "second_gap": 17.2,
            "second_exact": 0.44,
        },
    ),
    ("I6", {"exchange_p": 1.0, "mcnemar_p": 0.774, "mid_p": 0.581, "trajectories": 1}),
    (
        "I7",
        {
            "coverage_observed": 64,
            "coverage_90": 80,
            "coverage_80": 85,
            "exact_low": 69.8,
            "exact_high": 99.8,
            "intersection_low": 69.15,
        },
    ),
    ("I8", {"off": 6, "most_steps": 1, "chance_1": 0.23, "chance_2": 0.16}),
    ("I9", {"most_first": 21, "half_first": 22, "most_second": 21, "fitting": 0}),
    ("I10", {"fitting": 2, "solutions_first": 4}),
    ("I11", {"section": 5, "appendix": 6}),
    ("I12", {"example": 5, "listed": 4}),
    ("I13", {"flagged_first": 38, "flagged_second": 32}),
    ("I14", {"gap": 30.4, "p": 0.28, "low": -14, "high": 64}),
    ("I15", {"detector_gap": 23.9, "detector_p": 0.130, "lexical_gap": 37.5, "lexical_p": 0.042}),
    ("I16", {"detector_holm": 0.029, "lexical_holm": 0.006, "kept": 2, "lexical_p": 0.0005}),
    ("I17", {"gap": 51.4, "p": 0.0019}),
    (
        "I18",
        {
            "power_first": 0.88,
            "power_seen": 0.19,
            "apart": 27.2,
            "apart_low": -9.6,
            "apart_high": 64.1,
            "zelen_p": 0.24,
            "pooled_p": 0.002,
        },
    ),
]


def half_a_digit(value: float) -> float:
    """How far a figure printed like this may be from the exact one."""
    return 0.51 * 10.0 ** -len(f"{value:g}".partition(".")[2])


@pytest.mark.parametrize(("name", "expected"), FIGURES, ids=[name for name, _ in FIGURES])
def test_figures(points: dict[str, Finding], name: str, expected: dict[str, float]) -> None:
    for figure, value in expected.items():
        assert points[name].figures[figure] == pytest.approx(value, abs=half_a_digit(value)), figure


def test_the_number_needed(points: dict[str, Finding]) -> None:
    assert 230 <= points["I18"].figures["required"] <= 235


def test_the_joint_table_of_both_methods(published: Published) -> None:
    assert joint_table(published) == ((14, 14), (1, 2), (5, 7), (8, 21))


def test_every_printed_interval_is_within_a_step_of_its_counts(published: Published) -> None:
    found = printed_intervals(published)
    assert len(found) == 24
    assert max(interval.steps for interval in found) == 1
    assert [interval.name for interval in found if interval.steps] == [
        "Qwen, trajectory length",
        "Qwen, think calls",
        "Qwen, tool errors",
        "Gemma, lexical",
        "Gemma, tool errors",
        "Gemma, trajectory length",
    ]


@pytest.mark.parametrize(
    ("row", "printed"), [(0, 0.0026347233), (1, 0.0005107544), (6, 0.3064586663), (11, 0.5276947557)], ids=str
)
def test_tests_of_the_printed_rows(tables: dict[str, Table], row: int, printed: float) -> None:
    assert tables["audit_tests"].records[row]["fisher_p"] == pytest.approx(printed, abs=1e-9)


def test_bits_of_the_printed_rows(tables: dict[str, Table]) -> None:
    bits = [tables["audit_tests"].records[row]["bits_per_flag"] for row in range(3)]
    assert bits == pytest.approx([0.520, 0.470, 0.050], abs=5.1e-4)


def test_other_counts_give_another_audit(published: Published) -> None:
    changed = [
        replace(row, risky=(14, 16)) if row.name == "Qwen, strained coherence" else row
        for row in published.comparisons
    ]
    other = replace(published, comparisons=tuple(changed))
    assert "11 of 12 gaps, 2 of 3 p values" in introduction(other)[1]
    assert CHECKS[0](other).figures["exceptions"] == 1


def test_the_introduction_counts_what_matches(published: Published) -> None:
    told = introduction(published)[1]
    assert "12 of 12 gaps, 3 of 3 p values (Fisher, two-sided), and 24 of 24 bootstrap intervals" in told


def test_what_it_does_not_show_is_said(published: Published) -> None:
    told = " ".join(what_this_does_not_show(published))
    assert "misses 13 of the 28 failures" in told
    assert "no clearance to deploy" in told
    assert "quotes 3 tasks" in told


@pytest.mark.parametrize(
    ("p", "printed", "same"), [(0.00263, 0.003, True), (0.00151, 0.003, False), (0.306, 0.31, True)], ids=str
)
def test_a_p_agrees_to_the_printed_digits(p: float, printed: float, same: bool) -> None:
    assert agrees(p, printed) is same


def test_the_tables_can_be_written(tables: dict[str, Table]) -> None:
    assert list(tables) == ["audit", "audit_figures", "audit_tests", "audit_intervals"]
    for table in tables.values():
        assert len(table.rows) == len(table.records) > 0
        assert markdown(table)
        assert latex(table)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "counts.toml"
    path.write_text('paper = "x"\nresamples = "many"\n')
    with pytest.raises(InputError, match=r"counts\.toml: cannot be read as published counts"):
        read_published(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_published(tmp_path / "absent.toml")


def test_gaps_that_no_counts_give_are_named(published: Published) -> None:
    first = replace(published.tertiles[0], gaps=(-31, 40, 99))
    other = replace(published, tertiles=(first, published.tertiles[1]))
    with pytest.raises(InputError, match=r"tertiles of qwen: no whole numbers give the gaps \(-31, 40, 99\)"):
        findings(other)
